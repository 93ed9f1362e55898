#!/bin/sh
# dist.sh [binary [folder]]: lays the binary out as Apache Kafka's download is, bin/*.sh, config/*.properties, and
# beside them Apache ZooKeeper's, bin/zk*.sh, conf/zoo_sample.cfg.
# The scripts are generated from the binary's own list of tools, so that they never name one that is missing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
binary=${1-$root/bin/kalda}
version=$("$binary" version --short)
to=${2-$root/dist/kalda-$version}

rm -rf "$to"
mkdir -p "$to/bin" "$to/config" "$to/conf"
cp "$binary" "$to/bin/kalda"
cp -R "$root/packaging/config/." "$to/config/"
cp -R "$root/packaging/conf/." "$to/conf/"
cp "$root/packaging/zkEnv.sh" "$to/bin/zkEnv.sh"
chmod 755 "$to/bin/zkEnv.sh"
cp "$root/packaging/README.txt" "$to/README.txt"
for f in LICENSE NOTICE; do
  if [ -e "$root/$f" ]; then cp "$root/$f" "$to/"; fi
done

script() { # NAME: bin/NAME.sh; what is on standard input stands before the call
  cat >"$to/bin/$1.sh" <<'SCRIPT'
#!/bin/sh
# Runs the binary beside this script as the tool that the script is named after. Links are followed.
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
bin=$(cd "$(dirname "$self")" && pwd)
SCRIPT
  cat >>"$to/bin/$1.sh"
  cat >>"$to/bin/$1.sh" <<'SCRIPT'
exec "$bin/kalda" "$(basename "$self" .sh)" "$@"
SCRIPT
  chmod 755 "$to/bin/$1.sh"
}

for tool in $("$binary" help --names); do
  case $tool in
    zk*) echo 'ZOOBINDIR=$bin
. "$bin/zkEnv.sh"' | script "$tool" ;;
    *) script "$tool" </dev/null ;;
  esac
done

if [ $# -lt 2 ]; then
  rm -rf "$root/dist/kalda"
  ln -s "$(basename "$to")" "$root/dist/kalda"
fi
echo "$to"
