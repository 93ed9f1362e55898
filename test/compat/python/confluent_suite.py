"""confluent-kafka (librdkafka) against BOOTSTRAP."""

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

from suite import BOOTSTRAP, CODECS, PARTITIONS, RUN, Member, Written, check, fails, finish
from suite import group_scenario, resume_scenario, until

TOPIC = "confluent-" + RUN
GROUP = "confluent-group-" + RUN
BASE = {"bootstrap.servers": BOOTSTRAP, "broker.address.family": "v4"}
written = Written()
admin = AdminClient(BASE)


def result(futures):
    """The results of an admin call; raises what it raised."""
    return {k: f.result(30) for k, f in futures.items()}


def create():
    result(admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]))
    fails(KafkaException, lambda: result(admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])))


def describe():
    t = admin.list_topics(TOPIC, timeout=10).topics[TOPIC]
    assert t.error is None and len(t.partitions) == PARTITIONS
    assert all(p.leader >= 0 and len(p.isrs) == 1 for p in t.partitions.values())
    assert len(admin.describe_cluster().result(30).nodes) == 1


def configs():
    r = ConfigResource(ConfigResource.Type.TOPIC, TOPIC)
    before = result(admin.describe_configs([r]))[r]
    assert before["cleanup.policy"].value == "delete" and before["cleanup.policy"].is_default
    result(admin.alter_configs([ConfigResource(ConfigResource.Type.TOPIC, TOPIC, set_config={"retention.ms": "7200000"})]))
    until(lambda: result(admin.describe_configs([r]))[r]["retention.ms"].value == "7200000", "the new value")


def produce(codec="none", **more):
    conf = {**BASE, "compression.type": codec, "linger.ms": 5, **{k.replace("_", "."): v for k, v in more.items()}}
    p = Producer(conf)
    faults = []

    def delivered(err, _):
        if err:
            faults.append(err)

    for part, v in written.values(codec + str(more.get("acks", 1))):
        p.produce(TOPIC, partition=part, key=b"k", value=v, headers=[("h", b"1")], on_delivery=delivered)
        p.poll(0)
    assert p.flush(30) == 0 and not faults, faults


def consumer(**more):
    return Consumer(
        {
            **BASE,
            "group.id": "unused-" + RUN,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "check.crcs": True,
            **{k.replace("_", "."): v for k, v in more.items()},
        }
    )


def take(c, got):
    for m in c.consume(500, 0.2):
        assert not m.error(), m.error()
        got.setdefault(m.partition(), []).append(m.value())


def consume():
    c = consumer()
    c.assign([TopicPartition(TOPIC, p, 0) for p in range(PARTITIONS)])
    got = {}
    until(lambda: sum(map(len, got.values())) >= written.total(), "all records", lambda: take(c, got))
    assert got == written.by_partition
    c.close()


def offsets():
    c = consumer()
    assert c.get_watermark_offsets(TopicPartition(TOPIC, 0), 10) == (0, len(written.by_partition[0]))
    (o,) = c.offsets_for_times([TopicPartition(TOPIC, 0, 1)], 10)
    assert o.offset == 0, o
    c.assign([TopicPartition(TOPIC, 0, 5)])
    m = None
    while m is None:
        m = c.poll(10)
    assert m.offset() == 5 and m.headers() == [("h", b"1")] and m.key() == b"k"
    c.close()


def classic():
    return consumer(group_id=GROUP, session_timeout_ms=10000, heartbeat_interval_ms=500)


def modern(group, topics=None):
    """A member of the consumer protocol (KIP-848)."""
    return member(lambda: consumer(group_id=group, group_protocol="consumer"), topics)


def member(make=classic, topics=None):
    def opened():
        c = make()
        c.subscribe(topics or [TOPIC])
        return c

    def poll(m, c):
        take(c, m.got)
        m.assigned = frozenset(tp.partition for tp in c.assignment())
        if m.got:
            try:
                c.commit(asynchronous=False)
            except KafkaException:
                pass  # nothing new to commit, or a rebalance: the next poll rejoins

    return Member(opened, poll, lambda c: c.close())


def describe_group():
    d = result(admin.describe_consumer_groups([GROUP]))[GROUP]
    assert d.state.name == "EMPTY", d.state
    o = result(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)]))[GROUP]
    got = {tp.partition: tp.offset for tp in o.topic_partitions}
    assert got == {p: len(v) for p, v in written.by_partition.items()}, got
    assert GROUP in [g.group_id for g in admin.list_consumer_groups().result(30).valid]


def modern_mix():
    """A classic member and one of the new protocol share a group, and each outlives the other."""
    group = GROUP + "-mix"
    a = member(lambda: consumer(group_id=group, session_timeout_ms=10000, heartbeat_interval_ms=500))
    try:
        until(lambda: len(a.assigned) == PARTITIONS and a.count() >= written.total(), "all to the classic member")
        b = modern(group)
        until(lambda: a.assigned and b.assigned and len(a.assigned) + len(b.assigned) == PARTITIONS, "shared")
        assert not a.assigned & b.assigned
        a.close()
        until(lambda: len(b.assigned) == PARTITIONS, "all to the new member")
        a = member(lambda: consumer(group_id=group, session_timeout_ms=10000, heartbeat_interval_ms=500))
        until(lambda: a.assigned and b.assigned and len(a.assigned) + len(b.assigned) == PARTITIONS, "shared again")
        b.close()
        until(lambda: len(a.assigned) == PARTITIONS, "all to the classic member again")
        assert b.count() == 0 and a.count() == 0, "read again"
    finally:
        a.close()


def modern_regex():
    m = modern(GROUP + "-regex", ["^" + TOPIC[:-1] + "."])
    try:
        until(lambda: len(m.assigned) == PARTITIONS and m.count() >= written.total(), "all by expression")
    finally:
        m.close()


def delete_group():
    result(admin.delete_consumer_groups([GROUP]))
    assert GROUP not in [g.group_id for g in admin.list_consumer_groups().result(30).valid]


def grow():
    result(admin.create_partitions([NewPartitions(TOPIC, PARTITIONS + 1)]))
    until(lambda: len(admin.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions) == PARTITIONS + 1, "the partition")


def delete_topic():
    result(admin.delete_topics([TOPIC]))
    until(lambda: TOPIC not in admin.list_topics(timeout=10).topics, "the topic gone")


check("create a topic", create)
check("describe it", describe)
check("topic configs", configs)
for codec in CODECS:
    check("produce " + codec, produce, codec)
check("produce acks 0", lambda: produce("none", acks=0))
check("produce idempotent", lambda: produce("zstd", enable_idempotence=True))
check("consume from the beginning", consume)
check("offsets, seek, headers", offsets)
check("two members, a rebalance, commit", group_scenario, member, written)
check("two members of the new protocol", group_scenario, lambda: modern(GROUP + "-new"), written)
check("members of both protocols", modern_mix)
check("the new protocol, by expression", modern_regex)
check("describe the group", describe_group)
check("resume at the committed offsets", resume_scenario, member, written, produce)
check("delete the group", delete_group)
check("more partitions", grow)
check("delete the topic", delete_topic)
finish()
