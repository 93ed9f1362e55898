"""kazoo against a ZooKeeper server: nodes, versions, ACLs, watches, transactions, and its recipes."""

import os
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NoAuthError, NodeExistsError, NoNodeError, NotEmptyError
from kazoo.protocol.states import KazooState
from kazoo.security import make_digest_acl

from suite import RUN, check, finish, until

ADDRESS = os.environ["ZOOKEEPER"]
ROOT = "/kazoo-" + RUN


def client(**options):
    c = KazooClient(hosts=ADDRESS, timeout=10, **options)
    c.start(timeout=60)
    return c


def refused(error, call, *args, **options):
    try:
        call(*args, **options)
    except error:
        return
    raise AssertionError(f"{error.__name__} expected")


zk = client()
other = client()
zk.ensure_path(ROOT)


def nodes():
    path = ROOT + "/n"
    assert zk.create(path, b"one") == path
    refused(NodeExistsError, zk.create, path)
    data, stat = zk.get(path)
    assert data == b"one" and stat.version == 0 and stat.dataLength == 3
    stat = zk.set(path, b"three", version=0)
    assert stat.version == 1
    refused(BadVersionError, zk.set, path, b"x", version=0)
    zk.create(path + "/child", b"")
    refused(NotEmptyError, zk.delete, path)
    assert zk.get_children(path) == ["child"]
    zk.delete(path, recursive=True)
    assert zk.exists(path) is None
    refused(NoNodeError, zk.get, path)


def sequential():
    names = [zk.create(ROOT + "/s-", sequence=True, ephemeral=True) for _ in range(5)]
    assert names == sorted(names)
    assert [int(n[-10:]) for n in names] == list(range(int(names[0][-10:]), int(names[0][-10:]) + 5))


def ephemeral():
    c = client()
    path = c.create(ROOT + "/e", ephemeral=True)
    assert other.exists(path).ephemeralOwner == c.client_id[0]
    c.stop()
    until(lambda: other.exists(path) is None, "the node of a closed session to go")


def watch():
    path = ROOT + "/w"
    zk.create(path, b"")
    seen = []
    assert other.get(path, watch=seen.append)[0] == b""
    zk.set(path, b"1")
    until(lambda: len(seen) == 1, "a data watch")
    assert seen[0].type == "CHANGED" and seen[0].path == path
    values = []
    other.DataWatch(path, lambda data, stat: values.append(data))
    children = []
    other.ChildrenWatch(path, lambda names: children.append(sorted(names)))
    zk.set(path, b"2")
    zk.create(path + "/a")
    until(lambda: values[-1] == b"2" and children[-1] == ["a"], "kazoo's own watchers")


def transaction():
    t = zk.transaction()
    t.create(ROOT + "/t1", b"1")
    t.create(ROOT + "/t2", b"2")
    t.check(ROOT + "/t1", 0)
    t.set_data(ROOT + "/t1", b"3")
    t.delete(ROOT + "/t2")
    results = t.commit()
    assert results[0] == ROOT + "/t1" and results[3].version == 1 and results[4] is True, results
    t = zk.transaction()
    t.create(ROOT + "/t3", b"")
    t.delete(ROOT + "/none")
    results = t.commit()
    assert isinstance(results[1], NoNodeError), results
    assert zk.exists(ROOT + "/t3") is None


def access():
    acl = [make_digest_acl("user", "secret", all=True)]
    zk.create(ROOT + "/acl", b"hidden", acl=acl)
    refused(NoAuthError, zk.get, ROOT + "/acl")
    c = client(auth_data=[("digest", "user:secret")])
    assert c.get(ROOT + "/acl")[0] == b"hidden"
    assert c.get_acls(ROOT + "/acl")[0][0].id.scheme == "digest"
    c.delete(ROOT + "/acl")
    c.stop()


def lock():
    order = []
    threads = []
    clients = [client() for _ in range(4)]

    def work(c, n):
        with c.Lock(ROOT + "/lock", str(n)):
            order.append(("in", n))
            order.append(("out", n))

    for n, c in enumerate(clients):
        threads.append(threading.Thread(target=work, args=(c, n)))
        threads[-1].start()
    for t in threads:
        t.join(60)
    assert len(order) == 8 and all(order[i][1] == order[i + 1][1] for i in range(0, 8, 2)), order
    for c in clients:
        c.stop()


def election():
    led = []
    first, second = client(), client()
    hold = threading.Event()

    def lead(name):
        led.append(name)
        hold.wait(60)

    one = threading.Thread(target=lambda: first.Election(ROOT + "/election", "1").run(lead, "1"))
    one.start()
    until(lambda: led == ["1"], "the first leader")
    two = threading.Thread(target=lambda: second.Election(ROOT + "/election", "2").run(lead, "2"))
    two.start()
    until(lambda: len(second.Election(ROOT + "/election").contenders()) == 2, "a second contender")
    hold.set()
    one.join(60)
    two.join(60)
    assert led == ["1", "2"], led
    first.stop()
    second.stop()


def recipes():
    queue = zk.LockingQueue(ROOT + "/queue")
    for n in range(5):
        queue.put(str(n).encode())
    got = []
    taker = other.LockingQueue(ROOT + "/queue")
    for _ in range(5):
        got.append(taker.get(timeout=30))
        assert taker.consume()
    assert got == [b"0", b"1", b"2", b"3", b"4"], got
    counter = zk.Counter(ROOT + "/counter")
    counter += 3
    counter -= 1
    assert other.Counter(ROOT + "/counter").value == 2
    barrier = zk.Barrier(ROOT + "/barrier")
    barrier.create()
    assert not other.Barrier(ROOT + "/barrier").wait(0.1)
    barrier.remove()
    assert other.Barrier(ROOT + "/barrier").wait(30)


def party():
    one, two = zk.Party(ROOT + "/party", "one"), other.Party(ROOT + "/party", "two")
    one.join()
    two.join()
    assert sorted(one) == ["one", "two"]
    two.leave()
    until(lambda: list(one) == ["one"], "a guest who left")


def words():
    assert zk.command(b"ruok") == "imok"
    assert zk.server_version()[0] == 3
    assert "Mode: " in zk.command(b"srvr")


def states():
    seen = []
    c = KazooClient(hosts=ADDRESS, timeout=10)
    c.add_listener(seen.append)
    c.start(timeout=60)
    c.stop()
    assert seen == [KazooState.CONNECTED, KazooState.LOST], seen


for test in (nodes, sequential, ephemeral, watch, transaction, access, lock, election, recipes, party, words, states):
    check("kazoo " + test.__name__, test)
finish()
