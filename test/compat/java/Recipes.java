import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;

/** Curator's recipes against a ZooKeeper server. ARGS: host:port. */
public class Recipes {
    interface Body {
        void run() throws Exception;
    }

    static int passed;
    static int failed;
    static final String ROOT = "/curator-" + Long.toHexString(System.nanoTime());
    static CuratorFramework one;
    static CuratorFramework two;

    static void check(String name, Body body) {
        try {
            body.run();
            passed++;
            System.out.println("ok curator " + name);
        } catch (Throwable t) {
            failed++;
            System.out.println("FAIL curator " + name + ": " + t);
            t.printStackTrace(System.out);
        }
    }

    static void same(Object want, Object got) {
        if (!want.equals(got)) {
            throw new AssertionError("want " + want + ", got " + got);
        }
    }

    static void until(String what, BooleanSupplier done) throws Exception {
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60); !done.getAsBoolean(); Thread.sleep(10)) {
            if (System.nanoTime() > end) {
                throw new AssertionError("in vain: " + what);
            }
        }
    }

    static CuratorFramework connect(String address) throws Exception {
        CuratorFramework c = CuratorFrameworkFactory.newClient(address, 10000, 10000, new RetryNTimes(5, 200));
        c.start();
        if (!c.blockUntilConnected(60, TimeUnit.SECONDS)) {
            throw new AssertionError("no session");
        }
        return c;
    }

    public static void main(String[] args) throws Exception {
        one = connect(args[0]);
        two = connect(args[0]);
        check("lock", () -> lock(args[0]));
        check("read-write lock", Recipes::readWriteLock);
        check("semaphore", Recipes::semaphore);
        check("leader latch", () -> leader(args[0]));
        check("shared counter", Recipes::counter);
        check("atomic long", Recipes::atomicLong);
        check("queue", Recipes::queue);
        check("cache", Recipes::cache);
        check("double barrier", Recipes::barrier);
        check("group membership", Recipes::members);
        check("transactions, protected and container nodes", Recipes::nodes);
        one.close();
        two.close();
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    static void lock(String address) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        AtomicInteger turns = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            CuratorFramework c = i % 2 == 0 ? one : two;
            Thread t = new Thread(() -> {
                InterProcessMutex mutex = new InterProcessMutex(c, ROOT + "/lock");
                for (int n = 0; n < 25; n++) {
                    try {
                        mutex.acquire();
                        wrong.addAndGet(inside.incrementAndGet() == 1 ? 0 : 1);
                        turns.incrementAndGet();
                        inside.decrementAndGet();
                        mutex.release();
                    } catch (Exception e) {
                        wrong.incrementAndGet();
                    }
                }
            });
            t.start();
            threads.add(t);
        }
        for (Thread t : threads) {
            t.join(120000);
        }
        same(0, wrong.get());
        same(100, turns.get());
        // The lock of somebody whose session ends is free again.
        CuratorFramework gone = connect(address);
        new InterProcessMutex(gone, ROOT + "/lock").acquire();
        InterProcessMutex mine = new InterProcessMutex(one, ROOT + "/lock");
        same(false, mine.acquire(100, TimeUnit.MILLISECONDS));
        gone.close();
        same(true, mine.acquire(60, TimeUnit.SECONDS));
        mine.release();
    }

    static void readWriteLock() throws Exception {
        InterProcessReadWriteLock a = new InterProcessReadWriteLock(one, ROOT + "/rw");
        InterProcessReadWriteLock b = new InterProcessReadWriteLock(two, ROOT + "/rw");
        a.readLock().acquire();
        same(true, b.readLock().acquire(30, TimeUnit.SECONDS));
        b.readLock().release();
        same(false, b.writeLock().acquire(100, TimeUnit.MILLISECONDS));
        a.readLock().release();
        same(true, b.writeLock().acquire(30, TimeUnit.SECONDS));
        b.writeLock().release();
    }

    static void semaphore() throws Exception {
        InterProcessSemaphoreV2 a = new InterProcessSemaphoreV2(one, ROOT + "/sem", 2);
        InterProcessSemaphoreV2 b = new InterProcessSemaphoreV2(two, ROOT + "/sem", 2);
        var first = a.acquire();
        var second = b.acquire();
        same(true, b.acquire(100, TimeUnit.MILLISECONDS) == null);
        a.returnLease(first);
        var third = b.acquire(30, TimeUnit.SECONDS);
        same(true, third != null);
        b.returnLease(second);
        b.returnLease(third);
    }

    static void leader(String address) throws Exception {
        CuratorFramework mortal = connect(address);
        LeaderLatch first = new LeaderLatch(mortal, ROOT + "/latch", "first");
        first.start();
        same(true, first.await(30, TimeUnit.SECONDS));
        LeaderLatch second = new LeaderLatch(two, ROOT + "/latch", "second");
        second.start();
        until("two participants", () -> {
            try {
                return second.getParticipants().size() == 2;
            } catch (Exception e) {
                return false;
            }
        });
        same(false, second.hasLeadership());
        same("first", second.getLeader().getId());
        mortal.close();
        same(true, second.await(60, TimeUnit.SECONDS));
        second.close();
    }

    static void counter() throws Exception {
        SharedCount a = new SharedCount(one, ROOT + "/count", 7);
        SharedCount b = new SharedCount(two, ROOT + "/count", 0);
        a.start();
        b.start();
        until("the counter's start", () -> b.getCount() == 7);
        same(true, a.trySetCount(a.getVersionedValue(), 8));
        until("the counter's change", () -> b.getCount() == 8);
        a.close();
        b.close();
    }

    static void atomicLong() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (CuratorFramework c : List.of(one, two)) {
            Thread t = new Thread(() -> {
                DistributedAtomicLong n = new DistributedAtomicLong(c, ROOT + "/long", new RetryNTimes(1000, 1));
                for (int i = 0; i < 50; i++) {
                    try {
                        if (!n.increment().succeeded()) {
                            return;
                        }
                    } catch (Exception e) {
                        return;
                    }
                }
            });
            t.start();
            threads.add(t);
        }
        for (Thread t : threads) {
            t.join(120000);
        }
        same(100L, new DistributedAtomicLong(one, ROOT + "/long", new RetryNTimes(5, 10)).get().postValue());
    }

    static void queue() throws Exception {
        SimpleDistributedQueue in = new SimpleDistributedQueue(one, ROOT + "/queue");
        SimpleDistributedQueue out = new SimpleDistributedQueue(two, ROOT + "/queue");
        for (int i = 0; i < 20; i++) {
            in.offer(("" + i).getBytes(StandardCharsets.UTF_8));
        }
        for (int i = 0; i < 20; i++) {
            same("" + i, new String(out.take(), StandardCharsets.UTF_8));
        }
        same(true, out.poll(50, TimeUnit.MILLISECONDS) == null);
    }

    static void cache() throws Exception {
        LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
        CountDownLatch ready = new CountDownLatch(1);
        one.create().creatingParentsIfNeeded().forPath(ROOT + "/cache/a", "1".getBytes());
        CuratorCache cache = CuratorCache.build(two, ROOT + "/cache");
        cache.listenable().addListener(CuratorCacheListener.builder()
            .forInitialized(ready::countDown)
            .forAll((type, old, now) -> seen.add(type + " " + (now == null ? old : now).getPath().substring(ROOT.length())))
            .build());
        cache.start();
        same(true, ready.await(60, TimeUnit.SECONDS));
        until("the first nodes", () -> seen.size() == 2);
        seen.clear();
        one.setData().forPath(ROOT + "/cache/a", "2".getBytes());
        same("NODE_CHANGED /cache/a", seen.poll(60, TimeUnit.SECONDS));
        one.create().forPath(ROOT + "/cache/a/b");
        same("NODE_CREATED /cache/a/b", seen.poll(60, TimeUnit.SECONDS));
        one.delete().forPath(ROOT + "/cache/a/b");
        same("NODE_DELETED /cache/a/b", seen.poll(60, TimeUnit.SECONDS));
        same("2", new String(cache.get(ROOT + "/cache/a").get().getData()));
        cache.close();
    }

    static void barrier() throws Exception {
        AtomicInteger entered = new AtomicInteger();
        Thread t = new Thread(() -> {
            try {
                DistributedDoubleBarrier b = new DistributedDoubleBarrier(two, ROOT + "/barrier", 2);
                b.enter();
                entered.incrementAndGet();
                b.leave();
            } catch (Exception e) {
                entered.set(-100);
            }
        });
        t.start();
        DistributedDoubleBarrier b = new DistributedDoubleBarrier(one, ROOT + "/barrier", 2);
        same(true, b.enter(60, TimeUnit.SECONDS));
        same(true, b.leave(60, TimeUnit.SECONDS));
        t.join(60000);
        same(1, entered.get());
    }

    static void members() throws Exception {
        GroupMember a = new GroupMember(one, ROOT + "/group", "a");
        GroupMember b = new GroupMember(two, ROOT + "/group", "b");
        a.start();
        b.start();
        until("two members", () -> a.getCurrentMembers().size() == 2 && b.getCurrentMembers().size() == 2);
        b.close();
        until("one member", () -> a.getCurrentMembers().size() == 1);
        a.close();
    }

    static void nodes() throws Exception {
        List<CuratorOp> ops = List.of(
            one.transactionOp().create().forPath(ROOT + "/tx", "1".getBytes()),
            one.transactionOp().setData().withVersion(0).forPath(ROOT + "/tx", "2".getBytes()),
            one.transactionOp().check().withVersion(1).forPath(ROOT + "/tx"));
        same(3, one.transaction().forOperations(ops).size());
        String path = one.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(ROOT + "/p-");
        same(true, two.checkExists().forPath(path) != null);
        one.create().withTtl(60000).creatingParentContainersIfNeeded().withMode(CreateMode.PERSISTENT_WITH_TTL)
            .forPath(ROOT + "/parents/ttl");
        PersistentNode kept = new PersistentNode(one, CreateMode.EPHEMERAL, false, ROOT + "/kept", "x".getBytes());
        kept.start();
        same(true, kept.waitForInitialCreate(60, TimeUnit.SECONDS));
        two.delete().forPath(ROOT + "/kept");
        until("the node's return", () -> {
            try {
                return two.checkExists().forPath(ROOT + "/kept") != null;
            } catch (Exception e) {
                return false;
            }
        });
        kept.close();
        two.delete().deletingChildrenIfNeeded().forPath(ROOT);
        same(true, one.checkExists().forPath(ROOT) == null);
    }
}
