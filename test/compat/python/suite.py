"""What the two Python suites share: counting checks, waiting, and what every client has to show."""

import os
import sys
import threading
import time
import traceback

BOOTSTRAP = os.environ["BOOTSTRAP"]
RUN = "%x" % time.time_ns()
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
PARTITIONS = 3
LIMIT = 60.0

_passed = 0
_failed = 0


def check(name, body, *args):
    """Runs one check, and says ok or FAIL."""
    global _passed, _failed
    try:
        body(*args)
    except Exception:  # noqa: BLE001 - whatever a client raises is the finding
        _failed += 1
        print("FAIL", name, flush=True)
        traceback.print_exc(file=sys.stdout)
    else:
        _passed += 1
        print("ok", name, flush=True)


def finish():
    print(f"{_passed} passed, {_failed} failed", flush=True)
    os._exit(0 if _failed == 0 and _passed > 0 else 1)


def until(done, what, step=lambda: time.sleep(0.05)):
    """Repeats step until done() holds."""
    end = time.monotonic() + LIMIT
    while not done():
        assert time.monotonic() < end, "never: " + what
        step()


def fails(kinds, body):
    """The body raises one of the kinds."""
    try:
        body()
    except kinds:
        return
    raise AssertionError(f"no {kinds}")


class Written:
    """What was produced, by partition, in order."""

    def __init__(self):
        self.by_partition = {p: [] for p in range(PARTITIONS)}

    def values(self, label, n=200):
        """n new values, remembered, dealt out to the partitions in turn."""
        for i in range(n):
            v = b"%s-%d-%s" % (label.encode(), i, b"x" * i)
            self.by_partition[i % PARTITIONS].append(v)
            yield i % PARTITIONS, v

    def total(self):
        return sum(len(v) for v in self.by_partition.values())


class Member:
    """One member of a group in a thread. poll(self) is called until close; it fills got and assigned."""

    def __init__(self, open_consumer, poll, close):
        self.got = {}
        self.assigned = frozenset()
        self._stop = False
        self._fault = None

        def run():
            try:
                consumer = open_consumer()
                try:
                    while not self._stop:
                        poll(self, consumer)
                finally:
                    close(consumer)
            except Exception as e:  # noqa: BLE001
                self._fault = e

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def count(self):
        return sum(len(v) for v in self.got.values())

    def close(self):
        self._stop = True
        self._thread.join(LIMIT)
        if self._fault:
            raise self._fault


def group_scenario(member, written):
    """Two members, a rebalance, and nothing read twice: the same for every client. member() opens one."""
    a = member()
    b = None
    try:
        until(lambda: len(a.assigned) == PARTITIONS, "all partitions to the first member")
        until(lambda: a.count() >= written.total(), "all records")
        assert a.got == written.by_partition, "records of the first member"
        b = member()
        until(
            lambda: a.assigned and b.assigned and len(a.assigned) + len(b.assigned) == PARTITIONS,
            "the partitions shared",
        )
        assert not a.assigned & b.assigned
        a.close()
        until(lambda: len(b.assigned) == PARTITIONS, "all partitions to the second member")
        assert b.count() == 0, "read again"
    finally:
        a.close()
        if b:
            b.close()


def resume_scenario(member, written, produce):
    """A new member of the group starts where the last one committed."""
    before = {p: len(v) for p, v in written.by_partition.items()}
    produce()
    c = member()
    want = {p: v[before[p] :] for p, v in written.by_partition.items()}
    try:
        until(lambda: c.count() >= sum(len(v) for v in want.values()), "what came since")
        assert c.got == want
    finally:
        c.close()
