#!/usr/bin/env python3
"""Receptors on events from outside: each event to each receptor that wants it, each on its own, through kills."""
import collections
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import cli_support
from cli_support import EXIT_CODES, SECONDS_MAX, Setup
from receptor_test import ReceptorTest
from worker_test import FAST

EVENTS = int(os.environ.get("PAWL_RECEPTOR_EVENTS", "150"))
KILLS = int(os.environ.get("PAWL_RECEPTOR_KILLS", "5"))
COMPLETED = 4


class EventReceptorTest(ReceptorTest):
    """What the tests below share."""

    def append(self, stream="order-1", type_="OrderPaid", payload='{"n": 1}', *args):
        return self.ok("event", "append", stream, type_, payload, *args)

    def last_event(self, stream):
        return self.ok("event", "list", "--stream", stream, "--backward", "--limit", "1")[0]["id"]

    def receptor(self, name):
        return self.ok("receptor", "show", name)

    def effects(self):
        """(receptor, stream, version): how often."""
        return collections.Counter(tuple(line.split()) for line in self.log.read_text().splitlines()) \
            if self.log.exists() else collections.Counter()

    def writer(self, name="handle.sh", rest=""):
        return self.script(f'echo "$PAWL_RECEPTOR $PAWL_STREAM $PAWL_VERSION" >> {self.log}\n{rest}', name)

    def rows(self, query):
        if Setup.dialect == "sqlite":
            connection = sqlite3.connect(self.url, timeout=30)
            try:
                return [tuple(str(cell) for cell in row) for row in connection.execute(query)]
            finally:
                connection.close()
        done = subprocess.run(["psql", "-qAtX", "-F", "|", "-d", self.url, "-c", query], check=True, timeout=SECONDS_MAX,
                              env=dict(self.env, PGOPTIONS=f"-c search_path={self.schema},{self.schema}_internal"), stdout=subprocess.PIPE)
        return [tuple(line.split("|")) for line in done.stdout.decode().splitlines()]


class FeedTest(EventReceptorTest):
    """Who gets what, and how it ends."""

    def test_event_and_environment(self):
        """covers: W27"""
        handler = self.script("env > environment; cat > message.json")
        self.append("order-1", "Created")
        self.assertEqual(self.ok("receptor", "set", "mail", "suffix:Paid", "exact:Closed")["answer"], "applied")
        self.append("order-1", "Shop.OrderPaid")
        self.append("order-1", "Shop.Paid", '{"total": 12}', "--traceparent", "00-1-2-03")
        event = self.last_event("order-1")
        done = self.run_worker("--on", f"mail@event:=exec:{handler}")
        self.assertEqual(done.code, 0, done)
        env = dict(line.split("=", 1) for line in (self.dir / "environment").read_text().splitlines() if "=" in line)
        message = json.loads((self.dir / "message.json").read_text())
        self.assertEqual((env["PAWL_RECEPTOR"], env["PAWL_STREAM"], env["PAWL_VERSION"], env["PAWL_TYPE"], env["TRACEPARENT"]),
                         ("mail", "order-1", "3", "Shop.Paid", "00-1-2-03"))
        self.assertEqual((message["causation_id"], message["stream"], message["payload"], message["headers"]),
                         (event, "order-1", {"total": 12}, {"stream": "order-1", "version": 3}))
        notes = self.notes(event)
        self.assertEqual({k: (v["state"], v["attempts"]) for k, v in notes.items()}, {"event:mail": ("done", 1)})
        row = self.receptor("mail")
        self.assertEqual((row["behind"], row["messages"], row["on"], row["topic"]),
                         (0, 1, "suffix:Paid exact:Closed", "event:mail"))
        self.assertIn("receptors_fed", done.err)

    def test_one_that_fails_holds_up_no_other(self):
        """Each (event, receptor) is tried, dies and is redriven by itself. covers: W27"""
        good = self.writer("good.sh")
        bad = self.writer("bad.sh", "[ -e fixed ] || { echo 'no such customer' >&2; exit 65; }")
        weak = self.writer("weak.sh", "[ $PAWL_ATTEMPT -lt 3 ] && exit 75; exit 0")
        self.start("--on", f"good@event:*=exec:{good}", "--on", f"bad@event:*=exec:{bad}", "--on", f"weak@event:*=exec:{weak}")
        self.wait(lambda: len(self.ok("receptor", "list")) == 3, what="the receptors")
        for n in range(4):
            self.append(f"order-{n}")
        event = self.last_event("order-2")
        dead = self.dead(4)
        self.wait(lambda: self.inbox()["done"] == 8, what="the others")
        self.assertEqual({(row["topic"], row["attempts"]) for row in dead}, {("event:bad", 1)})
        self.assertEqual({k: (v["state"], v["attempts"]) for k, v in self.notes(event).items()},
                         {"event:good": ("done", 1), "event:bad": ("failed for good", 1), "event:weak": ("done", 3)})
        self.assertIn("no such customer", self.notes(event)["event:bad"]["error"])
        (self.dir / "fixed").touch()
        self.ok("message", "retry", "--topic", "event:bad", "--all", "--yes")
        self.wait(lambda: self.inbox()["done"] == 12, what="the redriven")
        self.stop()
        self.assertEqual({r for r, _, _ in self.effects()}, {"good", "bad", "weak"})
        self.assertEqual([self.effects()["good", f"order-{n}", "1"] for n in range(4)], [1] * 4)
        self.assertEqual(self.notes(event)["event:bad"]["state"], "done")

    def test_from_start_and_while_no_worker_runs(self):
        handler = self.writer()
        self.append("a")
        both = f"[all@event:*]\nexec = {handler}\nfrom = start\n[new@event:Order*]\nexec = {handler}\nfrom = now\n"
        self.assertEqual(self.run_worker("--handlers", self.handlers(both)).code, 0)
        self.append("a")
        self.append("b", "Other")
        self.assertEqual(self.run_worker("--handlers", self.handlers(both)).code, 0)
        self.assertEqual(self.effects(), {("all", "a", "1"): 1, ("all", "a", "2"): 1, ("all", "b", "1"): 1,
                                          ("new", "a", "2"): 1})

    def test_an_inbox_receptor_of_the_same_type_is_another(self):
        handler = self.writer()
        message = self.receive("OrderPaid")
        self.start("--on", f"mail@event:*=exec:{handler}", "--on", f"ledger@*=exec:{handler}")
        self.wait(lambda: self.ok("receptor", "list"), what="the receptor")
        self.append("s", "OrderPaid")
        self.wait(lambda: self.inbox()["done"] == 2, what="both messages")
        self.stop()
        self.assertEqual(set(self.notes(message)), {"ledger"})
        self.assertEqual(set(self.notes(self.last_event("s"))), {"event:mail"})

    def test_an_append_wakes(self):
        """Long before the next poll."""
        handler = self.writer()
        self.process = subprocess.Popen([Setup.pawl, "worker", "--on", f"mail@event:*=exec:{handler}", "--poll", "60s"],
                                        env=self.env, cwd=self.dir, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.wait(lambda: self.ok("receptor", "list"), what="the receptor")
        time.sleep(2)
        began = time.monotonic()
        self.append("s")
        self.wait(lambda: self.effects()["mail", "s", "1"] == 1, seconds=15, what="the effect")
        print(f"# the effect came {1000 * (time.monotonic() - began):.0f} ms after the append began", flush=True)
        self.stop()

    def test_endpoint(self):
        endpoint = self.endpoint(lambda n, call: (200, {}))
        self.ok("receptor", "set", "hook", "*")
        self.append("order-1", "Paid", '{"n": 2}')
        event = self.last_event("order-1")
        self.start("--handlers", self.handlers(f"[hook@event:*]\nhttp = {endpoint.url}/in\nallow-private = true\n"))
        self.wait(lambda: self.inbox()["done"] == 1, what="the message")
        self.stop()
        headers = endpoint.calls[0]["headers"]
        self.assertEqual((headers["ce-type"], headers["ce-subject"], headers["ce-sequence"], headers["ce-causationid"],
                          json.loads(endpoint.calls[0]["body"])), ("Paid", "order-1", "1", event, {"n": 2}))

    def test_removed_while_its_worker_runs(self):
        handler = self.writer()
        self.start("--on", f"mail@event:*=exec:{handler}")
        self.wait(lambda: self.ok("receptor", "list"), what="the receptor")
        self.assertEqual(self.ok("receptor", "delete", "mail", "--yes")["answer"], "applied")
        self.append("s")
        time.sleep(0.5)
        self.process.send_signal(signal.SIGTERM)
        log = self.process.communicate(timeout=20)[1].decode()
        self.assertIn("event=receptor_trouble", log)
        self.assertIn("not registered", log)
        self.assertEqual(self.effects(), {})


class KillTest(EventReceptorTest):
    """Workers that die."""

    def test_kills(self):
        """Every event reaches every receptor at least once and has exactly one record with each. covers: W27"""
        handler = self.writer(rest="sleep 0.02")
        on = ["--on", f"a@event:*=exec:{handler}", "--on", f"b@event:Order*=exec:{handler}", "--lease", "2s",
              "--instance-lease", "1s", "--max-attempts", "100"]
        workers = []

        def begin():
            workers.append(subprocess.Popen([Setup.pawl, "worker", *FAST, *on], env=self.env, cwd=self.dir,
                                            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL))

        def end():
            for worker in workers:
                if worker.poll() is None:
                    worker.kill()
                worker.wait()

        self.addCleanup(end)
        begin()
        self.wait(lambda: len(self.ok("receptor", "list")) == 2, what="the receptors")
        begin()
        chosen, killed = random.Random(7), 0
        for n in range(0, EVENTS, 5):
            lines = "".join(json.dumps({"type": "OrderPaid" if (n + i) % 2 == 0 else "Moved", "payload": {"n": n + i}}) + "\n"
                            for i in range(5))
            done = self.run_pawl("event", "append", f"s{n % 7}", "--ndjson", "-", stdin=lines.encode())
            self.assertEqual(done.code, 0, done)
            if killed < KILLS and n >= (killed + 1) * EVENTS // (KILLS + 1):
                worker = chosen.choice([w for w in workers if w.poll() is None])
                worker.kill()
                worker.wait()
                begin()
                killed += 1
        total = EVENTS + EVENTS // 2
        self.wait(lambda: self.inbox()["done"] >= total, seconds=60 + EVENTS // 5, what=f"{total} messages")
        for worker in workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
        for worker in workers:
            worker.wait(30)
        effects, wanted = self.effects(), set()
        for stream in range(7):
            for event in self.ok("event", "list", "--stream", f"s{stream}", "--limit", "5000"):
                wanted.add(("a", f"s{stream}", str(event["version"])))
                if event["type"] == "OrderPaid":
                    wanted.add(("b", f"s{stream}", str(event["version"])))
        self.assertEqual(len(wanted), total)
        self.assertEqual(set(effects), wanted)
        self.assertEqual(self.inbox()["dead"], 0)
        prefix = "pawl_" if Setup.dialect == "sqlite" else f"{self.schema}_internal."
        records = self.rows(f"SELECT receptor, count(*), count(DISTINCT event_id) FROM {prefix}receptor "
                            f"WHERE status & {COMPLETED} <> 0 GROUP BY receptor ORDER BY receptor")
        self.assertEqual(records, [("event:a", str(EVENTS), str(EVENTS)), ("event:b", str(EVENTS // 2), str(EVENTS // 2))])
        self.assertEqual(self.rows(f"SELECT count(*) FROM {prefix}receptor"), [(str(total),)])
        self.assertEqual(self.run_pawl("check").code, 0)
        again = sum(effects.values()) - total
        print(f"# {EVENTS} events, {killed} kills: {total} records, {total} effects and {again} repeated", flush=True)
        print("figures: " + json.dumps({"events": EVENTS, f"kills_{Setup.dialect}": killed, "records": total, "violations": 0}),
              flush=True)


class InputTest(EventReceptorTest):
    """Bad input."""

    def test_worker(self):
        a = self.script("exit 0")
        invalid = EXIT_CODES["invalid"]
        self.refused(invalid, "a receptor on events needs one: write NAME@event:x", "worker", "--on", f"event:x=exec:{a}")
        self.refused(invalid, "must not be repeated", "worker", "--on", f"a@event:regex:(a+)+=exec:{a}")
        self.refused(invalid, "receptors on events need the kind inbox", "worker", "--kinds", "outbox", "--on",
                     f"a@event:*=exec:{a}")
        self.refused(EXIT_CODES["not found"], "receptor a is not registered", "worker", "--on", f"a@event:=exec:{a}")
        self.ok("receptor", "set", "a", "Order*")
        self.refused(EXIT_CODES["conflict"], "receptor a is registered with other patterns", "worker", "--on",
                     f"a@event:Stock*=exec:{a}")
        for text, fragment in ((f"[a@event:*]\nexec = {a}\nfrom = yesterday\n", ":3: from needs now or start"),
                               (f"[a@b]\nexec = {a}\nfrom = start\n", ":1: from the start is for receptors on events")):
            result = self.run_pawl("worker", "--handlers", self.handlers(text))
            self.assertEqual(result.code, invalid, result)
            self.assertIn(fragment, result.err)

    def test_commands(self):
        invalid = EXIT_CODES["invalid"]
        self.refused(invalid, "the name of a receptor has 1 to 100", "receptor", "set", "a b", "*")
        self.refused(invalid, "must not be repeated", "receptor", "set", "a", "regex:(a+)+")
        self.assertEqual(self.ok("receptor", "set", "a", "x")["answer"], "applied")
        self.assertEqual(self.ok("receptor", "set", "a", "x")["answer"], "duplicate")
        self.refused(EXIT_CODES["conflict"], "--replace", "receptor", "set", "a", "y")
        self.assertEqual(self.ok("receptor", "set", "a", "y", "--replace")["answer"], "applied")
        self.assertEqual(self.receptor("a")["on"], "y")
        self.refused(EXIT_CODES["not found"], "there is no receptor on events named b", "receptor", "delete", "b", "--yes")
        self.refused(EXIT_CODES["not found"], "there is no receptor on events named b", "receptor", "show", "b")


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
