#!/usr/bin/env bash
# suite.sh: kcat (librdkafka) against BOOTSTRAP. kcat can't create or delete a topic but by auto-creation, nor delete a group.
set -euo pipefail
cd "$(dirname "$0")"
source ../lib.sh
topic=kcat-$run_id
group=kcat-group-$run_id
want=$scratch/want
: >"$want"

kc() { kcat -b "$BOOTSTRAP" -q "$@"; }

created() { # auto-created by the first metadata request that names it
  until_holds 20 "topic \"$topic\" with [0-9]+ partitions:" kcat -b "$BOOTSTRAP" -L -t "$topic"
  until_holds 20 'partition 0, leader [0-9]+, replicas: [0-9]+, isrs: [0-9]+' kcat -b "$BOOTSTRAP" -L -t "$topic"
}
write() { # CODEC ARGS
  local codec=$1
  shift
  seq -f "$codec-%04g" 100 | tee -a "$want" | kc -P -t "$topic" -z "$codec" "$@"
}
read_all() {
  kc -C -t "$topic" -o beginning -e "$@" >"$scratch/got"
  same <(sort "$want") <(sort "$scratch/got")
}
shapes() {
  printf 'key:value\n' | kc -P -t "$topic-shapes" -K: -H a=1 -H a=2
  printf 'nil:\n' | kc -P -t "$topic-shapes" -K: -Z
  kc -C -t "$topic-shapes" -o beginning -e -f '%k|%s|%S|%h|%o\n' >"$scratch/shapes"
  holds "$(cat "$scratch/shapes")" '^key\|value\|5\|a=1,a=2\|0$' '^nil\|\|-1\|\|1$'
}
by_offset() {
  kc -C -t "$topic" -p 0 -o 5 -c 3 -f '%o\n' >"$scratch/offsets"
  same <(seq 5 7) "$scratch/offsets"
}
from_the_end() {
  kc -C -t "$topic" -p 0 -o -2 -e -f '%o\n' >"$scratch/offsets"
  [ "$(wc -l <"$scratch/offsets")" = 2 ]
}
by_time() {
  local first
  first=$(kc -C -t "$topic" -p 0 -o beginning -c 1 -f '%T\n')
  holds "$(kcat -b "$BOOTSTRAP" -Q -t "$topic:0:$first")" 'offset 0$'
}
# kcat can't make a topic of several partitions: the members share two topics of one, which round robin deals out.
member() { # NAME
  kcat -b "$BOOTSTRAP" -X auto.offset.reset=earliest -X session.timeout.ms=10000 -X heartbeat.interval.ms=500 \
    -X auto.commit.interval.ms=500 -X partition.assignment.strategy=roundrobin -u \
    -G "$group" "$topic-group1" "$topic-group2" >"$scratch/$1" 2>"$scratch/$1.err" &
  children+=($!)
}
has_partitions() { # NAME COUNT: its last assignment
  until_holds 60 "^$2\$" bash -c 'grep -h "(memberid .*assigned:" "$0" | tail -n 1 | grep -o "\[0\]" | wc -l' "$scratch/$1.err"
}
group_write() {
  seq -f 'group-%04g' 100 | tee -a "$scratch/group" | kc -P -t "$topic-group1"
  seq -f 'group-%04g' 101 200 | tee -a "$scratch/group" | kc -P -t "$topic-group2"
}
group_reads() {
  until_holds 60 "^$(wc -l <"$scratch/group")\$" bash -c 'cat "$@" | wc -l' - "$scratch/m1" "$scratch/m2"
  same "$scratch/group" <(cat "$scratch/m1" "$scratch/m2" | sort)
}
resume() {
  echo later | kc -P -t "$topic-group1"
  timeout 60 kcat -b "$BOOTSTRAP" -q -X auto.offset.reset=earliest -G "$group" -c 1 "$topic-group1" >"$scratch/resumed"
  holds "$(cat "$scratch/resumed")" '^later$'
}

check 'auto-create, describe' created
for codec in none gzip snappy lz4 zstd; do check "produce $codec" write $codec; done
check 'produce acks 0' write none -X acks=0
check 'produce acks 1' write none -X acks=1
check 'produce idempotent' write zstd -X enable.idempotence=true
check 'consume from the beginning' read_all
check 'consume, checking CRCs, read_uncommitted' read_all -X check.crcs=true -X isolation.level=read_uncommitted
check 'keys, headers, nulls' shapes
check 'consume from an offset' by_offset
check 'consume from the end' from_the_end
check 'offset by time' by_time
check 'produce for a group' group_write
member m1
check 'one member has everything' has_partitions m1 2
member m2
check 'two members, a rebalance' has_partitions m2 1
check 'they read everything once' group_reads
kill "${children[0]}"
wait "${children[0]}" || true
check 'one leaves, a rebalance' has_partitions m2 2
kill "${children[1]}"
wait "${children[1]}" || true
check 'resume at the committed offsets' resume
finish
