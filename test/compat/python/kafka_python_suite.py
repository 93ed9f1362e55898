"""kafka-python against BOOTSTRAP."""

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka import errors
from kafka.admin import ConfigResource, ConfigResourceType

from suite import BOOTSTRAP, CODECS, PARTITIONS, RUN, Member, Written, check, fails, finish
from suite import group_scenario, resume_scenario, until

TOPIC = "kafka-python-" + RUN
GROUP = "kafka-python-group-" + RUN
written = Written()
admin = KafkaAdminClient(bootstrap_servers=BOOTSTRAP)


def create():
    admin.create_topics({TOPIC: {"num_partitions": PARTITIONS, "replication_factor": 1}})
    fails(errors.TopicAlreadyExistsError, lambda: admin.create_topics({TOPIC: {"num_partitions": 1, "replication_factor": 1}}))


def describe():
    (t,) = admin.describe_topics([TOPIC])
    assert len(t["partitions"]) == PARTITIONS, t
    assert all(p["leader_id"] >= 0 and len(p["isr_nodes"]) == 1 for p in t["partitions"]), t
    assert TOPIC in admin.list_topics()
    assert len(admin.describe_cluster()["brokers"]) == 1


def configs():
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC, configs={"retention.ms": "7200000"})])
    until(
        lambda: "7200000" in str(admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC)])),
        "the new value",
    )


def produce(codec="none", **more):
    more.setdefault("enable_idempotence", False)
    p = KafkaProducer(bootstrap_servers=BOOTSTRAP, compression_type=None if codec == "none" else codec, linger_ms=5, **more)
    sent = [
        p.send(TOPIC, partition=part, key=b"k", value=v, headers=[("h", b"1")])
        for part, v in written.values(codec + str(more.get("acks", 1)))
    ]
    p.flush()
    for f in sent:
        f.get(timeout=30)
    p.close()


def consumer(**more):
    return KafkaConsumer(bootstrap_servers=BOOTSTRAP, auto_offset_reset="earliest", enable_auto_commit=False, **more)


def take(c, got):
    for tp, records in c.poll(timeout_ms=200).items():
        got.setdefault(tp.partition, []).extend(r.value for r in records)


def consume():
    c = consumer(check_crcs=True)
    c.assign([TopicPartition(TOPIC, p) for p in range(PARTITIONS)])
    got = {}
    until(lambda: sum(map(len, got.values())) >= written.total(), "all records", lambda: take(c, got))
    assert got == written.by_partition
    c.close()


def offsets():
    c = consumer()
    p0 = TopicPartition(TOPIC, 0)
    assert c.beginning_offsets([p0]) == {p0: 0}
    assert c.end_offsets([p0]) == {p0: len(written.by_partition[0])}
    assert c.offsets_for_times({p0: 1})[p0].offset == 0
    c.assign([p0])
    c.seek(p0, 5)
    got = []
    until(lambda: got, "a record", lambda: got.extend(c.poll(timeout_ms=200, max_records=1).get(p0, [])))
    assert got[0].offset == 5 and got[0].headers == [("h", b"1")] and got[0].key == b"k", got
    c.close()


def member():
    def opened():
        c = consumer(group_id=GROUP, session_timeout_ms=10000, heartbeat_interval_ms=500)
        c.subscribe([TOPIC])
        return c

    def poll(m, c):
        take(c, m.got)
        m.assigned = frozenset(c.assignment())
        if m.assigned:
            try:
                c.commit()
            except (errors.RebalanceInProgressError, errors.CommitFailedError):
                pass  # the next poll rejoins

    return Member(opened, poll, lambda c: c.close(autocommit=False))


def describe_group():
    got = admin.describe_groups([GROUP])
    assert "Empty" in str(got), got
    o = admin.list_group_offsets({GROUP: None})[GROUP]
    assert {tp.partition: v.offset for tp, v in o.items()} == {p: len(v) for p, v in written.by_partition.items()}, o
    assert GROUP in str(admin.list_groups())


def delete_group():
    admin.delete_groups([GROUP])
    assert GROUP not in str(admin.list_groups())


def grow():
    admin.create_partitions({TOPIC: PARTITIONS + 1})
    until(lambda: len(admin.describe_topics([TOPIC])[0]["partitions"]) == PARTITIONS + 1, "the new partition")


def delete_topic():
    admin.delete_topics([TOPIC])
    until(lambda: TOPIC not in admin.list_topics(), "the topic gone")


check("create a topic", create)
check("describe it", describe)
check("topic configs", configs)
for codec in CODECS:
    check("produce " + codec, produce, codec)
check("produce acks 0", lambda: produce("none", acks=0))
check("produce idempotent", lambda: produce("zstd", acks="all", enable_idempotence=True))
check("consume from the beginning", consume)
check("offsets, seek, headers", offsets)
check("two members, a rebalance, commit", group_scenario, member, written)
check("describe the group", describe_group)
check("resume at the committed offsets", resume_scenario, member, written, produce)
check("delete the group", delete_group)
check("more partitions", grow)
check("delete the topic", delete_topic)
finish()
