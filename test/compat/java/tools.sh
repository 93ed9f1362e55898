#!/usr/bin/env bash
# tools.sh [smoke]: Apache's own command-line tools against BOOTSTRAP. The smoke leaves out what the client suites repeat.
set -euo pipefail
cd "$(dirname "$0")"
source ../lib.sh
mode=${1-}
topic=tools-$run_id
group=tools-group-$run_id

tool() { ./tool "$@"; }
topics() { tool kafka-topics --bootstrap-server "$BOOTSTRAP" "$@"; }
groups() { tool kafka-consumer-groups --bootstrap-server "$BOOTSTRAP" "$@"; }
produce() { tool kafka-console-producer --bootstrap-server "$BOOTSTRAP" "$@"; }
consume() { tool kafka-console-consumer --bootstrap-server "$BOOTSTRAP" "$@"; }

refused() { # PATTERN COMMAND...: it fails, and says so
  local p=$1 out
  shift
  if out=$("$@" 2>&1); then echo "succeeded: $out"; return 1; fi
  holds "$out" "$p"
}

create() {
  holds "$(topics --create --topic "$topic" --partitions 3 --replication-factor 1 --config retention.ms=86400000)" \
    "Created topic $topic\\."
}
create_again() {
  refused "Topic '$topic' already exists" topics --create --topic "$topic"
  topics --create --topic "$topic" --if-not-exists
}
create_illegal() { refused 'is illegal|is invalid' topics --create --topic 'no/good'; }
list() { holds "$(topics --list)" "^$topic\$"; }
describe() {
  local out
  out=$(topics --describe --topic "$topic")
  holds "$out" "Topic: $topic.*PartitionCount: 3.*ReplicationFactor: 1.*retention.ms=86400000" \
    'Partition: 2.*Leader: [0-9]+.*Isr: [0-9]+'
}
grow() {
  topics --alter --topic "$topic" --partitions 4
  until_holds 20 'PartitionCount: 4' topics --describe --topic "$topic"
}
configs() {
  local c=(tool kafka-configs --bootstrap-server "$BOOTSTRAP" --entity-type topics --entity-name "$topic")
  "${c[@]}" --alter --add-config max.message.bytes=2000000,cleanup.policy=compact
  until_holds 20 'cleanup.policy=compact' "${c[@]}" --describe
  holds "$("${c[@]}" --describe)" 'max.message.bytes=2000000'
  "${c[@]}" --alter --delete-config cleanup.policy
  if holds "$("${c[@]}" --describe)" 'cleanup.policy=' >/dev/null; then echo 'still set'; return 1; fi
  refused 'Invalid|Unknown' "${c[@]}" --alter --add-config retention.ms=soon
}
versions() { holds "$(tool kafka-broker-api-versions --bootstrap-server "$BOOTSTRAP")" 'Produce\(0\): ' 'Fetch\(1\): '; }
cluster() { holds "$(tool kafka-cluster cluster-id --bootstrap-server "$BOOTSTRAP")" 'Cluster ID: [A-Za-z0-9_-]{22}'; }

want=$scratch/want
: >"$want"
write() { # CODEC ARGS: 100 lines more
  local codec=$1
  shift
  seq -f "$codec-%04g" 100 | tee -a "$want" |
    produce --topic "$topic" --compression-codec "$codec" "$@"
}
read_all() {
  consume --topic "$topic" --from-beginning --max-messages "$(wc -l <"$want")" --timeout-ms 30000 >"$scratch/got"
  same <(sort "$want") <(sort "$scratch/got")
}
keyed() {
  printf 'k1:v1\nk2:v2\n' | produce --topic "$topic-keyed" --reader-property parse.key=true --reader-property key.separator=: \
    --command-property acks=all --command-property enable.idempotence=true
  consume --topic "$topic-keyed" --from-beginning --max-messages 2 --timeout-ms 30000 \
    --formatter-property print.key=true --formatter-property print.offset=true >"$scratch/keyed"
  holds "$(sort "$scratch/keyed")" $'Offset:[01]\tk1\tv1' $'Offset:[01]\tk2\tv2'
}
offsets() {
  local sum
  sum=$(tool kafka-get-offsets --bootstrap-server "$BOOTSTRAP" --topic "$topic" | awk -F: '{s += $3} END {print s}')
  [ "$sum" = "$(wc -l <"$want")" ] || { echo "sum $sum"; return 1; }
  holds "$(tool kafka-get-offsets --bootstrap-server "$BOOTSTRAP" --topic-partitions "$topic:0" --time earliest)" "^$topic:0:0\$"
}

member() { # NAME: a consumer of the group, in the background, its lines in $scratch/NAME
  # exec: the process that is ended later is the tool itself.
  ./tool kafka-console-consumer --bootstrap-server "$BOOTSTRAP" --topic "$topic" --group "$group" \
    --command-property auto.offset.reset=earliest --command-property session.timeout.ms=10000 \
    --command-property client.id="$1" >"$scratch/$1" 2>"$scratch/$1.err" &
  children+=($!)
}
# The assignment column tells when the rebalance is over: two members that hold all four partitions.
both_assigned() {
  until_holds 120 '^2 4$' bash -c '"$@" | awk -v g="$0" "\$1 == g {n++; s += \$5} END {print n+0, s+0}"' \
    "$group" ./tool kafka-consumer-groups --bootstrap-server "$BOOTSTRAP" --describe --group "$group" --members
}
shared_work() {
  until_holds 30 "^$(wc -l <"$want")\$" bash -c 'cat "$@" | wc -l' - "$scratch/m1" "$scratch/m2"
  same <(sort "$want") <(sort "$scratch/m1" "$scratch/m2")
}
stop_member() { kill "${children[$1]}"; wait "${children[$1]}" 2>/dev/null || true; }
lag_zero() {
  local out
  out=$(groups --describe --group "$group")
  holds "$out" "^$group +$topic +3 +[0-9]+ +[0-9]+ +0 "
}
state() { holds "$(groups --describe --group "$group" --state)" 'Empty'; }
group_listed() { holds "$(groups --list)" "^$group\$"; }
resume() {
  write none
  consume --topic "$topic" --group "$group" --max-messages 100 --timeout-ms 30000 >"$scratch/resumed"
  same <(tail -n 100 "$want" | sort) <(sort "$scratch/resumed")
}
reset() {
  groups --group "$group" --topic "$topic" --reset-offsets --to-earliest --execute
  consume --topic "$topic" --group "$group" --max-messages "$(wc -l <"$want")" --timeout-ms 30000 >"$scratch/again"
  same <(sort "$want") <(sort "$scratch/again")
}
delete_offsets() { holds "$(groups --delete-offsets --group "$group" --topic "$topic")" 'Successful'; }
delete_group() {
  holds "$(groups --delete --group "$group")" 'successful'
  # Apache's tool says so and exits 0.
  holds "$(groups --describe --group "$group" --state 2>&1)" 'GroupIdNotFoundException: Group .* not found'
}
perf() {
  local out
  out=$(tool kafka-producer-perf-test --topic "$topic-perf" --num-records 20000 --record-size 200 --throughput -1 \
    --bootstrap-server "$BOOTSTRAP" --command-property acks=all enable.idempotence=true compression.type=lz4)
  holds "$out" '20000 records sent'
  out=$(tool kafka-consumer-perf-test --bootstrap-server "$BOOTSTRAP" --topic "$topic-perf" --num-records 20000 --timeout 30000)
  holds "$out" ', 20000, '
}
delete_topic() {
  topics --delete --topic "$topic"
  ! holds "$(topics --list)" "^$topic\$" >/dev/null || { echo 'still listed'; return 1; }
  refused "does not exist" topics --describe --topic "$topic"
}

check 'create a topic' create
check 'describe it' describe
if [ "$mode" != smoke ]; then
  check 'create it again' create_again
  check 'create an illegal name' create_illegal
  check 'list' list
  check 'broker versions' versions
  check 'cluster id' cluster
fi
check 'more partitions' grow
check 'topic configs' configs
if [ "$mode" = smoke ]; then
  check 'produce zstd' write zstd
else
  for codec in none gzip snappy lz4 zstd; do check "produce $codec" write $codec; done
  check 'produce with acks 0' write none --command-property acks=0
  check 'produce with acks 1' write none --command-property acks=1
fi
check 'produce lz4, idempotent' write lz4 --command-property enable.idempotence=true
check 'consume from the beginning' read_all
check 'auto-created topic, keys, offsets' keyed
check 'end and start offsets' offsets
member m1
member m2
check 'two members share the partitions' both_assigned
check 'they read everything once' shared_work
check 'one leaves' stop_member 0
check 'the other leaves' stop_member 1
check 'committed: no lag' lag_zero
check 'resume at the committed offsets' resume
if [ "$mode" != smoke ]; then
  check 'group state' state
  check 'group listed' group_listed
  check 'reset offsets' reset
  check 'delete offsets' delete_offsets
  check 'performance tools' perf
fi
check 'delete the group' delete_group
check 'delete the topic' delete_topic
finish
