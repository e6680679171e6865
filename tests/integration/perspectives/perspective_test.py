"""Perspectives from outside: the example's read models, failures, bad input, and workers that are killed."""
import http.server
import json
import os
import random
import signal
import sys
import threading
import time

from perspective_support import PerspectiveCase, Setup, main

# The full size is for make prove.
KILLS = int(os.environ.get("PAWL_PERSPECTIVE_KILLS", "4"))
STOPS = int(os.environ.get("PAWL_PERSPECTIVE_STOPS", "4"))


class PerspectiveTest(PerspectiveCase):
    # covers: P02 P07 P17 P28 P58
    def test_example(self):
        self.tables()
        self.append("order-1", ("order.placed", {"sku": "bolt", "delta": -2, "amount": 10}))
        registered = self.ok("perspective", "set", str(self.example))
        self.assertEqual({row["state"] for row in registered}, {"live"})
        self.append("order-1", ("order.paid", {"amount": 3}), ("note.added", {}))
        self.append("supply", ("stock.came", {"sku": "bolt", "delta": 50}))
        log = self.work()
        self.assertIn("event=perspective_batch", log)
        self.assertEqual(self.models(), self.fold())
        self.assertEqual(self.rows("SELECT stream, amount FROM order_total"), [("order-1", "13")])
        again = self.ok("perspective", "set", str(self.example))
        self.assertEqual({row["answer"] for row in again}, {"duplicate"})
        reached = self.ok("perspective", "wait", "order_total", "--stream", "order-1", "--at-version", "3")
        self.assertEqual(reached["reached"], 3)
        self.ok("perspective", "rebuild", "order_total@1", "--yes")
        self.work()
        self.assertEqual(self.models(), self.fold())
        # Of one stream: the others keep their rows; what cannot be told apart by stream is refused.
        self.append("order-2", ("order.placed", {"sku": "bolt", "delta": -1, "amount": 4}))
        self.work()
        rebuilt = self.ok("perspective", "rebuild", "order_total@1", "order-2", "--yes")
        self.assertEqual(rebuilt["checkpoints"], 1)
        self.assertEqual(self.rows("SELECT stream, amount FROM order_total"), [("order-1", "13")])
        self.refused(73, "empty the whole model", "perspective", "rebuild", "stock@1", "order-2", "--yes")
        self.work()
        self.assertEqual(self.models(), self.fold())

    # covers: P22 P23 P25 P62 P64 P65
    def test_one_failing_stream(self):
        self.tables()
        self.ok("perspective", "set", str(self.example / "stock.yaml"))
        self.append("bad", ("stock.came", {"sku": "a", "delta": 1}), ("stock.came", {"sku": None, "delta": 1}),
                    ("stock.came", {"sku": "a", "delta": 1}))
        self.append("good", ("stock.came", {"sku": "b", "delta": 7}))
        log = self.work()
        self.assertIn("event=perspective_failed", log)
        self.assertEqual(self.rows("SELECT sku, quantity FROM stock"), [("a", "1"), ("b", "7")])
        failed = self.ok("perspective", "checkpoints", "--state", "failed")
        self.assertEqual([(row["stream"], row["failed_version"]) for row in failed], [("bad", 2)])
        self.assertEqual(self.ok("perspective", "errors")[0]["count"], 1)
        self.refused(73, "failed", "perspective", "wait", "stock", "--stream", "bad", "--at-version", "3")
        self.ok("perspective", "skip", "stock@1", "bad", "2", "--reason", "no article")
        self.work()
        self.assertEqual(self.rows("SELECT sku, quantity FROM stock"), [("a", "2"), ("b", "7")])
        self.assertEqual(self.ok("perspective", "checkpoints", "--state", "failed"), [])

    def test_a_checkpoint_moved_by_hand_is_found(self):
        self.tables()
        self.ok("perspective", "set", str(self.example / "stock.yaml"))
        self.append("s", ("stock.came", {"sku": "a", "delta": 1}), ("stock.came", {"sku": "a", "delta": 1}))
        self.assertEqual(self.ok("check"), [])
        wrong = [("version = 2, status = 2, due_ms = NULL", "checkpoint_moved_by_grant"),
                 ("token = 4611686018427387904", "token_below_counter"),
                 ("version = 2, token = 1", "perspective_tally_matches"),
                 ("perspective = 'nobody@1'", "checkpoint_moved_by_grant")]
        for change, invariant in wrong:
            before = self.sql("SELECT version, status, token, due_ms, perspective FROM pawl_internal.checkpoint")[0]
            self.sql(f"UPDATE pawl_internal.checkpoint SET {change}")
            result = self.run_pawl("check")
            self.assertIn(invariant, {row["invariant"] for row in result.json()}, (change, result))
            self.sql(f"UPDATE pawl_internal.checkpoint SET version = {before[0]}, status = {before[1]}, token = {before[2]}, "
                     f"due_ms = {before[3]}, perspective = '{before[4]}'")

    # covers: P59 P60
    def test_until_idle_leaves_nothing_behind(self):
        self.tables()
        self.ok("perspective", "set", str(self.example))
        lines = [[("order.placed", {"sku": f"s{n % 7}", "delta": 1, "amount": n}) for _ in range(5)] for n in range(120)]
        for round_ in range(2):  # what was there before it began, and what it is told of by messages
            for n, events in enumerate(lines):
                if n % 4 == round_ % 4:
                    self.append(f"order-{n}", *events)
            self.work("--concurrency", "8")
            behind = self.rows("SELECT perspective || ' ' || stream FROM " +
                               ("pawl_checkpoint" if self.dialect() == "sqlite" else f'"{self.schema}_internal".checkpoint') +
                               " WHERE status <> 2")
            self.assertEqual(behind, [])
            self.assertEqual(self.models(), self.fold())

    # covers: P43
    def test_batch_of_definitions_without_one(self):
        self.ok("perspective", "set", self.define("own", on=["a"], exec="true", batch=2),
                self.define("given", on=["a"], exec="true"), "--perspective-batch", "7")
        self.ok("perspective", "set", self.define("default", on=["a"], exec="true"))
        self.assertEqual({row["perspective"]: row["batch"] for row in self.ok("perspective", "list")},
                         {"own@1": 2, "given@1": 7, "default@1": 100})

    # covers: P27 B0.13
    def test_outside(self):
        program = self.dir / "handle.sh"
        program.write_text("#!/bin/sh\ncat >> out.txt; echo >> out.txt\n")
        program.chmod(0o755)
        self.ok("perspective", "set", self.define("mirror", on=["order.*"], exec=str(program), batch=2))
        self.append("o", *[("order.x", {"n": n}) for n in range(5)])
        self.assertIn("event=no_runner", self.work())
        self.assertFalse((self.dir / "out.txt").exists())
        self.work("--perspectives-outside")
        batches = [json.loads(line) for line in (self.dir / "out.txt").read_text().splitlines()]
        self.assertEqual([event["version"] for batch in batches for event in batch], [1, 2, 3, 4, 5])
        self.assertEqual(self.ok("perspective", "list")[0]["lag_events"], 0)

    # covers: B0.17
    def test_bad_input(self):
        self.refused(66, "cannot be read", "perspective", "set", str(self.dir / "absent.yaml"))
        self.refused(65, "exactly one of", "perspective", "set", self.define("p", on=["*"]))
        self.refused(65, "unknown key", "perspective", "set", self.define("p", on=["*"], sqll="x"))
        for wrong in ("INSERT INTO nowhere VALUES (1)", "INSRT INTO x", "UPDATE nowhere SET n = no_such_function(1)"):
            self.refused(65, "sql of p@1 cannot run", "perspective", "set", self.define("p", on=["*"], sql=wrong))
        self.refused(65, "address", "perspective", "set", self.define("p", on=["*"], http="nonsense"))
        self.sql("CREATE TABLE somewhere (n bigint)")
        self.refused(65, "clear of p@1 cannot run", "perspective", "set",
                     self.define("p", on=["*"], sql="INSERT INTO somewhere VALUES (1)", clear="DELETE FROM nowhere"))
        self.assertEqual(self.ok("perspective", "list"), [])
        self.refused(65, "", "perspective", "set", self.define("p", on=["regex:(a+)+b"], function=True))
        self.refused(64, "1 to 200 bytes", "event", "append", "s", "x" * 500)
        self.refused(65, "", "perspective", "set", self.define("p", on=["regex:(a|a)*(b+)*" + "x?" * 30], function=True))
        self.refused(66, "", "perspective", "pause", "nothing@1")
        self.refused(66, "", "perspective", "wait", "nothing", "--position", "1", "--timeout", "1s")
        self.append("s", ("a", {}))
        self.refused(73, "version 1", "event", "append", "s", "a", "--expected", "0")
        self.ok("perspective", "set", self.define("p", on=["a"], function=True))
        self.refused(73, "another definition", "perspective", "set", self.define("p", on=["b"], function=True))

    # The query must not depend on a fixed service name or on a column that the schemas name differently.
    # covers: B0.16 P63 P69
    def test_health(self):
        self.start_worker("--service", "OrderService")
        self.start_worker("--service", "Inventory")
        end = time.monotonic() + 30
        rows = []
        while len(rows) < 2 and time.monotonic() < end:
            rows = [row for row in self.ok("instance", "list") if row["state"] == "active"]
            time.sleep(0.05)
        self.assertEqual({row["service"] for row in rows}, {"OrderService", "Inventory"})
        self.assertEqual(len({row["id"] for row in rows}), 2)
        for row in self.ok("status")["workers"]:
            self.assertGreaterEqual(row["beat_age_ms"], 0)
            self.assertLess(row["beat_age_ms"], 30000)
        columns = ("SELECT name FROM pragma_table_info('pawl_instance')" if self.dialect() == "sqlite" else
                   f"SELECT column_name FROM information_schema.columns WHERE table_schema = '{self.schema}_internal' "
                   "AND table_name = 'instance'")
        self.assertEqual([name for (name,) in self.rows(columns) if "beat" in name], ["beat_ms"])

    # covers: P70
    def test_snapshots(self):
        for n in range(5):
            self.append("account-7", ("paid", {"n": n}))
        self.refused(66, "", "snapshot", "show", "account-7", "balance")
        self.refused(64, "not a whole number", "snapshot", "set", "account-7", "balance", "x", "{}")
        self.refused(73, "has not reached version 6", "snapshot", "set", "account-7", "balance", "6", "{}")
        for version in (2, 4):
            kept = self.ok("snapshot", "set", "account-7", "balance", str(version), json.dumps({"sum": version}))
            self.assertEqual((kept["answer"], kept["version"]), ("applied", version))
        found = self.ok("snapshot", "show", "account-7", "balance")
        self.assertEqual((found["answer"], found["version"], found["state"]), ("found", 4, {"sum": 4}))
        self.assertEqual(self.ok("snapshot", "show", "account-7", "balance", "3")["version"], 2)
        self.assertEqual(len(self.ok("event", "list", "--stream", "account-7", "--from", str(found["version"] + 1))), 1)

    def test_clock_check(self):
        self.assertLess(abs(self.ok("status")["clock_ahead_ms"]), 5000)
        self.sql("UPDATE pawl_internal.settings SET test_now_ms = 1000000000000")
        self.assertGreater(self.ok("status")["clock_ahead_ms"], 1000000000)
        self.assertIn("ahead of the database", self.run_pawl("status", "--output", "table").out)

    def test_unparsable_payload(self):
        program = self.dir / "picky.py"
        program.write_text("import json, sys\nfor event in json.load(sys.stdin):\n"
                           "    if not isinstance(event['payload'], dict): sys.exit('no object in version %d' % "
                           "event['version'])\n")
        self.ok("perspective", "set", self.define("picky", on=["a"], exec=f"{sys.executable} {program}"))
        self.append("bad", ("a", {}), ("a", "text"), ("a", {}))
        self.append("good", ("a", {}))
        self.assertIn("event=perspective_failed", self.work("--perspectives-outside"))
        failed = self.ok("perspective", "checkpoints", "--state", "failed")
        self.assertEqual([(row["stream"], row["failed_version"]) for row in failed], [("bad", 2)])
        self.assertIn("no object in version 2", failed[0]["error"])
        self.ok("perspective", "wait", "picky", "--stream", "good", "--at-version", "1")
        self.ok("perspective", "skip", "picky@1", "bad", "2", "--reason", "it is no object")
        self.work("--perspectives-outside")
        self.ok("perspective", "wait", "picky", "--stream", "bad", "--at-version", "3")

    def test_removed_while_its_worker_runs(self):
        self.tables()
        self.ok("perspective", "set", str(self.example / "order_total.yaml"))
        self.start_worker()
        self.append("o", ("order.placed", {"amount": 1}))
        self.wait_caught_up()
        self.ok("perspective", "delete", "order_total@1", "--yes")
        self.append("o", ("order.paid", {"amount": 5}))
        self.ok("perspective", "set", str(self.example / "event_count.yaml"))
        self.wait_caught_up()
        self.assertEqual(self.rows("SELECT amount FROM order_total"), [("1",)])
        self.assertEqual(self.rows("SELECT type, count FROM event_count"), [("order.paid", "1"), ("order.placed", "1")])
        self.assertIsNone(self.workers[0].poll())
        self.refused(66, "", "perspective", "wait", "order_total", "--stream", "o", "--at-version", "2")

    def test_http(self):
        bodies, answers = [], [500, 200]

        class Endpoint(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = answers.pop(0) if answers else 200
                if status == 200:
                    bodies.append((self.headers["Idempotency-Key"], [event["version"] for event in body]))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_):
                """Quiet."""

        server = http.server.HTTPServer(("127.0.0.1", 0), Endpoint)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}/events"
        self.ok("perspective", "set", self.define("sink", on=["a"], http=url, batch=2))
        self.append("s", *[("a", {"n": n}) for n in range(3)])
        self.work("--perspectives-outside")
        self.ok("perspective", "wait", "sink", "--stream", "s", "--at-version", "3")
        # The first batch was refused: it came again event by event.
        self.assertEqual([version for _, versions in bodies for version in versions], [1, 2, 3])
        self.assertEqual(bodies[-1][0], "s:3")

    # covers: B0.5 B0.12 P12
    def test_killed_and_stopped(self):
        self.tables()
        self.ok("perspective", "set", str(self.example))
        chance = random.Random(5)
        flags = ("--lease", "1s", "--instance-lease", "1s", "--heartbeat", "200ms")
        pool = [self.start_worker(*flags) for _ in range(3)]
        blows = [signal.SIGKILL] * KILLS + [signal.SIGSTOP] * STOPS
        chance.shuffle(blows)
        began = time.monotonic()
        for blow in blows:
            for _ in range(6):
                stream = f"o-{chance.randrange(12)}"
                self.append(stream, *[("order.placed", {"sku": chance.choice("abc"), "delta": chance.randrange(9),
                                                        "amount": 1}) for _ in range(40)])
            at = chance.randrange(len(pool))
            self.assertIsNone(pool[at].poll(), "a worker ended by itself")
            pool[at].send_signal(blow)
            if blow == signal.SIGSTOP:
                self.stopped.append(pool[at])
            pool[at] = self.start_worker(*flags)
            if len(self.stopped) > 2:
                self.resume()
            time.sleep(0.2)
        while self.stopped:
            self.resume()
        self.wait_caught_up(120)
        folded = self.fold()
        self.assertEqual(self.models(), folded)
        print(f"# {KILLS} kills, {STOPS} stops, {sum(int(n) for _, n in folded[2])} events in "
              f"{time.monotonic() - began:.0f} s: three models equal their folds", flush=True)
        print("figures: " + json.dumps({f"kills_{Setup.dialect}": KILLS, f"stops_{Setup.dialect}": STOPS,
                                        "events_applied": sum(int(n) for _, n in folded[2]), "violations": 0}), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
