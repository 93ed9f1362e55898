import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.*;

/**
 * Apache's Java consumers in groups of the consumer protocol (KIP-848), alone and mixed with members of the classic
 * protocol while they are rolled from one to the other and back. Argument: host:port.
 */
public final class Groups {
    private static final String RUN = Long.toHexString(System.nanoTime());
    private static final int PARTITIONS = 6;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** No record may wait longer than this for somebody to read it, whatever members come and go. */
    private static final Duration STALL = Duration.ofSeconds(45);

    private interface Body { void run() throws Exception; }

    private static int passed;
    private static int failed;
    private static String bootstrap;
    private static Admin admin;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
        check("two members share, one leaves", Groups::share);
        check("a static member comes back to what it had", Groups::fixed);
        check("a subscription by expression sees new topics", Groups::pattern);
        check("the range assignor", Groups::range);
        check("group configs", Groups::configs);
        check("members roll to the new protocol and back", Groups::roll);
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

    private static void until(Callable<Boolean> done, String what) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!done.call()) {
            that(System.nanoTime() < end, "in vain:", what);
            Thread.sleep(50);
        }
    }

    private static void create(String topic, int partitions) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
    }

    private static ConsumerGroupDescription described(String group) throws Exception {
        return admin.describeConsumerGroups(List.of(group)).all().get().get(group);
    }

    /** What all members together have read and committed: the ledger of one group. */
    private static final class Ledger {
        final ConcurrentMap<TopicPartition, Long> committed = new ConcurrentHashMap<>();
        final ConcurrentMap<TopicPartition, Set<Long>> read = new ConcurrentHashMap<>();
        final Queue<String> wrong = new ConcurrentLinkedQueue<>();
        final AtomicLong longest = new AtomicLong();
        final AtomicInteger count = new AtomicInteger();

        void take(ConsumerRecord<String, String> r, String who) {
            TopicPartition tp = new TopicPartition(r.topic(), r.partition());
            if (r.offset() < committed.getOrDefault(tp, 0L)) wrong.add(who + " read " + tp + "@" + r.offset() + " again");
            if (read.computeIfAbsent(tp, k -> ConcurrentHashMap.newKeySet()).add(r.offset())) count.incrementAndGet();
            longest.accumulateAndGet(System.currentTimeMillis() - r.timestamp(), Math::max);
        }
    }

    private static final class Member implements AutoCloseable {
        final KafkaConsumer<String, String> consumer;
        final Ledger ledger;
        final String name;
        final Thread thread;
        volatile boolean stop;
        volatile Throwable error;
        volatile Set<TopicPartition> assigned = Set.of();

        Member(String name, String group, Ledger ledger, Consumer subscribe, Map<String, String> more) {
            Properties p = new Properties();
            p.put("bootstrap.servers", bootstrap);
            p.put("group.id", group);
            p.put("client.id", name);
            p.put("auto.offset.reset", "earliest");
            p.put("enable.auto.commit", "false");
            p.putAll(more);
            this.name = name;
            this.ledger = ledger;
            consumer = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer());
            subscribe.to(consumer);
            thread = new Thread(this::run, name);
            thread.start();
        }

        interface Consumer { void to(KafkaConsumer<String, String> c); }

        void run() {
            try {
                while (!stop) {
                    ConsumerRecords<String, String> rs = consumer.poll(Duration.ofMillis(100));
                    assigned = Set.copyOf(consumer.assignment());
                    for (ConsumerRecord<String, String> r : rs) ledger.take(r, name);
                    if (!rs.isEmpty()) commit(rs);
                }
            } catch (Throwable t) {
                error = t;
                t.printStackTrace(System.out);
            } finally {
                consumer.close(CloseOptions.timeout(Duration.ofSeconds(20)));
            }
        }

        /** What a rebalance takes away before it is committed, somebody else may read again: that is no duplicate. */
        void commit(ConsumerRecords<String, String> rs) {
            try {
                consumer.commitSync();
            } catch (CommitFailedException | org.apache.kafka.common.errors.RebalanceInProgressException e) {
                return;
            }
            for (TopicPartition tp : rs.partitions()) {
                if (!consumer.assignment().contains(tp)) continue;
                List<ConsumerRecord<String, String>> of = rs.records(tp);
                ledger.committed.merge(tp, of.get(of.size() - 1).offset() + 1, Math::max);
            }
        }

        @Override public void close() throws Exception {
            stop = true;
            thread.join(40_000);
            that(!thread.isAlive(), name, "doesn't end");
            that(error == null, name, error);
        }
    }

    private static Map<String, String> modern(String... more) {
        Map<String, String> m = new HashMap<>(Map.of("group.protocol", "consumer"));
        for (int i = 0; i < more.length; i += 2) m.put(more[i], more[i + 1]);
        return m;
    }

    private static void produce(String topic, int n) throws Exception {
        try (KafkaProducer<String, String> p = producer()) {
            for (int i = 0; i < n; i++) p.send(new ProducerRecord<>(topic, "k" + i, "v" + i));
            p.flush();
        }
    }

    private static KafkaProducer<String, String> producer() {
        return new KafkaProducer<>(Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new StringSerializer());
    }

    private static void share() throws Exception {
        String topic = "share-" + RUN;
        create(topic, PARTITIONS);
        produce(topic, 300);
        Ledger l = new Ledger();
        Member a = new Member("a", topic, l, c -> c.subscribe(List.of(topic)), modern());
        until(() -> a.assigned.size() == PARTITIONS && l.count.get() == 300, "all to the first");
        Member b = new Member("b", topic, l, c -> c.subscribe(List.of(topic)), modern());
        until(() -> a.assigned.size() == 3 && b.assigned.size() == 3, "half to each");
        that(Collections.disjoint(a.assigned, b.assigned), a.assigned, b.assigned);
        ConsumerGroupDescription d = described(topic);
        that(d.type() == GroupType.CONSUMER && d.members().size() == 2 && d.groupState() == GroupState.STABLE
            && d.partitionAssignor().equals("uniform"), d);
        a.close();
        produce(topic, 100);
        until(() -> b.assigned.size() == PARTITIONS && l.count.get() == 400, "all to the second");
        b.close();
        that(l.wrong.isEmpty(), l.wrong);
        admin.deleteConsumerGroups(List.of(topic)).all().get();
    }

    private static void fixed() throws Exception {
        String topic = "fixed-" + RUN;
        create(topic, PARTITIONS);
        Ledger l = new Ledger();
        Member b = new Member("b", topic, l, c -> c.subscribe(List.of(topic)), modern());
        Member a = new Member("a", topic, l, c -> c.subscribe(List.of(topic)), modern("group.instance.id", "one"));
        until(() -> a.assigned.size() == 3 && b.assigned.size() == 3, "half to each");
        Set<TopicPartition> had = a.assigned;
        a.close();
        Thread.sleep(1000);
        that(b.assigned.size() == 3, "a static member's partitions were given away");
        Member again = new Member("again", topic, l, c -> c.subscribe(List.of(topic)), modern("group.instance.id", "one"));
        until(() -> again.assigned.equals(had), "the same again");
        again.close();
        b.close();
        admin.removeMembersFromConsumerGroup(topic,
            new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("one")))).all().get();
        admin.deleteConsumerGroups(List.of(topic)).all().get();
    }

    private static void pattern() throws Exception {
        String prefix = "pattern-" + RUN + "-";
        create(prefix + "one", 2);
        Ledger l = new Ledger();
        try (Member a = new Member("a", prefix, l, c -> c.subscribe(new SubscriptionPattern(prefix + ".*")), modern())) {
            until(() -> a.assigned.size() == 2, "the topic that is there");
            create(prefix + "two", 3);
            until(() -> a.assigned.size() == 5, "the new topic too");
            produce(prefix + "two", 10);
            until(() -> l.count.get() == 10, "its records");
        }
    }

    private static void range() throws Exception {
        String x = "range-x-" + RUN;
        String y = "range-y-" + RUN;
        create(x, 4);
        create(y, 4);
        Ledger l = new Ledger();
        Map<String, String> p = modern("group.remote.assignor", "range");
        try (Member a = new Member("a", x, l, c -> c.subscribe(List.of(x, y)), p);
            Member b = new Member("b", x, l, c -> c.subscribe(List.of(x, y)), p)) {
            until(() -> a.assigned.size() == 4 && b.assigned.size() == 4, "half to each");
            for (Member m : List.of(a, b)) {
                that(numbers(m, x).equals(numbers(m, y)), "not alike:", m.assigned);
            }
        }
    }

    private static Set<Integer> numbers(Member m, String topic) {
        return m.assigned.stream().filter(tp -> tp.topic().equals(topic)).map(TopicPartition::partition)
            .collect(Collectors.toSet());
    }

    private static void configs() throws Exception {
        ConfigResource r = new ConfigResource(ConfigResource.Type.GROUP, "configs-" + RUN);
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry("consumer.session.timeout.ms", "50000"), AlterConfigOp.OpType.SET);
        admin.incrementalAlterConfigs(Map.of(r, List.of(set))).all().get();
        until(() -> admin.describeConfigs(List.of(r)).all().get().get(r).get("consumer.session.timeout.ms").value()
            .equals("50000"), "the group's own time");
    }

    /** Classic members become new ones, one at a time, and then the other way, while records keep coming. */
    private static void roll() throws Exception {
        String topic = "roll-" + RUN;
        create(topic, PARTITIONS);
        Ledger l = new Ledger();
        AtomicBoolean enough = new AtomicBoolean();
        AtomicInteger sent = new AtomicInteger();
        Thread source = new Thread(() -> {
            try (KafkaProducer<String, String> p = producer()) {
                while (!enough.get()) {
                    p.send(new ProducerRecord<>(topic, "k" + sent.get(), "v")).get();
                    sent.incrementAndGet();
                    Thread.sleep(5);
                }
            } catch (Exception e) {
                l.wrong.add("producer: " + e);
            }
        });
        Map<String, String> eager = Map.of("group.protocol", "classic");
        Map<String, String> cooperative = Map.of("group.protocol", "classic",
            "partition.assignment.strategy", CooperativeStickyAssignor.class.getName() + "," + RangeAssignor.class.getName());
        for (Map<String, String> classic : List.of(eager, cooperative)) {
            if (classic == eager) source.start();
            Deque<Member> ms = new ArrayDeque<>();
            for (int i = 0; i < 3; i++) ms.add(join(ms.size(), topic, l, classic));
            balanced(ms, "classic");
            that(described(topic).type() == GroupType.CLASSIC, described(topic));
            for (int i = 0; i < 3; i++) step(ms, topic, l, modern(), "up " + i);
            that(described(topic).type() == GroupType.CONSUMER, described(topic));
            for (int i = 0; i < 3; i++) step(ms, topic, l, classic, "down " + i);
            that(described(topic).type() == GroupType.CLASSIC, described(topic));
            for (Member m : ms) m.close();
        }
        enough.set(true);
        source.join();
        Member last = join(9, topic, l, modern());
        until(() -> l.count.get() == sent.get(), "all " + sent.get() + " records, not " + l.count.get());
        last.close();
        that(l.wrong.isEmpty(), l.wrong);
        that(l.longest.get() < STALL.toMillis(), "a record waited for", l.longest.get(), "ms");
        System.out.println("   " + sent.get() + " records, the slowest took " + l.longest.get() + " ms");
    }

    private static final AtomicInteger serial = new AtomicInteger();

    private static Member join(int i, String topic, Ledger l, Map<String, String> how) {
        return new Member("m" + serial.incrementAndGet(), topic, l, c -> c.subscribe(List.of(topic)), how);
    }

    private static void step(Deque<Member> ms, String topic, Ledger l, Map<String, String> how, String what) throws Exception {
        ms.poll().close();
        ms.add(join(ms.size(), topic, l, how));
        balanced(ms, what);
    }

    private static void balanced(Collection<Member> ms, String what) throws Exception {
        until(() -> {
            for (Member m : ms) that(m.error == null, what, m.name, m.error);
            Set<TopicPartition> all = new HashSet<>();
            for (Member m : ms) all.addAll(m.assigned);
            return all.size() == PARTITIONS && ms.stream().allMatch(m -> m.assigned.size() == PARTITIONS / ms.size());
        }, what);
    }
}
