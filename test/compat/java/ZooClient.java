import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeperMain;
import org.apache.zookeeper.data.Stat;

/** Apache's own Java client against a ZooKeeper server: every request that it has. ARGS: host:port. */
public class ZooClient {
    interface Body {
        void run() throws Exception;
    }

    static int passed;
    static int failed;
    static String address;
    static final String ROOT = "/java-" + Long.toHexString(System.nanoTime());
    static final List<org.apache.zookeeper.data.ACL> OPEN = ZooDefs.Ids.OPEN_ACL_UNSAFE;

    static void check(String name, Body body) {
        try {
            body.run();
            passed++;
            System.out.println("ok java " + name);
        } catch (Throwable t) {
            failed++;
            System.out.println("FAIL java " + name + ": " + t);
            t.printStackTrace(System.out);
        }
    }

    static void same(Object want, Object got) {
        if (!want.equals(got)) {
            throw new AssertionError("want " + want + ", got " + got);
        }
    }

    static void refused(KeeperException.Code code, Body body) throws Exception {
        try {
            body.run();
        } catch (KeeperException e) {
            same(code, e.code());
            return;
        }
        throw new AssertionError(code + " expected");
    }

    static final LinkedBlockingQueue<WatchedEvent> NONE = new LinkedBlockingQueue<>();

    static ZooKeeper connect(LinkedBlockingQueue<WatchedEvent> events) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zk = new ZooKeeper(address, 10000, e -> {
            if (e.getType() == Watcher.Event.EventType.None) {
                if (e.getState() == Watcher.Event.KeeperState.SyncConnected) {
                    connected.countDown();
                }
            } else {
                events.add(e);
            }
        });
        if (!connected.await(60, TimeUnit.SECONDS)) {
            throw new AssertionError("no session");
        }
        return zk;
    }

    static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.UTF_8);
    }

    static String next(LinkedBlockingQueue<WatchedEvent> events) throws Exception {
        WatchedEvent e = events.poll(60, TimeUnit.SECONDS);
        return e == null ? "nothing" : e.getType() + " " + e.getPath().substring(ROOT.length());
    }

    public static void main(String[] args) throws Exception {
        address = args[0];
        ZooKeeper zk = connect(NONE);
        zk.create(ROOT, null, OPEN, CreateMode.PERSISTENT);
        check("nodes", () -> nodes(zk));
        check("kinds of nodes", () -> kinds(zk));
        check("watches", () -> watches(zk));
        check("multi", () -> multi(zk));
        check("access lists", () -> access(zk));
        check("asynchronous requests", () -> async(zk));
        check("a session that moves to another connection", () -> resume());
        check("watches after a reconnection", () -> reconnect());
        check("ZooKeeperMain", ZooClient::shell);
        check("the end of a session", () -> {
            zk.close();
            same(ZooKeeper.States.CLOSED, zk.getState());
        });
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    static void nodes(ZooKeeper zk) throws Exception {
        String path = ROOT + "/n";
        Stat made = new Stat();
        same(path, zk.create(path, bytes("one"), OPEN, CreateMode.PERSISTENT, made));
        same(3, made.getDataLength());
        refused(KeeperException.Code.NODEEXISTS, () -> zk.create(path, null, OPEN, CreateMode.PERSISTENT));
        Stat stat = new Stat();
        same("one", new String(zk.getData(path, false, stat), StandardCharsets.UTF_8));
        same(made, stat);
        same(1, zk.setData(path, bytes("two"), 0).getVersion());
        refused(KeeperException.Code.BADVERSION, () -> zk.setData(path, null, 0));
        zk.create(path + "/c", null, OPEN, CreateMode.PERSISTENT);
        same(List.of("c"), zk.getChildren(path, false, stat));
        same(1, stat.getNumChildren());
        same(1, zk.getAllChildrenNumber(path));
        refused(KeeperException.Code.NOTEMPTY, () -> zk.delete(path, -1));
        zk.delete(path + "/c", 0);
        zk.delete(path, -1);
        same(true, zk.exists(path, false) == null);
        refused(KeeperException.Code.NONODE, () -> zk.getData(path, false, null));
        refused(KeeperException.Code.NONODE, () -> zk.create(path + "/x", null, OPEN, CreateMode.PERSISTENT));
        same(true, zk.getConfig(false, stat) != null);
    }

    static void kinds(ZooKeeper zk) throws Exception {
        String seq = zk.create(ROOT + "/s-", null, OPEN, CreateMode.PERSISTENT_SEQUENTIAL);
        String seq2 = zk.create(ROOT + "/s-", null, OPEN, CreateMode.EPHEMERAL_SEQUENTIAL);
        same(Integer.parseInt(seq.substring(seq.length() - 10)) + 1, Integer.parseInt(seq2.substring(seq2.length() - 10)));
        same(zk.getSessionId(), zk.exists(seq2, false).getEphemeralOwner());
        same(List.of(seq2), zk.getEphemerals(ROOT));
        refused(KeeperException.Code.NOCHILDRENFOREPHEMERALS, () -> zk.create(seq2 + "/c", null, OPEN, CreateMode.PERSISTENT));
        zk.create(ROOT + "/container", null, OPEN, CreateMode.CONTAINER);
        Stat stat = new Stat();
        zk.create(ROOT + "/ttl", null, OPEN, CreateMode.PERSISTENT_WITH_TTL, stat, 60000);
        same(0L, stat.getEphemeralOwner()); // its kind is nobody's business outside
        zk.delete(seq2, -1);
    }

    static void watches(ZooKeeper writer) throws Exception {
        LinkedBlockingQueue<WatchedEvent> events = new LinkedBlockingQueue<>();
        ZooKeeper zk = connect(events);
        String path = ROOT + "/w";
        zk.exists(path, true);
        writer.create(path, null, OPEN, CreateMode.PERSISTENT);
        same("NodeCreated /w", next(events));
        zk.getData(path, true, null);
        zk.getChildren(path, true);
        writer.setData(path, bytes("x"), -1);
        writer.create(path + "/c", null, OPEN, CreateMode.PERSISTENT);
        same("NodeDataChanged /w", next(events));
        same("NodeChildrenChanged /w", next(events));
        zk.addWatch(path, AddWatchMode.PERSISTENT_RECURSIVE);
        for (int i = 0; i < 3; i++) {
            writer.setData(path + "/c", bytes("x" + i), -1);
            same("NodeDataChanged /w/c", next(events));
        }
        writer.delete(path + "/c", -1);
        same("NodeDeleted /w/c", next(events));
        zk.removeAllWatches(path, Watcher.WatcherType.Any, false);
        same("PersistentWatchRemoved /w", next(events));
        writer.setData(path, null, -1);
        zk.sync(path, (rc, p, ctx) -> events.add(new WatchedEvent(Watcher.Event.EventType.None, null, p + rc)), null);
        same("None /w0", next(events));
        refused(KeeperException.Code.NOWATCHER, () -> zk.removeAllWatches(path, Watcher.WatcherType.Any, false));
        zk.close();
    }

    static void multi(ZooKeeper zk) throws Exception {
        List<OpResult> results = zk.multi(Arrays.asList(
            Op.create(ROOT + "/m", null, OPEN, CreateMode.PERSISTENT),
            Op.check(ROOT + "/m", 0),
            Op.setData(ROOT + "/m", bytes("1"), 0),
            Op.create(ROOT + "/m/c", null, OPEN, CreateMode.PERSISTENT),
            Op.delete(ROOT + "/m/c", -1)));
        same(5, results.size());
        same(1, ((OpResult.SetDataResult) results.get(2)).getStat().getVersion());
        try {
            zk.multi(Arrays.asList(Op.delete(ROOT + "/m", -1), Op.delete(ROOT + "/none", -1)));
            throw new AssertionError("a refusal expected");
        } catch (KeeperException.NoNodeException e) {
            same(KeeperException.Code.NONODE.intValue(), ((OpResult.ErrorResult) e.getResults().get(1)).getErr());
        }
        same(true, zk.exists(ROOT + "/m", false) != null);
        results = zk.multi(Arrays.asList(Op.getData(ROOT + "/m"), Op.getChildren(ROOT), Op.getData(ROOT + "/none")));
        same("1", new String(((OpResult.GetDataResult) results.get(0)).getData(), StandardCharsets.UTF_8));
        same(KeeperException.Code.NONODE.intValue(), ((OpResult.ErrorResult) results.get(2)).getErr());
    }

    static void access(ZooKeeper other) throws Exception {
        ZooKeeper zk = connect(NONE);
        zk.addAuthInfo("digest", bytes("user:secret"));
        zk.create(ROOT + "/acl", bytes("x"), ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        refused(KeeperException.Code.NOAUTH, () -> other.getData(ROOT + "/acl", false, null));
        same("digest", zk.getACL(ROOT + "/acl", new Stat()).get(0).getId().getScheme());
        same(2, zk.whoAmI().size());
        same(1, zk.setACL(ROOT + "/acl", ZooDefs.Ids.READ_ACL_UNSAFE, 0).getAversion());
        same("x", new String(other.getData(ROOT + "/acl", false, null), StandardCharsets.UTF_8));
        refused(KeeperException.Code.NOAUTH, () -> other.setData(ROOT + "/acl", null, -1));
        refused(KeeperException.Code.INVALIDACL, () -> zk.create(ROOT + "/bad", null, List.of(), CreateMode.PERSISTENT));
        zk.close();
    }

    static void async(ZooKeeper zk) throws Exception {
        int n = 1000;
        CountDownLatch done = new CountDownLatch(2 * n);
        AtomicInteger wrong = new AtomicInteger();
        List<String> made = new ArrayList<>();
        zk.create(ROOT + "/async", null, OPEN, CreateMode.PERSISTENT);
        for (int i = 0; i < n; i++) {
            zk.create(ROOT + "/async/", null, OPEN, CreateMode.PERSISTENT_SEQUENTIAL, (rc, path, ctx, name) -> {
                made.add(name);
                wrong.addAndGet(rc == 0 ? 0 : 1);
                done.countDown();
            }, null);
            zk.getChildren(ROOT + "/async", false, (rc, path, ctx, names, stat) -> {
                wrong.addAndGet(rc == 0 && names.size() == made.size() ? 0 : 1);
                done.countDown();
            }, null);
        }
        same(true, done.await(120, TimeUnit.SECONDS));
        same(0, wrong.get());
        List<String> sorted = new ArrayList<>(made);
        sorted.sort(null);
        same(sorted, made);
    }

    static void resume() throws Exception {
        ZooKeeper zk = connect(NONE);
        zk.create(ROOT + "/mine", null, OPEN, CreateMode.EPHEMERAL);
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper again = new ZooKeeper(address, 10000, e -> connected.countDown(), zk.getSessionId(), zk.getSessionPasswd());
        same(true, connected.await(60, TimeUnit.SECONDS));
        same(zk.getSessionId(), again.exists(ROOT + "/mine", false).getEphemeralOwner());
        again.close();
        ZooKeeper third = connect(NONE);
        same(true, third.exists(ROOT + "/mine", false) == null);
        third.close();
        zk.close();
    }

    static void reconnect() throws Exception {
        LinkedBlockingQueue<WatchedEvent> events = new LinkedBlockingQueue<>();
        ZooKeeper zk = connect(events);
        ZooKeeper writer = connect(NONE);
        String path = ROOT + "/r";
        writer.create(path, null, OPEN, CreateMode.PERSISTENT);
        zk.getData(path, true, null);
        zk.addWatch(ROOT + "/r2", AddWatchMode.PERSISTENT);
        long session = zk.getSessionId();
        zk.getTestable().injectSessionExpiration();
        zk.close();
        LinkedBlockingQueue<WatchedEvent> later = new LinkedBlockingQueue<>();
        ZooKeeper fresh = connect(later);
        same(false, session == fresh.getSessionId());
        fresh.exists(ROOT + "/r2", true);
        writer.create(ROOT + "/r2", null, OPEN, CreateMode.PERSISTENT);
        same("NodeCreated /r2", next(later));
        fresh.close();
        writer.close();
    }

    /** Apache's shell, as one command after another in this process. */
    static void shell() throws Exception {
        PrintStream out = System.out;
        ByteArrayOutputStream seen = new ByteArrayOutputStream(); // the shell's commands keep the first stream they see
        PrintStream into = new PrintStream(seen, true);
        for (String[] c : new String[][] {
            {"create " + ROOT + "/cli hello", ""}, {"get " + ROOT + "/cli", "hello"}, {"ls " + ROOT + "/cli", "[]"},
            {"sync " + ROOT + "/cli", "Sync is OK"}, {"whoami", "ip: "}, {"getAcl " + ROOT + "/cli", ": cdrwa"},
            {"setquota -n 5 " + ROOT + "/cli", ""}, {"listquota " + ROOT + "/cli", "count=5,bytes=-1"},
            {"stat " + ROOT + "/cli", "dataLength = 5"}, {"deleteall " + ROOT + "/cli", ""},
        }) {
            seen.reset();
            System.setOut(into);
            try {
                ZooKeeperMain main = new ZooKeeperMain(new String[] {"-server", address, "-waitforconnection"});
                main.executeLine(c[0]);
                main.executeLine("close");
            } finally {
                System.setOut(out);
            }
            if (!seen.toString().contains(c[1])) {
                throw new AssertionError(c[0] + " printed " + seen);
            }
        }
    }
}
