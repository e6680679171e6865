"""Perspectives from outside: the example's read models, failures, rebuilds, and workers that are killed."""
import json
import os
import random
import signal
import subprocess
import sys
import time

from cli_support import CliTest, Setup, SECONDS_MAX, main

# The full size is for make prove.
KILLS = int(os.environ.get("PAWL_PERSPECTIVE_KILLS", "4"))
STOPS = int(os.environ.get("PAWL_PERSPECTIVE_STOPS", "4"))


class PerspectiveTest(CliTest):
    def setUp(self):
        super().setUp()
        self.env["PGOPTIONS"] = f"-c search_path={self.schema}"
        self.migrate()
        self.example = Setup.root / "examples" / "perspectives"
        self.workers = []
        self.stopped = []
        self.addCleanup(self.end_workers)

    def tables(self):
        for name in ("order_total", "stock", "event_count", "order_total_2"):
            self.sql(f"DROP TABLE IF EXISTS {name}")
        for statement in (self.example / "tables.sql").read_text().split(";"):
            if "CREATE" in statement:
                self.sql(statement[statement.index("CREATE"):])

    def rows(self, query):
        """Rows as tuples of texts."""
        if Setup.dialect == "sqlite":
            import sqlite3
            connection = sqlite3.connect(self.url, timeout=30)
            try:
                return sorted(tuple(str(cell) for cell in row) for row in connection.execute(query))
            finally:
                connection.close()
        done = subprocess.run(["psql", "-qAtX", "-F", "|", "-d", self.url, "-c", query], check=True,
                              env=self.env, stdout=subprocess.PIPE, timeout=SECONDS_MAX)
        return sorted(tuple(line.split("|")) for line in done.stdout.decode().splitlines())

    def end_workers(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGCONT)
                worker.kill()
            worker.wait(timeout=SECONDS_MAX)

    def start_worker(self, *args):
        worker = subprocess.Popen([Setup.pawl, "worker", "--kinds", "perspectives", "--poll", "50ms", *args],
                                  env=self.env, cwd=self.dir, stdout=subprocess.DEVNULL,
                                  stderr=open(self.dir / "worker.log", "ab"))
        self.workers.append(worker)
        return worker

    def work(self, *args):
        """Everything that can be done now is done."""
        result = self.run_pawl("worker", "--kinds", "perspectives", "--poll", "50ms", "--until-idle", *args)
        self.assertEqual(result.code, 0, result)
        return result.err

    def define(self, name, **keys):
        path = self.dir / f"{name}-{keys.get('version', 1)}.json"
        path.write_text(json.dumps({"name": name, **keys}))
        return str(path)

    def append(self, stream, *events):
        lines = "\n".join(json.dumps({"type": kind, "payload": payload}) for kind, payload in events)
        for _ in range(30):
            result = self.run_pawl("events", "append", stream, "--statement-timeout", "5s", "--ndjson", "-",
                                   stdin=lines)
            if result.code != 75:
                break
            while self.stopped:  # one of them may hold SQLite's only write lock
                self.stopped.pop(0).send_signal(signal.SIGCONT)
        self.assertEqual(result.code, 0, result)
        return result.json()

    def all_events(self):
        events, last = [], 0
        while True:
            page = self.ok("events", "all", "--from", str(last + 1), "--limit", "5000")
            if not page:
                return events
            events += page
            last = page[-1]["position"]

    def fold(self):
        """The three models from scratch."""
        totals, stock, counts = {}, {}, {}
        for event in self.all_events():
            kind, payload = event["type"], event["payload"]
            counts[kind] = counts.get(kind, 0) + 1
            if kind.startswith("order."):
                version, amount = totals.get(event["stream"], (0, 0))
                totals[event["stream"]] = (event["version"], amount + payload.get("amount", 0))
            if kind == "order.placed" or kind.startswith("stock."):
                stock[payload["sku"]] = stock.get(payload["sku"], 0) + payload["delta"]
        return (sorted((s, str(v), str(a)) for s, (v, a) in totals.items()),
                sorted((s, str(q)) for s, q in stock.items()), sorted((t, str(c)) for t, c in counts.items()))

    def models(self):
        return (self.rows("SELECT stream, version, amount FROM order_total"),
                self.rows("SELECT sku, quantity FROM stock"), self.rows("SELECT type, count FROM event_count"))

    def wait_caught_up(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rows = self.ok("perspectives", "status")
            if all(row["lag_events"] == 0 and row["processing"] == 0 for row in rows):
                return
            time.sleep(0.1)
        self.fail(f"not caught up: {rows}\n{(self.dir / 'worker.log').read_text()[-3000:]}")

    # covers: P02 P07 P17 P28 P58
    def test_example(self):
        self.tables()
        self.append("order-1", ("order.placed", {"sku": "bolt", "delta": -2, "amount": 10}))
        registered = self.ok("perspectives", "register", str(self.example))
        self.assertEqual({row["state"] for row in registered}, {"live"})
        self.append("order-1", ("order.paid", {"amount": 3}), ("note.added", {}))
        self.append("supply", ("stock.came", {"sku": "bolt", "delta": 50}))
        log = self.work()
        self.assertIn("event=perspective_batch", log)
        self.assertEqual(self.models(), self.fold())
        self.assertEqual(self.rows("SELECT stream, amount FROM order_total"), [("order-1", "13")])
        again = self.ok("perspectives", "register", str(self.example))
        self.assertEqual({row["answer"] for row in again}, {"duplicate"})
        reached = self.ok("perspectives", "wait", "order_total", "--stream", "order-1", "--at-version", "3")
        self.assertEqual(reached["reached"], 3)
        self.ok("perspectives", "rebuild", "order_total@1", "--yes")
        self.work()
        self.assertEqual(self.models(), self.fold())

    # covers: P22 P23 P25 P62 P64 P65
    def test_one_failing_stream(self):
        self.tables()
        self.ok("perspectives", "register", str(self.example / "stock.yaml"))
        self.append("bad", ("stock.came", {"sku": "a", "delta": 1}), ("stock.came", {"sku": None, "delta": 1}),
                    ("stock.came", {"sku": "a", "delta": 1}))
        self.append("good", ("stock.came", {"sku": "b", "delta": 7}))
        log = self.work()
        self.assertIn("event=perspective_failed", log)
        self.assertEqual(self.rows("SELECT sku, quantity FROM stock"), [("a", "1"), ("b", "7")])
        failed = self.ok("perspectives", "failed")
        self.assertEqual([(row["stream"], row["failed_version"]) for row in failed], [("bad", 2)])
        self.assertEqual(self.ok("perspectives", "errors")[0]["count"], 1)
        self.refused(73, "failed", "perspectives", "wait", "stock", "--stream", "bad", "--at-version", "3")
        self.ok("perspectives", "skip", "stock@1", "bad", "2", "--reason", "no article")
        self.work()
        self.assertEqual(self.rows("SELECT sku, quantity FROM stock"), [("a", "2"), ("b", "7")])
        self.assertEqual(self.ok("perspectives", "failed"), [])

    # covers: P27 B0.13
    def test_outside(self):
        program = self.dir / "handle.sh"
        program.write_text("#!/bin/sh\ncat >> out.txt; echo >> out.txt\n")
        program.chmod(0o755)
        self.ok("perspectives", "register", self.define("mirror", on=["order.*"], exec=str(program), batch=2))
        self.append("o", *[("order.x", {"n": n}) for n in range(5)])
        self.assertIn("event=no_runner", self.work())
        self.assertFalse((self.dir / "out.txt").exists())
        self.work("--perspectives-outside")
        batches = [json.loads(line) for line in (self.dir / "out.txt").read_text().splitlines()]
        self.assertEqual([event["version"] for batch in batches for event in batch], [1, 2, 3, 4, 5])
        self.assertEqual(self.ok("perspectives", "status")[0]["lag_events"], 0)

    def test_blue_green(self):
        self.tables()
        self.sql("CREATE TABLE order_total_2 (stream TEXT PRIMARY KEY, version BIGINT, amount BIGINT)")
        self.ok("perspectives", "register", str(self.example / "order_total.yaml"))
        for n in range(20):
            self.append(f"o-{n}", ("order.placed", {"amount": n}))
        self.work()
        text = (self.example / "order_total.yaml").read_text()
        text = text.replace("INTO order_total", "INTO order_total_2").replace("version: 1", "version: 2")
        text = text.replace("FROM order_total", "FROM order_total_2")
        (self.dir / "second.yaml").write_text(text)
        self.assertEqual(self.ok("perspectives", "register", str(self.dir / "second.yaml"))[0]["state"], "filling")
        self.refused(73, "streams are behind", "perspectives", "switch", "order_total", "2")
        self.work()
        digest = "SELECT sum(amount) || ':' || count(*) FROM "
        done = self.ok("perspectives", "switch", "order_total", "2", "--digest-old", digest + "order_total",
                       "--digest-new", digest + "order_total_2")
        self.assertEqual((done["answer"], done["digest_old"]), ("applied", "190:20"))
        self.assertEqual({row["perspective"]: row["state"] for row in self.ok("perspectives", "status")},
                         {"order_total@1": "retired", "order_total@2": "live"})

    # covers: B0.17
    def test_bad_input(self):
        self.refused(66, "cannot be read", "perspectives", "register", str(self.dir / "absent.yaml"))
        self.refused(65, "exactly one of", "perspectives", "register", self.define("p", on=["*"]))
        self.refused(65, "unknown key", "perspectives", "register", self.define("p", on=["*"], sqll="x"))
        self.refused(65, "", "perspectives", "register", self.define("p", on=["regex:(a+)+b"], function=True))
        self.refused(65, "", "events", "append", "s", "x" * 500)
        self.refused(66, "", "perspectives", "pause", "nothing@1")
        self.refused(66, "", "perspectives", "wait", "nothing", "--position", "1", "--timeout", "1s")
        self.append("s", ("a", {}))
        self.refused(73, "version 1", "events", "append", "s", "a", "--expect", "0")
        self.ok("perspectives", "register", self.define("p", on=["a"], function=True))
        self.refused(73, "another definition", "perspectives", "register", self.define("p", on=["b"], function=True))

    # covers: B0.5 B0.12 P12
    def test_killed_and_stopped(self):
        self.tables()
        self.ok("perspectives", "register", str(self.example))
        chance = random.Random(5)
        flags = ("--lease", "1s", "--instance-lease", "1s", "--heartbeat", "200ms")
        pool = [self.start_worker(*flags) for _ in range(3)]
        for round_no in range(KILLS + STOPS):
            for _ in range(6):
                stream = f"o-{chance.randrange(12)}"
                self.append(stream, *[("order.placed", {"sku": chance.choice("abc"), "delta": chance.randrange(9),
                                                        "amount": 1}) for _ in range(40)])
            at = chance.randrange(len(pool))
            if round_no % 2 == 0:
                pool[at].kill()
                pool[at] = self.start_worker(*flags)
            else:
                pool[at].send_signal(signal.SIGSTOP)
                self.stopped.append(pool[at])
                pool[at] = self.start_worker(*flags)
            if len(self.stopped) > 2:
                self.stopped.pop(0).send_signal(signal.SIGCONT)
            time.sleep(0.2)
        for worker in self.stopped:
            worker.send_signal(signal.SIGCONT)
        self.wait_caught_up(120)
        self.assertEqual(self.models(), self.fold())


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
