import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.*;

/**
 * Apache's Java clients against a broker: admin, producer, consumer and classic groups. Argument: host:port.
 * What was changed a moment ago is waited for: Apache's broker may answer from the metadata of a moment before.
 */
public final class Clients {
    private static final String RUN = Long.toHexString(System.nanoTime());
    private static final String TOPIC = "java-" + RUN;
    private static final String GROUP = "java-group-" + RUN;
    private static final int PARTITIONS = 3;
    private static final Duration LIMIT = Duration.ofSeconds(40);

    private interface Body { void run() throws Exception; }

    private static int passed;
    private static int failed;
    private static String bootstrap;
    private static Admin admin;
    /** What was produced, by partition, in order. */
    private static final Map<Integer, List<String>> written = new TreeMap<>();

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        admin = Admin.create(props());
        check("create a topic", Clients::create);
        check("refusals of createTopics", Clients::refusals);
        check("describe it", Clients::describe);
        check("topic configs", Clients::configs);
        check("cluster", Clients::cluster);
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            check("produce " + codec, () -> produce(codec, Map.of("enable.idempotence", "false", "acks", "1")));
        }
        check("produce idempotent", () -> produce("zstd", Map.of("enable.idempotence", "true", "acks", "all")));
        check("produce acks 0", () -> produce("none", Map.of("enable.idempotence", "false", "acks", "0")));
        check("too large a record", Clients::tooLarge);
        check("consume from the beginning", Clients::consumeAll);
        check("headers, null key and value, timestamp", Clients::shapes);
        check("list offsets", Clients::listOffsets);
        check("seek and offsets for times", Clients::seek);
        check("two members, a rebalance, commit", Clients::group);
        check("cooperative rebalance", Clients::cooperative);
        check("static member", Clients::staticMember);
        check("describe the group", Clients::describeGroup);
        check("resume at the committed offsets", Clients::resume);
        check("alter and delete offsets", Clients::alterOffsets);
        check("delete the group", Clients::deleteGroup);
        check("more partitions", Clients::grow);
        check("delete the topic", Clients::deleteTopic);
        admin.close(Duration.ofSeconds(5));
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    private static void check(String name, Body body) {
        try {
            body.run();
            passed++;
            System.out.println("ok " + name);
        } catch (Throwable t) {
            failed++;
            System.out.println("FAIL " + name);
            t.printStackTrace(System.out);
        }
    }

    private static void that(boolean ok, Object... what) {
        if (!ok) throw new AssertionError(Arrays.stream(what).map(String::valueOf).collect(Collectors.joining(" ")));
    }

    private static Properties props() {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("default.api.timeout.ms", "30000");
        return p;
    }

    private static <T extends Throwable> T fails(Class<T> want, Future<?> f) throws Exception {
        try {
            f.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (want.isInstance(e.getCause())) return want.cast(e.getCause());
            throw e;
        }
        throw new AssertionError("no " + want.getSimpleName());
    }

    private static void create() throws Exception {
        NewTopic t = new NewTopic(TOPIC, PARTITIONS, (short) 1).configs(Map.of("segment.bytes", "1048576"));
        CreateTopicsResult r = admin.createTopics(List.of(t));
        r.all().get();
        that(r.numPartitions(TOPIC).get() == PARTITIONS, "partitions in the answer");
        that("1048576".equals(r.config(TOPIC).get().get("segment.bytes").value()), "config in the answer");
        // Nothing is retried here: a partition whose leader is announced takes a write.
        Properties p = producer("none");
        p.put("retries", "0");
        try (KafkaProducer<byte[], byte[]> k = new KafkaProducer<>(p)) {
            send(k, 0, "first");
        }
    }

    private static void refusals() throws Exception {
        fails(TopicExistsException.class, admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all());
        fails(InvalidTopicException.class, admin.createTopics(List.of(new NewTopic("a b", 1, (short) 1))).all());
        fails(InvalidPartitionsException.class, admin.createTopics(List.of(new NewTopic("x-" + RUN, 0, (short) 1))).all());
        fails(InvalidReplicationFactorException.class,
            admin.createTopics(List.of(new NewTopic("x-" + RUN, 1, (short) 9))).all());
        fails(InvalidConfigurationException.class,
            admin.createTopics(List.of(new NewTopic("x-" + RUN, 1, (short) 1).configs(Map.of("retention.ms", "x")))).all());
        admin.createTopics(List.of(new NewTopic("v-" + RUN, 1, (short) 1)), new CreateTopicsOptions().validateOnly(true)).all().get();
        fails(UnknownTopicOrPartitionException.class, admin.describeTopics(List.of("v-" + RUN)).allTopicNames());
    }

    private static void describe() throws Exception {
        TopicDescription d = admin.describeTopics(List.of(TOPIC)).allTopicNames().get().get(TOPIC);
        that(d.partitions().size() == PARTITIONS && !d.isInternal(), d);
        that(d.partitions().stream().allMatch(p -> p.leader() != null && p.isr().size() == 1), d);
        TopicDescription byId = admin.describeTopics(TopicCollection.ofTopicIds(List.of(d.topicId()))).allTopicIds().get().get(d.topicId());
        that(byId.name().equals(TOPIC), byId);
        that(admin.listTopics().names().get().contains(TOPIC), "not listed");
    }

    private static void configs() throws Exception {
        ConfigResource r = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC);
        admin.incrementalAlterConfigs(Map.of(r, List.of(
            new AlterConfigOp(new ConfigEntry("retention.ms", "3600000"), AlterConfigOp.OpType.SET),
            new AlterConfigOp(new ConfigEntry("cleanup.policy", "compact"), AlterConfigOp.OpType.APPEND)))).all().get();
        until(() -> "3600000".equals(config(r, "retention.ms")), "the new value", Clients::pause);
        Config c = admin.describeConfigs(List.of(r)).all().get().get(r);
        that(c.get("retention.ms").source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, c.get("retention.ms"));
        that("delete,compact".equals(c.get("cleanup.policy").value()), c.get("cleanup.policy"));
        that(c.get("compression.type").source() == ConfigEntry.ConfigSource.DEFAULT_CONFIG, c.get("compression.type"));
        that("1048576".equals(c.get("segment.bytes").value()), c.get("segment.bytes"));
        admin.incrementalAlterConfigs(Map.of(r, List.of(
            new AlterConfigOp(new ConfigEntry("cleanup.policy", ""), AlterConfigOp.OpType.DELETE)))).all().get();
        until(() -> "delete".equals(config(r, "cleanup.policy")), "the default again", Clients::pause);
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, nodeId());
        that(admin.describeConfigs(List.of(broker)).all().get().get(broker).get("log.retention.hours") != null, "broker configs");
    }

    private static String config(ConfigResource r, String name) {
        try {
            return admin.describeConfigs(List.of(r)).all().get().get(r).get(name).value();
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean listed(String topic) {
        try {
            return admin.listTopics().names().get().contains(topic);
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int partitionsOf(String topic) {
        try {
            return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String nodeId() throws Exception {
        return admin.describeCluster().nodes().get().iterator().next().idString();
    }

    private static void cluster() throws Exception {
        DescribeClusterResult r = admin.describeCluster();
        that(r.nodes().get().size() == 1 && r.controller().get() != null && r.clusterId().get().length() == 22, r.clusterId().get());
        that(admin.describeFeatures().featureMetadata().get().finalizedFeatures().containsKey("metadata.version"), "features");
    }

    private static Properties producer(String codec) {
        Properties p = props();
        p.put("compression.type", codec);
        p.put("linger.ms", "5");
        p.put("key.serializer", ByteArraySerializer.class.getName());
        p.put("value.serializer", ByteArraySerializer.class.getName());
        return p;
    }

    private static RecordMetadata send(KafkaProducer<byte[], byte[]> k, int partition, String value) throws Exception {
        RecordMetadata m = k.send(new ProducerRecord<>(TOPIC, partition, null, bytes(value))).get();
        written.computeIfAbsent(partition, x -> new ArrayList<>()).add(value);
        return m;
    }

    private static byte[] bytes(String s) { return s.getBytes(StandardCharsets.UTF_8); }

    private static void produce(String codec, Map<String, String> more) throws Exception {
        Properties p = producer(codec);
        p.putAll(more);
        try (KafkaProducer<byte[], byte[]> k = new KafkaProducer<>(p)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                String v = codec + more.get("acks") + "-" + i + "-" + "x".repeat(i);
                sent.add(k.send(new ProducerRecord<>(TOPIC, i % PARTITIONS, bytes("k" + i), bytes(v))));
                written.computeIfAbsent(i % PARTITIONS, x -> new ArrayList<>()).add(v);
            }
            k.flush();
            for (Future<RecordMetadata> f : sent) f.get();
        }
    }

    private static void tooLarge() throws Exception {
        Properties p = producer("none");
        p.put("max.request.size", "3000000");
        p.put("buffer.memory", "33554432");
        try (KafkaProducer<byte[], byte[]> k = new KafkaProducer<>(p)) {
            fails(RecordTooLargeException.class, k.send(new ProducerRecord<>(TOPIC, 0, null, new byte[2_000_000])));
        }
    }

    private static KafkaConsumer<byte[], byte[]> consumer(Map<String, String> more) {
        Properties p = props();
        p.put("auto.offset.reset", "earliest");
        p.put("enable.auto.commit", "false");
        p.put("key.deserializer", ByteArrayDeserializer.class.getName());
        p.put("value.deserializer", ByteArrayDeserializer.class.getName());
        p.putAll(more);
        return new KafkaConsumer<>(p);
    }

    private static int total() { return written.values().stream().mapToInt(List::size).sum(); }

    private static List<TopicPartition> partitions() {
        return IntStream.range(0, PARTITIONS).mapToObj(i -> new TopicPartition(TOPIC, i)).toList();
    }

    private static void take(KafkaConsumer<byte[], byte[]> c, Map<Integer, List<String>> got) {
        for (ConsumerRecord<byte[], byte[]> r : c.poll(Duration.ofMillis(200))) {
            got.computeIfAbsent(r.partition(), x -> new ArrayList<>()).add(new String(r.value(), StandardCharsets.UTF_8));
        }
    }

    private static int count(Map<Integer, List<String>> got) { return got.values().stream().mapToInt(List::size).sum(); }

    private static void until(BooleanSupplier done, String what, Runnable step) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!done.getAsBoolean()) {
            that(System.nanoTime() < end, "never:", what);
            step.run();
        }
    }

    private interface BooleanSupplier { boolean getAsBoolean(); }

    private static void consumeAll() throws Exception {
        for (String isolation : List.of("read_uncommitted", "read_committed")) {
            Map<Integer, List<String>> got = new TreeMap<>();
            try (KafkaConsumer<byte[], byte[]> c = consumer(Map.of("isolation.level", isolation, "check.crcs", "true"))) {
                c.assign(partitions());
                until(() -> count(got) >= total(), "all records", () -> take(c, got));
            }
            that(got.equals(written), "got", count(got), "of", total(), isolation);
        }
    }

    private static void shapes() throws Exception {
        String topic = TOPIC + "-shapes";
        admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        RecordHeaders h = new RecordHeaders();
        h.add("a", bytes("1")).add("a", bytes("2")).add("none", null);
        try (KafkaProducer<byte[], byte[]> k = new KafkaProducer<>(producer("gzip"))) {
            k.send(new ProducerRecord<>(topic, 0, 1234567890123L, null, null, h)).get();
        }
        try (KafkaConsumer<byte[], byte[]> c = consumer(Map.of())) {
            c.assign(List.of(new TopicPartition(topic, 0)));
            List<ConsumerRecord<byte[], byte[]>> got = new ArrayList<>();
            until(() -> !got.isEmpty(), "the record", () -> c.poll(Duration.ofMillis(200)).forEach(got::add));
            ConsumerRecord<byte[], byte[]> r = got.get(0);
            that(r.key() == null && r.value() == null && r.timestamp() == 1234567890123L && r.headers().equals(h), r);
        }
        admin.deleteTopics(List.of(topic)).all().get();
    }

    private static void listOffsets() throws Exception {
        TopicPartition p0 = new TopicPartition(TOPIC, 0);
        long end = admin.listOffsets(Map.of(p0, OffsetSpec.latest())).partitionResult(p0).get().offset();
        that(end == written.get(0).size(), "latest", end);
        that(admin.listOffsets(Map.of(p0, OffsetSpec.earliest())).partitionResult(p0).get().offset() == 0, "earliest");
        long max = admin.listOffsets(Map.of(p0, OffsetSpec.maxTimestamp())).partitionResult(p0).get().offset();
        that(max >= 0 && max < end, "max timestamp", max);
        long far = admin.listOffsets(Map.of(p0, OffsetSpec.forTimestamp(Long.MAX_VALUE / 2))).partitionResult(p0).get().offset();
        that(far == -1, "beyond the last", far);
    }

    private static void seek() throws Exception {
        TopicPartition p1 = new TopicPartition(TOPIC, 1);
        try (KafkaConsumer<byte[], byte[]> c = consumer(Map.of("max.poll.records", "1", "fetch.max.bytes", "1"))) {
            c.assign(List.of(p1));
            c.seek(p1, 7);
            List<ConsumerRecord<byte[], byte[]>> got = new ArrayList<>();
            until(() -> !got.isEmpty(), "offset 7", () -> c.poll(Duration.ofMillis(200)).forEach(got::add));
            that(got.get(0).offset() == 7, got);
            OffsetAndTimestamp at = c.offsetsForTimes(Map.of(p1, got.get(0).timestamp())).get(p1);
            that(at != null && at.offset() <= 7 && at.timestamp() >= got.get(0).timestamp(), at);
            that(c.endOffsets(List.of(p1)).get(p1) == written.get(1).size(), "end offset");
        }
    }

    /** One member of a group, driven by its own thread. */
    private static final class Member implements AutoCloseable {
        final Map<Integer, List<String>> got = new ConcurrentSkipListMap<>();
        volatile Set<TopicPartition> assigned = Set.of();
        private volatile boolean stop;
        private volatile Throwable fault;
        private final Thread thread;

        Member(String group, Map<String, String> more) {
            Map<String, String> p = new HashMap<>(Map.of("group.id", group, "session.timeout.ms", "10000", "heartbeat.interval.ms", "500"));
            p.putAll(more);
            thread = new Thread(() -> {
                try (KafkaConsumer<byte[], byte[]> c = consumer(p)) {
                    c.subscribe(List.of(TOPIC));
                    while (!stop) {
                        take(c, got);
                        assigned = c.assignment();
                        commit(c);
                    }
                } catch (Throwable t) {
                    fault = t;
                }
            });
            thread.start();
        }

        private void commit(KafkaConsumer<byte[], byte[]> c) {
            if (assigned.isEmpty()) return;
            try {
                c.commitSync();
            } catch (RebalanceInProgressException e) {
                // A cooperative member learns this way that it has to poll again first.
            }
        }

        @Override public void close() throws Exception {
            stop = true;
            thread.join(30_000);
            if (fault != null) throw new Exception("member", fault);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void group() throws Exception {
        Member a = new Member(GROUP, Map.of());
        until(() -> a.assigned.size() == PARTITIONS, "all to the first member", Clients::pause);
        until(() -> count(a.got) >= total(), "all records", Clients::pause);
        that(a.got.equals(written), "records of the first member");
        Member b = new Member(GROUP, Map.of());
        until(() -> a.assigned.size() + b.assigned.size() == PARTITIONS && !a.assigned.isEmpty() && !b.assigned.isEmpty(),
            "shared", Clients::pause);
        that(Collections.disjoint(a.assigned, b.assigned), a.assigned, b.assigned);
        a.close();
        until(() -> b.assigned.size() == PARTITIONS, "all to the second member", Clients::pause);
        b.close();
        that(b.got.isEmpty(), "read again:", count(b.got));
    }

    private static void cooperative() throws Exception {
        String group = GROUP + "-coop";
        Map<String, String> p = Map.of("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
        try (Member a = new Member(group, p)) {
            until(() -> a.assigned.size() == PARTITIONS, "all to the first member", Clients::pause);
            try (Member b = new Member(group, p)) {
                until(() -> b.assigned.size() == 1 && a.assigned.size() == 2, "shared", Clients::pause);
            }
            until(() -> a.assigned.size() == PARTITIONS, "all back", Clients::pause);
        }
        admin.deleteConsumerGroups(List.of(group)).all().get();
    }

    private static void staticMember() throws Exception {
        String group = GROUP + "-static";
        Map<String, String> p = Map.of("group.instance.id", "one");
        try (Member a = new Member(group, p)) {
            until(() -> a.assigned.size() == PARTITIONS, "assigned", Clients::pause);
        }
        // A static member that closes keeps its place until its session ends.
        ConsumerGroupDescription d = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        that(d.members().size() == 1 && d.members().iterator().next().groupInstanceId().equals(Optional.of("one")), d);
        try (Member a = new Member(group, p)) {
            until(() -> a.assigned.size() == PARTITIONS, "assigned again", Clients::pause);
        }
        admin.removeMembersFromConsumerGroup(group,
            new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("one")))).all().get();
        admin.deleteConsumerGroups(List.of(group)).all().get();
    }

    private static void describeGroup() throws Exception {
        ConsumerGroupDescription d = admin.describeConsumerGroups(List.of(GROUP)).all().get().get(GROUP);
        that(d.groupState() == GroupState.EMPTY && d.type() == GroupType.CLASSIC, d);
        that(admin.listGroups().all().get().stream().anyMatch(g -> g.groupId().equals(GROUP)), "not listed");
        Map<TopicPartition, OffsetAndMetadata> o =
            admin.listConsumerGroupOffsets(GROUP).partitionsToOffsetAndMetadata().get();
        for (TopicPartition p : partitions()) that(o.get(p).offset() == written.get(p.partition()).size(), p, o.get(p));
    }

    private static void resume() throws Exception {
        int before = written.get(2).size();
        try (KafkaProducer<byte[], byte[]> k = new KafkaProducer<>(producer("none"))) {
            for (int i = 0; i < 10; i++) send(k, 2, "resume-" + i);
        }
        Member c = new Member(GROUP, Map.of());
        until(() -> count(c.got) >= 10, "ten more", Clients::pause);
        c.close();
        that(c.got.equals(Map.of(2, written.get(2).subList(before, before + 10))), c.got);
    }

    private static void alterOffsets() throws Exception {
        TopicPartition p0 = new TopicPartition(TOPIC, 0);
        admin.alterConsumerGroupOffsets(GROUP, Map.of(p0, new OffsetAndMetadata(3, "note"))).all().get();
        OffsetAndMetadata o = admin.listConsumerGroupOffsets(GROUP).partitionsToOffsetAndMetadata().get().get(p0);
        that(o.offset() == 3 && o.metadata().equals("note"), o);
        admin.deleteConsumerGroupOffsets(GROUP, Set.of(p0)).all().get();
        that(admin.listConsumerGroupOffsets(GROUP).partitionsToOffsetAndMetadata().get().get(p0) == null, "still there");
    }

    private static void deleteGroup() throws Exception {
        admin.deleteConsumerGroups(List.of(GROUP)).all().get();
        that(admin.listGroups().all().get().stream().noneMatch(g -> g.groupId().equals(GROUP)), "still listed");
        fails(GroupIdNotFoundException.class, admin.deleteConsumerGroups(List.of(GROUP)).all());
    }

    private static void grow() throws Exception {
        admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(PARTITIONS + 2))).all().get();
        fails(InvalidPartitionsException.class, admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(1))).all());
        until(() -> partitionsOf(TOPIC) == PARTITIONS + 2, "the new partitions", Clients::pause);
        try (KafkaProducer<byte[], byte[]> k = new KafkaProducer<>(producer("none"))) {
            that(send(k, PARTITIONS + 1, "new").offset() == 0, "first offset of the new partition");
        }
    }

    private static void deleteTopic() throws Exception {
        admin.deleteTopics(List.of(TOPIC)).all().get();
        until(() -> !listed(TOPIC), "the topic gone", Clients::pause);
        fails(UnknownTopicOrPartitionException.class, admin.deleteTopics(List.of(TOPIC)).all());
    }
}
