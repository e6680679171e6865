#!/usr/bin/env python3
"""What people do to running work, from outside: cancel, pause and resume, replay, skip, redrive at a rate; and what
a transports file may limit: rates, breakers. Nothing is published outside the outbox."""
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time

import cli_support
from cli_support import EXIT_CODES, Setup
from receptor_test import ReceptorTest as _ReceptorTest
from worker_test import alive


class ControlTest(_ReceptorTest):
    """What the tests below share."""

    def done(self, *words):
        result = self.run_pawl(*words)
        self.assertEqual(result.code, 0, result)

    def transports(self, text):
        path = self.dir / "transports.ini"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def published(self):
        path = self.dir / "out.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def deeds(self):
        """What people did: a worker of a new version notes its deploy there too."""
        return [row for row in self.ok("action", "list") if row["action"] != "deploy"]

    def actions(self):
        return [(row["action"], row["actor"]) for row in self.deeds()]


class CancelTest(ControlTest):
    """A message that waits or runs is ended."""

    def test_running_program(self):
        """SIGTERM first; one that does not listen is killed. The rest flows."""
        polite = self.script('trap "echo term > asked; exit 0" TERM; echo begun > begun; sleep 61 & wait', "polite.sh")
        deaf = self.script('trap "" TERM; echo begun > deaf; while true; do sleep 0.05; done', "deaf.sh")
        ids = [self.ok("send", kind, "--stream", kind)["id"] for kind in ("polite", "deaf")]
        self.start("--on", f"polite=exec:{polite}", "--on", f"deaf=exec:{deaf}", "--on", "*=exec:true")
        self.wait(lambda: (self.dir / "begun").exists() and (self.dir / "deaf").exists(), what="both handlers")
        for message in ids:
            self.done("message", "cancel", message, "--reason", "wrong")
        self.wait(lambda: self.counts()["dead"] == 2, what="two dead letters")
        self.ok("send", "other")
        self.wait(lambda: self.counts()["done"] == 1, what="the rest")
        self.wait(lambda: self.ok("pause", "list") == [], what="the wishes to be taken back")
        self.assertEqual([pid for pid in alive("./deaf.sh") if pid != self.process.pid], [])
        self.stop()
        self.assertTrue((self.dir / "asked").exists())
        for row in self.ok("message", "list", "--state", "dead"):
            self.assertRegex(row["error"], "^cancelled by .*: wrong$")
            self.assertEqual((row["reason"], row["attempts"]), ("cancelled", 1))
            why = self.ok("why", row["id"])["explanation"]
            self.assertIn(": wrong.", why)
            self.assertNotIn("handler", why)
        self.assertEqual([action for action, _ in self.actions()], ["message.cancel", "message.cancel"])
        self.assertTrue(all(row["detail"].endswith(" reason=wrong") for row in self.deeds()), self.deeds())

    def test_long_before_the_next_heartbeat(self):
        """The wish wakes the worker, busy as it is."""
        handler = self.script("echo begun > begun; exec sleep 4713", "hang.sh")
        message = self.ok("send", "order")["id"]
        self.process = subprocess.Popen([Setup.pawl, "worker", "--on", f"*=exec:{handler}", "--heartbeat", "60s",
                                         "--instance-lease", "200s"], env=self.env, cwd=self.dir,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.wait(lambda: (self.dir / "begun").exists(), what="the handler")
        time.sleep(1.5)  # the way of a wake-up is tested when the worker starts
        began = time.monotonic()
        self.done("message", "cancel", message)
        self.wait(lambda: not alive("4713"), seconds=15, what="the end of the handler")
        print(f"# the handler ended {1000 * (time.monotonic() - began):.0f} ms after the cancel began", flush=True)
        self.wait(lambda: self.counts()["dead"] == 1, what="the dead letter")
        self.stop()

    def test_receptor_and_endpoint(self):
        endpoint = self.endpoint(lambda n, call: (time.sleep(20), (200, {}))[1])
        hang = self.script("exec sleep 4712", "hang.sh")
        first, second = self.receive("order.paid"), self.receive("mail.sent")
        self.start("--handlers", self.handlers(f"[a@order.*]\nexec = {hang}\n[b@order.*]\nexec = {self.noter('b')}\n"
                                               f"[mail.*]\nhttp = {endpoint.url}/\nallow-private = true\n"))
        self.wait(lambda: alive("4712") and endpoint.calls and "b" in self.ran(), what="both handlers")
        self.done("message", "cancel", first)
        self.done("message", "cancel", second)
        self.dead(2)
        self.wait(lambda: not alive("4712"), what="the program's end")
        self.stop()
        self.assertEqual(self.notes(first)["b"]["state"], "done")

    def test_waiting(self):
        message = self.ok("send", "order", "--stream", "s")["id"]
        self.ok("send", "order", "--stream", "s")
        self.done("message", "cancel", message)
        self.start("--on", f"*=exec:{self.noter('ran')}", "--max-attempts", "3")
        self.wait(lambda: self.counts()["dead"] == 1, what="the dead letter")
        time.sleep(0.5)
        self.stop()
        self.assertLessEqual(len(self.ran()), 1)
        self.assertEqual(self.ok("message", "list", "--state", "dead")[0]["id"], message)

    def test_taken_back_and_refused(self):
        message = self.ok("send", "order")["id"]
        self.done("message", "cancel", message)
        self.assertEqual(self.ok("pause", "list")[0]["scope"], "message")
        self.done("resume", "message", message)
        self.assertEqual(self.run_worker("--on", "*=exec:true").code, 0)
        self.assertEqual(self.counts()["done"], 1)
        self.refused(EXIT_CODES["not found"], "there is no message", "message", "cancel", message)
        self.refused(EXIT_CODES["usage"], "not one of topic|stream|handler|queue", "pause", "message", message)


class PauseTest(ControlTest):
    """Pauses that a running worker sees, and what flows meanwhile."""

    def held(self, scope, name, held_args, other_args):
        handler = self.script(f'echo "$PAWL_TYPE" >> {self.log}')
        self.start("--on", f"held*=exec:{handler}", "--on", f"*=exec:{handler}")
        self.ok("send", "held", *held_args)
        self.wait(lambda: self.ran() == ["held"], what="a message before the pause")
        self.done("pause", scope, name, "--reason", "repair")
        time.sleep(0.6)  # a heartbeat is 200 ms
        waits = self.ok("send", "held", *held_args)["id"]
        self.ok("send", "other", *other_args)
        self.wait(lambda: "other" in self.ran(), what="what is not paused")
        time.sleep(0.3)
        self.assertEqual(self.ran().count("held"), 1)
        why = self.ok("why", waits)
        self.assertEqual((why["cause"], why["pause_scope"], why["pause_name"], why["pause_reason"]), ("paused", scope, name, "repair"))
        self.assertRegex(why["explanation"], f"its {scope} .* is paused since .*: repair")
        self.assertIn("pawl resume " + scope, why["next"])
        self.done("resume", scope, name)
        self.wait(lambda: self.ran().count("held") == 2, what="what was paused")
        self.stop()
        self.assertEqual((self.counts()["done"], self.counts()["dead"]), (3, 0))
        self.assertEqual([row["action"] + " " + row["detail"] for row in self.deeds()],
                         [f"resume scope={scope} name={name}", f"pause scope={scope} name={name} reason=repair"])

    def test_topic(self):
        self.held("topic", "t1", ["--topic", "t1"], ["--topic", "t2"])

    def test_stream(self):
        self.held("stream", "s1", ["--stream", "s1"], ["--stream", "s2"])

    def test_handler(self):
        self.held("handler", "held*", [], [])


class AgainTest(ControlTest):
    """Replay, skip, redrive."""

    def test_replay(self):
        handler = self.script(f'echo "$PAWL_ID" >> {self.log}')
        out = self.ok("send", "order")["id"]
        received = self.receive()
        self.assertEqual(self.run_worker("--on", f"*=exec:{handler}", "--debug").code, 0)
        self.done("message", "replay", "--kind", "outbox", out, "--dry-run")
        self.assertEqual(self.counts()["done"], 1)
        self.done("message", "replay", "--kind", "outbox", out)
        again = self.ok("message", "replay", "--kind", "inbox", received)[0]["replayed"]
        self.assertEqual(self.run_worker("--on", f"*=exec:{handler}", "--debug").code, 0)
        self.assertEqual(sorted(self.ran()), sorted([out, out, received, again]))
        self.assertEqual(self.ok("message", "show", again)["causation_id"], received)
        absent = self.run_pawl("message", "replay", "--kind", "outbox", cli_support.ABSENT)
        self.assertEqual(absent.code, EXIT_CODES["not found"])
        self.assertIn("there is no completed message", absent.err)
        self.assertEqual([action for action, _ in self.actions()], ["message.replay", "message.replay"])

    def test_skip(self):
        """The stream that waits for a dead letter goes on without it."""
        handler = self.script(f'echo "$PAWL_TYPE" >> {self.log}; [ "$PAWL_TYPE" != bad ] || exit 65')
        ids = [self.ok("send", kind, "--stream", "s")["id"] for kind in ("bad", "good")]
        self.start("--handlers", self.handlers(f"[*]\nexec = {handler}\non-dead = block\n"))
        self.wait(lambda: self.counts()["dead"] == 1, what="the dead letter")
        self.refused(EXIT_CODES["not found"], "no dead letter", "message", "skip", "--kind", "outbox", ids[1], "--yes")
        self.done("message", "skip", "--kind", "outbox", ids[0], "--yes")
        self.wait(lambda: self.counts()["done"] == 1, what="the stream")
        self.stop()
        self.assertEqual((self.ran(), self.counts()["dead"]), (["bad", "good"], 0))
        self.assertEqual(self.actions()[0][0], "message.skip")

    def test_redrive_at_a_rate(self):
        count, rate = 12, 4
        for n in range(count):
            self.ok("send", "order", "--stream", f"s{n}")
        self.assertEqual(self.run_worker("--on", f"*=exec:{self.script('exit 65')}").code, 0)
        self.assertEqual(self.counts()["dead"], count)
        dry = self.ok("message", "retry", "--type", "order", "--rate", str(rate), "--dry-run")
        self.assertEqual((len(dry), self.counts()["dead"], self.actions()), (count, count, []))
        began = time.monotonic()
        result = self.run_pawl("message", "retry", "--type", "order", "--rate", str(rate), "--yes",
                               env={"PAWL_ACTOR": "anna"})
        self.assertEqual(result.code, 0, result)
        took = time.monotonic() - began
        self.assertGreaterEqual(took, (count - rate) / rate * 0.95)
        self.assertEqual(self.counts()["dead"], 0)
        action = self.ok("action", "list")[0]
        self.assertEqual((action["action"], action["actor"]), ("message.retry", "anna"))
        self.assertEqual(action["detail"], f"type=order rate={rate}")


class TransportTest(ControlTest):
    """What a transports file limits, and what it may not say."""

    def test_rate_of_a_topic(self):
        path = self.transports("[transport out]\nurl = file:out.jsonl\n"
                               "[route slow]\ntransport = out\nrate = 10\n[route *]\ntransport = out\n")
        for n in range(30):
            self.ok("send", "s", "--topic", "slow")
        self.ok("send", "f", "--topic", "fast")
        began = time.monotonic()
        self.start("--transports", path)
        self.wait(lambda: any(event["type"] == "f" for event in self.published()), what="the other topic")
        self.wait(lambda: len(self.published()) == 31, what="everything")
        took = time.monotonic() - began
        self.stop()
        self.assertGreaterEqual(took, 1.9)  # a second's worth at once, then ten per second

    def test_breaker(self):
        """A broker that fails is left alone; its messages lose no attempt, other transports go on."""
        if not any(row["transport"] == "redis" and row["available"] for row in self.ok("transport", "list")):
            self.skipTest("no redis module here")
        calls = []
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)

        def refuse():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                calls.append(time.monotonic())
                connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        path = self.transports(f"[transport broken]\nurl = redis://127.0.0.1:{server.getsockname()[1]}\n"
                               "breaker-failures = 2\nbreaker-pause = 3s\n[transport out]\nurl = file:out.jsonl\n"
                               "[route b]\ntransport = broken\n[route *]\ntransport = out\n")
        message = self.ok("send", "b", "--topic", "b")["id"]
        self.start("--transports", path)
        self.wait(lambda: len(calls) >= 2, what="two calls")
        time.sleep(0.2)
        before = len(calls)
        self.ok("send", "x", "--topic", "x")
        self.wait(lambda: len(self.published()) == 1, what="the other transport")
        time.sleep(1.5)
        self.assertEqual(len(calls), before, "a broker that rests was called")
        self.wait(lambda: len(calls) > before, what="the test after the rest")
        self.process.terminate()
        self.assertEqual(self.process.wait(20), 0)
        said = [line for line in self.process.stderr.read().decode().splitlines() if "event=broker_unavailable" in line]
        self.assertGreaterEqual(len(said), 2, said)  # the first failure, and the rest; not every message
        self.assertTrue(all("transport=broken" in line and "reason=" in line for line in said), said)
        row = self.ok("message", "show", message)
        self.assertEqual((row["state"] == "dead", row["attempts"] or 0), (False, 0))

    def test_faults_of_the_file(self):
        """Each is told with its line and a reason."""
        head = "[transport out]\nurl = file:out.jsonl\n"
        for text, line, fragment in (("[nonsense x]\n", 1, ""), (head + "colour = red\n", 3, "colour"),
                                     (head + "[route *]\ntransport = other\n", 4, "needs the name of a [transport NAME]"),
                                     (head + "[route *]\ntransport = out\nrate = many\n", 5, "rate"),
                                     ("[transport out]\nurl = carrier-pigeon://x\n", 1, "no transport has this kind of address"),
                                     (head + "url = file:b\n", 3, "twice"),
                                     ("[transport out]\nurl-env = NO_SUCH_VARIABLE\n", 2, ""),
                                     (head + "breaker-failures = 0\n", 3, "breaker-failures")):
            path = self.transports(text)
            result = self.run_pawl("worker", "--transports", path)
            self.assertNotEqual(result.code, 0, (text, result))
            self.assertIn(f"transports.ini:{line}" if line else "transports.ini:", result.err, text)
            self.assertIn(fragment, result.err, text)

    def test_nothing_outside_the_outbox(self):
        """What was rolled back is not published, what was committed is, once. covers: BX.6 M52"""
        if Setup.dialect == "sqlite":
            def write(kind, end):
                self.sql_script(f"BEGIN; INSERT INTO pawl_intake (type, payload) VALUES ('{kind}', '{{}}'); {end};")
        else:
            def write(kind, end):
                subprocess.run(["psql", "-q", "-d", self.url, "-v", "ON_ERROR_STOP=1", "-c",
                                f"""BEGIN; SELECT "{self.schema}".send('{kind}', '{{}}'); {end}"""], check=True,
                               stdout=subprocess.DEVNULL, timeout=60)
        self.start("--transports", self.transports("[transport out]\nurl = file:out.jsonl\n[route *]\ntransport = out\n"))
        for n in range(5):
            write(f"no{n}", "ROLLBACK")
            write(f"yes{n}", "COMMIT")
        self.wait(lambda: len(self.published()) >= 5, what="what was committed")
        time.sleep(0.3)
        self.stop()
        self.assertEqual(sorted(event["type"] for event in self.published()), [f"yes{n}" for n in range(5)])

    def sql_script(self, text):
        import sqlite3  # the PostgreSQL run does not need it
        database = sqlite3.connect(self.url, isolation_level=None, timeout=30)
        for statement in text.rstrip(";").split(";"):
            database.execute(statement)
        database.close()

    def test_intake(self):
        """Order of the rows, nothing twice through killed workers, bad rows kept aside."""
        if Setup.dialect != "sqlite":
            self.skipTest("pawl.send is PostgreSQL's way")
        path = self.transports("[transport out]\nurl = file:out.jsonl\n[route *]\ntransport = out\n")
        count, streams = 1200, 6
        for n in range(0, count, 200):
            rows = ", ".join(f"('t', '{{\"n\": {n + i}}}', 's{(n + i) % streams}')" for i in range(200))
            self.sql_script(f"BEGIN IMMEDIATE; INSERT INTO pawl_intake (type, payload, stream) VALUES {rows}; COMMIT")
        self.sql_script("INSERT INTO pawl_intake (type, payload) VALUES ('bad', 'not json')")
        self.sql_script("INSERT INTO pawl_intake (type, payload, id) VALUES ('bad', '{}', 'x')")
        for n in range(3):
            self.start("--transports", path, "--instance-lease", "1s")
            time.sleep(0.3 + 0.3 * n)
            self.process.kill()
            self.process.wait()
            self.process.stderr.close()
        self.start("--transports", path)
        self.wait(lambda: self.counts()["done"] == count, what="all of them", seconds=60)
        # The killed ones may have done it all: this one may not listen to signals yet.
        self.wait(lambda: self.process.pid in [row["pid"] for row in self.ok("instance", "list")], what="the worker")
        self.stop()
        ids, seen = set(), {}
        for event in self.published():
            if event["id"] not in ids:
                seen.setdefault(event["partitionkey"], []).append(event["data"]["n"])
            ids.add(event["id"])
        self.assertEqual(len(ids), count)
        for stream, numbers in seen.items():
            self.assertEqual(numbers, sorted(numbers), stream)
        self.assertEqual(self.sql("SELECT count(*) FROM pawl_intake"), [(0,)])
        refused = self.ok("message", "refused")
        self.assertEqual([row["consumer"] for row in refused], ["intake", "intake"])

    def test_one_way_to_a_broker(self):
        """Only the publisher publishes, and only what was stored first uses it: the outbox its claimed messages, the spine its
        events, which a job's own transaction wrote. covers: BX.6"""
        callers = {"->publish(": set(), "publisher_publish(": set()}
        for path in (pathlib.Path(Setup.root) / "src").rglob("*.c"):
            text = path.read_text(encoding="utf-8")
            for word, found in callers.items():
                if word in text and "transport/modules" not in str(path):
                    found.add(path.name)
        self.assertEqual(callers["->publish("], {"publisher.c"})
        self.assertEqual(callers["publisher_publish("], {"publisher.c", "outbox.c", "spine.c"})


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
