"""Blue/green rebuilds from outside: a second version fills while events arrive and readers read, then takes over."""
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time

from perspective_support import PerspectiveCase, Setup, main

# The full size is for make prove.
EVENTS = int(os.environ.get("PAWL_REBUILD_EVENTS", "3000"))
RATE = int(os.environ.get("PAWL_REBUILD_RATE", "100"))
STREAMS = int(os.environ.get("PAWL_REBUILD_STREAMS", "200"))
APPEND_MAX = 1000
SWITCH_SECONDS_MAX = 600
READ = "SELECT coalesce(sum(version), 0), coalesce(sum(amount), 0), count(*) FROM order_now"


class Reader(threading.Thread):
    """Reads the model through its view again and again: it must never hold less than it held before."""

    def __init__(self, case):
        super().__init__(daemon=True)
        self.case, self.problem, self.reads, self.seen = case, None, 0, 0
        self.ending = threading.Event()
        if Setup.dialect == "sqlite":
            self.database = sqlite3.connect(case.url, timeout=30, check_same_thread=False)
        else:
            self.database = subprocess.Popen(["psql", "-qAtX", "-F", "|", "-d", case.url], env=case.env, text=True,
                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self):
        if Setup.dialect == "sqlite":
            return [int(cell) for cell in self.database.execute(READ).fetchone()]
        self.database.stdin.write(READ + ";\n")
        self.database.stdin.flush()
        return [int(cell) for cell in self.database.stdout.readline().split("|")]

    def run(self):
        try:
            while not self.ending.is_set() and self.problem is None:
                events, amount, rows = self.ask()
                if events < self.seen or amount != events or rows < STREAMS:
                    self.problem = f"{events} events worth {amount} in {rows} rows, behind {self.seen} events"
                self.seen = events
                self.reads += 1
                time.sleep(0.002)
        except (OSError, ValueError, sqlite3.Error) as problem:
            self.problem = repr(problem)

    def end(self):
        self.ending.set()
        self.join(60)
        if Setup.dialect == "sqlite":
            self.database.close()
        else:
            self.database.communicate(timeout=60)


class Writer(threading.Thread):
    """Appends RATE events a second, ten calls a second, until it is told to end."""

    def __init__(self, case):
        super().__init__(daemon=True)
        self.case, self.problem, self.committed, self.longest = case, None, 0, 0.0
        self.ending = threading.Event()

    def run(self):
        chance = random.Random(7)
        began = time.monotonic()
        for call in range(1 << 30):
            self.ending.wait(max(0.0, began + call / 10 - time.monotonic()))
            if self.ending.is_set():
                return
            at = time.monotonic()
            try:
                self.case.append(f"o-{chance.randrange(STREAMS)}", *[("order.paid", {"amount": 1})] * (RATE // 10))
            except AssertionError as problem:
                self.problem = str(problem)
                return
            self.longest = max(self.longest, time.monotonic() - at)
            self.committed += RATE // 10

    def end(self):
        self.ending.set()
        self.join(120)


class PerspectiveRebuildTest(PerspectiveCase):
    def second_version(self):
        """The same read model under a further version, in a table of its own."""
        text = (self.example / "order_total.yaml").read_text()
        text = text.replace("INTO order_total", "INTO order_total_2").replace("version: 1", "version: 2")
        text = text.replace("FROM order_total", "FROM order_total_2")
        (self.dir / "second.yaml").write_text(text)
        self.assertEqual(self.ok("perspective", "set", str(self.dir / "second.yaml"))[0]["state"], "filling")

    def begin(self):
        self.tables()
        self.sql("CREATE TABLE order_total_2 (stream TEXT PRIMARY KEY, version BIGINT, amount BIGINT)")
        self.ok("perspective", "set", str(self.example / "order_total.yaml"))

    def states(self):
        return {row["perspective"]: row["state"] for row in self.ok("perspective", "list")}

    def test_blue_green(self):
        self.begin()
        for n in range(20):
            self.append(f"o-{n}", ("order.placed", {"amount": n}))
        self.work()
        self.second_version()
        self.refused(73, "version 2 is behind in", "perspective", "switch", "order_total", "2")
        self.work()
        digest = "SELECT sum(amount) || ':' || count(*) FROM "
        done = self.ok("perspective", "switch", "order_total", "2", "--digest-old", digest + "order_total",
                       "--digest-new", digest + "order_total_2")
        self.assertEqual((done["answer"], done["digest_old"]), ("applied", "190:20"))
        self.assertEqual(self.states(), {"order_total@1": "retired", "order_total@2": "live"})

    def view(self):
        """What readers use: whichever table belongs to the live version, chosen by the same snapshot."""
        live = ("(SELECT version FROM pawl_internal.perspective WHERE name = 'order_total' AND state = 1)"
                if Setup.dialect == "sqlite" else f"{self.schema}.perspective_live('order_total')")
        self.sql(f"CREATE VIEW order_now AS SELECT * FROM order_total WHERE {live} = 1 "
                 f"UNION ALL SELECT * FROM order_total_2 WHERE {live} = 2")

    def read_now(self):
        return int(self.rows("SELECT sum(version) FROM order_now")[0][0])

    def switch(self, writer):
        """Tries until the second version has applied everything; what was committed before, when it succeeded."""
        end = time.monotonic() + SWITCH_SECONDS_MAX
        while time.monotonic() < end:
            self.assertIsNone(writer.problem)
            second = next(row for row in self.ok("perspective", "list") if row["perspective"] == "order_total@2")
            if second["lag_events"] > 10 * RATE:
                time.sleep(0.1)
                continue
            before, at = writer.committed, time.monotonic()
            result = self.run_pawl("perspective", "switch", "order_total", "2", "--timeout", "3s")
            if result.code == 0:
                return before, time.monotonic() - at
            self.assertIn(result.code, (73, 75), result)
            time.sleep(0.02)
        self.fail("the second version never caught up")

    def test_blue_green_under_load(self):
        self.begin()
        self.view()
        each = EVENTS // STREAMS
        for n in range(STREAMS):
            for first in range(0, each, APPEND_MAX):
                self.append(f"o-{n}", *[("order.placed", {"amount": 1})] * min(APPEND_MAX, each - first))
        self.start_worker("--batch", "1000")
        self.wait_caught_up(SWITCH_SECONDS_MAX)
        reader, writer = Reader(self), Writer(self)
        reader.start()
        writer.start()
        began = time.monotonic()
        time.sleep(1)
        self.second_version()
        before, switch_seconds = self.switch(writer)
        filled, arrived = time.monotonic() - began, writer.committed
        self.assertGreaterEqual(self.read_now(), each * STREAMS + before)
        time.sleep(2)
        writer.end()
        rate = writer.committed / (time.monotonic() - began)
        self.assertIsNone(writer.problem)
        self.wait_caught_up(120)
        reader.end()
        self.assertIsNone(reader.problem)
        self.assertEqual(self.states(), {"order_total@1": "retired", "order_total@2": "live"})
        self.assertEqual(self.rows("SELECT stream, version, amount FROM order_total_2"), self.fold()[0])
        total = self.read_now()
        self.assertEqual(total, each * STREAMS + writer.committed)
        print(f"# {each * STREAMS} events rebuilt in {filled:.1f} s while {arrived} arrived ({rate:.0f}/s); the switch "
              f"took {switch_seconds * 1000:.0f} ms, the longest append {writer.longest * 1000:.0f} ms; {reader.reads} "
              f"reads, none of them smaller than the one before; {total} events in the model, none missing", flush=True)
        print("figures: " + json.dumps({"events_rebuilt": each * STREAMS, "events_applied": total, "reads": reader.reads,
                                        "violations": 0}), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
