#!/usr/bin/env bash
# side-by-side.sh [ROUNDS]: Apache's producer and consumer performance tools against Apache Kafka 4.4.0 and Kalda, alternating,
# and both servers' start time and idle memory. Prints one line for each measurement: round, server, case, value, unit.
# Needs java, mvn, go. Linux. Writes only to a temporary folder; ends only what it starts.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
rounds=${1:-5}
work=$(mktemp -d)
pids=()
cleanup() {
  local p
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null; done
  rm -rf "$work"
}
trap cleanup EXIT

cache=${XDG_CACHE_HOME:-$HOME/.cache}/kalda-compat
pom=test/compat/java/pom.xml
export LIBS=$cache/apache-$(sha256sum $pom | cut -c1-8)/libs
[ -e "$LIBS/../.complete" ] || {
  mvn -q -B -f $pom dependency:copy-dependencies -DoutputDirectory="$LIBS"
  touch "$LIBS/../.complete"
}
tool=$root/test/compat/java/tool
CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$work/kalda" ./cmd/kalda

properties() { # NAME PORT
  mkdir -p "$work/$1"
  cat >"$work/$1/server.properties" <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$(($2 + 1))
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$2,CONTROLLER://127.0.0.1:$(($2 + 1))
log.dirs=$work/$1/data
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
P
}
answers() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
now() { date +%s%3N; }

start() { # NAME PORT COMMAND...: says how long it takes until it accepts connections
  local name=$1 port=$2 began
  shift 2
  began=$(now)
  "$@" >"$work/$name/log" 2>&1 &
  pids+=($!)
  until answers "$port"; do
    kill -0 "${pids[-1]}" || { cat "$work/$name/log" >&2; exit 1; }
    sleep 0.002
  done
  echo "0 $name start $(($(now) - began)) ms"
}

produce() { # ROUND NAME PORT ACKS SIZE CODEC
  local out
  out=$($tool kafka-producer-perf-test --topic "bench-$4-$5-$6-$1" --num-records $((100000000 / $5)) --record-size "$5" \
    --throughput -1 --bootstrap-server "127.0.0.1:$3" --command-property "acks=$4" "compression.type=$6" | tail -n 1)
  echo "$1 $2 produce-acks-$4-$5-$6 $(sed -E 's/.*, ([0-9.]+) records\/sec.*/\1/' <<<"$out") records/s"
}
consume() { # ROUND NAME PORT ACKS SIZE CODEC
  local out
  out=$($tool kafka-consumer-perf-test --bootstrap-server "127.0.0.1:$3" --topic "bench-$4-$5-$6-$1" \
    --num-records $((100000000 / $5)) --timeout 60000 | tail -n 1)
  echo "$1 $2 consume-$5-$6 $(awk -F', *' '{print $10}' <<<"$out") records/s"
}
cpu() { # ROUND NAME PID: user and system ticks of the process so far
  echo "$1 $2 cpu $(awk '{print $14 + $15}' "/proc/$3/stat") ticks"
}

echo "# $(date -u +%F) $(git rev-parse --short HEAD), $(nproc) cores, $(awk '/MemTotal/ {print $2}' /proc/meminfo) kB, $(uname -sr)"
properties apache 47090
properties kalda 47190
$tool kafka-storage format -t MkU3OEVBNTcwNTJENDM2Qg -c "$work/apache/server.properties" >/dev/null
"$work/kalda" storage format -t MkU3OEVBNTcwNTJENDM2Qg -c "$work/kalda/server.properties" >/dev/null
start apache 47090 env HEAP="-Xms1g -Xmx1g -XX:+UseG1GC" "$tool" server "$work/apache/server.properties"
start kalda 47190 "$work/kalda" server "$work/kalda/server.properties"
sleep 30
for i in 0 1; do
  name=$([ $i = 0 ] && echo apache || echo kalda)
  echo "0 $name idle $(awk '/VmRSS/ {print $2}' "/proc/${pids[$i]}/status") kB"
done
for round in $(seq "$rounds"); do
  for case in 1:100:none 1:1024:none all:100:none all:1024:none all:100:lz4 all:1024:lz4; do
    for server in "apache 47090 ${pids[0]}" "kalda 47190 ${pids[1]}"; do
      read -r name port pid <<<"$server"
      IFS=: read -r acks size codec <<<"$case"
      produce "$round" "$name" "$port" "$acks" "$size" "$codec"
      [ "$acks" = 1 ] || consume "$round" "$name" "$port" "$acks" "$size" "$codec"
      cpu "$round" "$name" "$pid"
    done
  done
done
