#!/usr/bin/env bash
# compaction.sh [ROUNDS] [MB]: log compaction beside Apache Kafka 4.4.0. Kalda takes MB of records with keys for each of two
# topics, uncompressed and lz4, without compacting them; then each round copies that folder, twice, and lets each server
# compact its copy: first topics of a quarter of that size, for the JVM to get warm, and then one by one those that are
# measured. Prints one line for each measurement: round, server, case, value, unit. The time is from when the topic's
# configuration makes it due to the checkpoint; both look for work every 100 ms. CPU is the server's in that time.
# Needs java, mvn, go. Linux. Writes only to a temporary folder; ends only what it starts.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
rounds=${1:-5}
mb=${2:-256}
work=$(mktemp -d)
pid=
cleanup() {
  [ -z "$pid" ] || { kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; } || true
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
port=${PORT:-27700}

properties() { # FOLDER BACKOFF
  cat >"$work/server.properties" <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
log.dirs=$1
log.cleaner.backoff.ms=$2
P
}
now() { date +%s%3N; }
cpu() { awk '{print ($14 + $15) * 10}' "/proc/$pid/stat"; } # ms

start() { # COMMAND...
  "$@" >"$work/log" 2>&1 &
  pid=$!
  until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    kill -0 "$pid" || { cat "$work/log" >&2; exit 1; }
    sleep 0.005
  done
}
stop() {
  kill "$pid"
  wait "$pid" || true
  pid=
}

fill() {
  local codec size n
  properties "$work/source" 100
  "$work/kalda" kafka-storage format -t MkU3OEVBNTcwNTJENDM2Qg -c "$work/server.properties" >/dev/null
  start "$work/kalda" server "$work/server.properties"
  for codec in none lz4; do
    for size in 4 1; do
      # A ratio of 1 is never exceeded: nothing is compacted yet.
      "$work/kalda" kafka-topics --bootstrap-server "127.0.0.1:$port" --create --topic "$codec-$size" --partitions 1 \
        --config cleanup.policy=compact --config segment.bytes=16777216 --config min.cleanable.dirty.ratio=1.0 >/dev/null
      n=$((mb * 1048576 / size / 210)) # a tenth as many keys as records
      "$work/kalda" kafka-producer-perf-test --topic "$codec-$size" --num-records "$n" --record-size 200 --throughput -1 \
        --record-key-range $((n / 10)) --key-distribution random --random-seed 7 --bootstrap-server "127.0.0.1:$port" \
        --command-property compression.type="$codec" batch.size=16384 linger.ms=5 >"$work/log.fill"
    done
  done
  stop
}

# segments are those of a topic that can be compacted: all but the last.
segments() { find "$work/copy/$1-0" -name '*.log' | sort | head -n -1; }
bytes() { segments "$1" | xargs du -cb | tail -1 | cut -f1; }

clean() { # TOPIC: is it compacted up to its last segment?
  local last done
  last=$(basename "$(find "$work/copy/$1-0" -name '*.log' | sort | tail -1)" .log)
  done=$(awk -v t="$1" '$1 == t {print $3}' "$work/copy/cleaner-offset-checkpoint" 2>/dev/null || true)
  [ "${done:-0}" -ge "$((10#$last))" ]
}

compact() { # TOPIC: sets took, ms, and used, CPU in ms
  local began base
  base=$(cpu)
  "$work/kalda" kafka-configs --bootstrap-server "127.0.0.1:$port" --alter --topic "$1" \
    --add-config min.cleanable.dirty.ratio=0.01 >/dev/null
  began=$(now)
  for _ in $(seq 6000); do
    ! clean "$1" || break
    sleep 0.01
  done
  took=$(($(now) - began))
  used=$(($(cpu) - base))
}

measure() { # ROUND NAME COMMAND...
  local round=$1 name=$2 codec all
  shift 2
  cp -r "$work/source" "$work/copy"
  properties "$work/copy" 100
  start "$@" server "$work/server.properties"
  compact none-4
  compact lz4-4
  sleep 2
  for codec in none lz4; do
    all=$(bytes "$codec-1")
    compact "$codec-1"
    echo "$round $name compaction-$codec-bytes $all B"
    echo "$round $name compaction-$codec-time $took ms"
    echo "$round $name compaction-$codec-cpu $used ms"
    echo "$round $name compaction-$codec-kept $(bytes "$codec-1") B"
  done
  stop
  rm -rf "$work/copy"
}

fill
for round in $(seq "$rounds"); do
  measure "$round" kalda "$work/kalda"
  HEAP="-Xms512m -Xmx1g" measure "$round" apache "$tool"
done
