#!/usr/bin/env python3
"""The worker from outside: what a handler is given, what its end means, how it is contained, how a worker stops."""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import time
import urllib.request
import uuid

import cli_support
from cli_support import ABSENT, EXIT_CODES, CliTest, Setup

FAST = ["--poll", "50ms", "--retry-base", "100ms", "--retry-max", "200ms", "--heartbeat", "200ms"]


def alive(marker):
    """Processes whose command line has the marker; zombies have none."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


class WorkerTest(CliTest):
    """A worker, a handler that is a shell script, and a database."""

    def setUp(self):
        super().setUp()
        self.migrate()
        self.process = None
        self.log = self.dir / "effects"
        self.addCleanup(self.end)

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()
            self.process.stderr.close()

    def script(self, text, name="handle.sh"):
        path = self.dir / name
        path.write_text("#!/bin/sh\n" + text + "\n", encoding="utf-8")
        path.chmod(0o755)
        return "./" + name

    def start(self, *args, **env):
        self.process = subprocess.Popen([Setup.pawl, "worker", *FAST, *args], env=dict(self.env, **env), cwd=self.dir,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        return self.process

    def run_worker(self, *args, **kwargs):
        """Until nothing is left to do."""
        return self.run_pawl("worker", *FAST, "--until-idle", *args, **kwargs)

    def wait(self, condition, seconds=20, what="it"):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.02)
        self.fail(f"{what} did not happen within {seconds} s")

    def counts(self):
        return self.ok("status")["kinds"][0]

    def stop(self, code=0, seconds=20):
        """Returns what it has logged."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(seconds)
        said = self.process.stderr.read().decode()
        self.assertEqual(self.process.returncode, code, said)
        return said


class HandlerTest(WorkerTest):
    """What a handler gets, and what its end means."""

    def test_message_and_environment(self):
        handler = self.script('cat > message.json; env > environment')
        sent = self.ok("send", "Order.Created", '{"n": 1}', "--stream", "o-1", "--traceparent", "00-1-2-03",
                       "--header", "k=v")
        done = self.run_worker("--on", f"order.*=exec:{handler}", env={"SECRET_THING": "x"})
        self.assertEqual(done.code, 0, done)
        message = json.loads((self.dir / "message.json").read_text(encoding="utf-8"))
        self.assertEqual((message["id"], message["type"], message["stream"], message["payload"], message["headers"]),
                         (sent["id"], "Order.Created", "o-1", {"n": 1}, {"k": "v"}))
        self.assertEqual((message["attempt"], message["kind"]), (1, "outbox"))
        env = dict(line.split("=", 1) for line in (self.dir / "environment").read_text().splitlines() if "=" in line)
        self.assertEqual((env["PAWL_ID"], env["PAWL_ATTEMPT"], env["PAWL_STREAM"], env["PAWL_TYPE"]),
                         (sent["id"], "1", "o-1", "Order.Created"))
        self.assertEqual((env["PAWL_TOKEN"], env["PAWL_IDEMPOTENCY_KEY"]),
                         (str(message["token"]), message["idempotency_key"]))
        self.assertEqual((env["TRACEPARENT"], env["PAWL_TRACEPARENT"]), ("00-1-2-03", "00-1-2-03"))
        for name in ("SECRET_THING", "DATABASE_URL", "PAWL_SCHEMA"):
            self.assertNotIn(name, env)

    def test_exit_codes(self):
        handler = self.script('echo "reason $PAWL_TYPE" >&2; case $PAWL_TYPE in crash) kill -SEGV $$;; esac; '
                              'exit "${PAWL_TYPE#exit}"')
        ids = {name: self.ok("send", name)["id"] for name in ("exit0", "exit75", "exit65", "exit78", "exit3", "crash")}
        self.start("--on", f"*=exec:{handler}", "--max-attempts", "3")
        self.wait(lambda: self.counts()["dead"] == 5, what="five dead letters")
        said = self.stop()
        rows = {row["id"]: row for row in self.ok("message", "list", "--state", "dead")}
        self.assertNotIn(ids["exit0"], rows)
        for name, result in (("exit75", "retry"), ("exit65", "permanent")):  # the first attempts: ten a second are told
            self.assertRegex(said, f'event=attempt_failed kind=outbox id={ids[name]} type={name} attempt=1 '
                                   f'result={result} error="exit code {name[4:]}: reason {name}"')
        self.assertRegex(said, f"event=dead_letter seq=[0-9]+ id={ids['exit65']} type=exit65")
        self.assertNotIn(f"event=attempt_failed kind=outbox id={ids['exit0']}", said)
        for name, attempts, reason, text in (("exit75", 3, "attempts", "exit code 75: reason exit75"),
                                             ("exit65", 1, "permanent", "exit code 65"),
                                             ("exit78", 1, "permanent", "exit code 78"),
                                             ("exit3", 3, "attempts", "exit code 3"), ("crash", 3, "attempts", "signal 11")):
            row = rows[ids[name]]
            self.assertEqual((row["attempts"], row["reason"]), (attempts, reason), row)
            self.assertIn(text, row["error"])

    def test_streams_keep_their_order_through_failures(self):
        """The third of ten fails twice: the rest of its stream waits, another stream does not."""
        handler = self.script(f'echo "$PAWL_STREAM $PAWL_SEQ $PAWL_ATTEMPT" >> {self.log}; '
                              '[ "$PAWL_STREAM$PAWL_TYPE" = abad ] && [ "$PAWL_ATTEMPT" -lt 3 ] && exit 75; exit 0')
        for n in range(10):
            self.ok("send", "bad" if n == 2 else "good", "--stream", "a")
            self.ok("send", "good", "--stream", "b")
        self.start("--on", f"*=exec:{handler}")
        self.wait(lambda: self.counts()["done"] == 20, what="twenty done messages")
        self.stop()
        rows = [line.split() for line in self.log.read_text().splitlines()]
        a = [int(seq) for stream, seq, _ in rows if stream == "a"]
        b = [int(seq) for stream, seq, _ in rows if stream == "b"]
        self.assertEqual(a, sorted(a))
        self.assertEqual((len(a), len(set(a))), (12, 10))
        self.assertEqual(b, sorted(set(b)))

    def test_first_pattern_wins_and_inbox_is_handled(self):
        one, two = self.script(f"echo one >> {self.log}", "one.sh"), self.script(f"echo two >> {self.log}", "two.sh")
        self.ok("send", "ORDER.created")
        self.ok("send", "other", "--kind", "inbox", "--consumer", "c")
        done = self.run_worker("--on", f"order.*=exec:{one}", "--on", f"*=exec:{two}")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(sorted(self.log.read_text().split()), ["one", "two"])

    def test_message_without_a_handler_waits(self):
        handler = self.script("exit 0")
        self.ok("send", "nobody.knows")
        done = self.run_worker("--on", f"order.*=exec:{handler}")
        self.assertEqual(done.code, 0, done)
        self.assertIn("event=no_handler type=nobody.knows", done.err)
        counts = self.counts()
        self.assertEqual((counts["dead"], counts["failed"], counts["aside"] + counts["ready"]), (0, 0, 1))

    def test_job_without_a_handler_waits(self):
        handler = self.script("exit 0")
        self.ok("job", "enqueue", "nobody.knows")
        self.start("--on", f"order.*=exec:{handler}")
        self.wait(lambda: [job["state"] for job in self.ok("job", "list")] == ["later"])
        self.assertIn("event=no_handler job=1 type=nobody.knows", self.stop())
        self.assertEqual([job["attempts"] for job in self.ok("job", "list")], [0])

    def test_handlers_file(self):
        self.script(f"echo $PAWL_TYPE >> {self.log}")
        (self.dir / "h.ini").write_text("# mine\n[order.*]\nexec = ./handle.sh 'a b'\ntimeout = 5s\nconcurrency = 2\n"
                                        "retry-base = 1s\nretry-max = 2s\nmax-attempts = 3\non-dead = block\n\n[*]\n"
                                        "exec=./handle.sh\n", encoding="utf-8")
        self.ok("send", "order.x")
        self.ok("send", "y")
        done = self.run_worker("--handlers", "h.ini")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(sorted(self.log.read_text().split()), ["order.x", "y"])


class ContainmentTest(WorkerTest):
    """Handlers that misbehave: the slot comes back, memory stays, no process is left."""

    def ended(self):
        counts = self.counts()
        return counts["dead"] + counts["done"]

    def contained(self, text, error, timeout_s=1):
        marker = "9" + str(os.getpid()) + str(time.monotonic_ns())[-7:]
        handler = self.script(text.replace("MARK", marker))
        ended = self.ended()
        self.ok("send", "T")
        started = time.monotonic()
        self.start("--on", f"*=exec:{handler}", "--processing-timeout", f"{timeout_s}s", "--max-attempts", "1",
                   "--concurrency", "1")
        self.wait(lambda: self.ended() > ended, what="the end of the handler")
        took = time.monotonic() - started
        self.assertLess(took, timeout_s + 3 + 5, "the slot came back too late")
        self.wait(lambda: not alive(marker), 5, "the end of every process")
        rss = int((pathlib.Path("/proc") / str(self.process.pid) / "statm").read_text().split()[1])
        self.stop()
        if error is None:
            self.assertEqual(self.counts()["done"], 1)
        else:
            self.assertIn(error, self.ok("message", "list", "--state", "dead")[0]["error"])
        return rss * os.sysconf("SC_PAGE_SIZE")

    def test_hangs(self):
        self.contained("exec sleep MARK", "did not end within its time limit of 1000 ms")

    def test_ignores_sigterm(self):
        self.contained("trap '' TERM; while :; do sleep MARK; done", "time limit")

    def test_forks_away_and_hangs(self):
        self.contained("(setsid sh -c 'sleep MARK' &) ; sleep MARK", "time limit")

    def test_forks_away_and_ends(self):
        self.contained("setsid sh -c 'sleep MARK & sleep MARK' >/dev/null 2>&1 & exit 0", None)

    def test_floods_stdout(self):
        before = self.contained("exit 0", None)
        self.log.unlink(missing_ok=True)
        after = self.contained("exec head -c 1000000000 /dev/zero", "wrote more than 8388608 bytes", 20)
        self.assertLess(after - before, 16 * 1024 * 1024)

    def test_floods_stderr(self):
        self.contained("head -c 100000000 /dev/zero | tr '\\0' 'x' >&2; exit 65", "exit code 65: xxx", 20)

    def test_closes_stdout_and_goes_on(self):
        self.contained("exec >&- 2>&-; exec sleep MARK", "time limit")

    def test_ends_by_signal(self):
        self.contained("kill -KILL $$", "ended by signal 9")

    def test_dies_with_its_worker(self):
        marker = "8" + str(os.getpid())
        handler = self.script(f"exec sleep {marker}")
        self.ok("send", "T")
        self.start("--on", f"*=exec:{handler}")
        self.wait(lambda: alive(marker), what="the handler")
        self.process.kill()
        self.wait(lambda: not alive(marker), 5, "the end of the orphan")


class PauseTest(WorkerTest):
    """What is paused costs the rest nothing."""

    def test_the_open_go_on_beside_many_paused(self):
        self.assertEqual(self.run_pawl("pause", "topic", "closed").code, 0)
        lines = [json.dumps({"type": "t", "topic": "closed" if n % 4 else "open", "stream": f"s{n}", "payload": {}})
                 for n in range(1200)]
        self.ok("send", "--ndjson", "-", stdin="\n".join(lines) + "\n")
        self.start("--concurrency", "4", "--on", "t=exec:" + self.script(":"))
        self.wait(lambda: self.counts()["done"] == 300, 60, "the end of the open ones")
        self.assertEqual(self.run_pawl("resume", "topic", "closed").code, 0)
        self.wait(lambda: self.counts()["done"] == 1200, 60, "the end of the others")

    def begun(self, kind):
        return self.log.read_text(encoding="utf-8").split().count(kind) if self.log.exists() else 0

    def test_thousands_of_paused_streams_come_first_and_delay_nothing(self):
        """The open ones are sent last, begin at once, and a resume begins at once."""
        self.assertEqual(self.run_pawl("pause", "topic", "closed").code, 0)
        for kind, count in (("closed", 6000), ("open", 200)):
            lines = [json.dumps({"type": "t." + kind, "topic": kind, "stream": f"{kind}-{n}", "payload": {}}) for n in range(count)]
            self.ok("send", "--ndjson", "-", stdin="\n".join(lines) + "\n")
        handler = self.script(f'echo "$PAWL_TYPE" >> {self.log}')
        self.start("--concurrency", "4", "--on", "t.*=exec:" + handler)
        self.wait(lambda: self.begun("t.open") == 200, 20, "the end of the open ones")
        self.assertEqual(self.begun("t.closed"), 0)
        self.wait(lambda: self.counts()["done"] == 200, 20, "their reports")
        self.assertEqual((self.counts()["ready"], self.counts()["leased"]), (0, 0))  # nobody looks at the others again
        self.assertEqual(self.run_pawl("resume", "topic", "closed").code, 0)
        self.wait(lambda: self.begun("t.closed") > 0, 10, "the first of the others")


class DeathTest(WorkerTest):
    """A worker is killed with much in its hands."""

    def begun(self):
        return self.log.read_text(encoding="utf-8").split() if self.log.exists() else []

    def kill_after(self, count, args):
        self.start(*args)
        self.wait(lambda: len(self.begun()) >= count, 30, "a handler")
        self.process.kill()
        self.process.wait()

    def test_what_never_began_is_not_charged(self):
        """covers: B2.8"""
        lines = [json.dumps({"type": "t", "stream": f"s{n}", "payload": {}}) for n in range(300)]
        self.ok("send", "--ndjson", "-", stdin="\n".join(lines) + "\n")
        args = ["--concurrency", "1", "--max-attempts", "1", "--instance-lease", "1s", "--on"]
        self.kill_after(1, [*args, "t=exec:" + self.script(f"echo x >> {self.log}; sleep 60", "slow.sh")])
        self.assertGreater(len(self.ok("message", "list", "--state", "leased")), 1)
        self.end()
        self.start(*args, "t=exec:" + self.script(":", "quick.sh"))
        self.wait(lambda: self.counts()["done"] + self.counts()["dead"] == 300, 60, "all of them")
        self.stop()
        self.assertEqual(self.counts()["dead"], 0)

    def test_what_kills_its_worker_is_charged_and_its_neighbours_are_not(self):
        """covers: B2.8"""
        for n in range(20):
            self.ok("send", "t", f'{{"n": {n}}}', "--stream", f"s{n}")
        handler = self.script('read -r line; case "$line" in *\'"n": 7\'*|*\'"n":7\'*) kill -9 $PPID; sleep 60;; esac')
        args = ["--concurrency", "2", "--max-attempts", "2", "--instance-lease", "1s", "--on", "t=exec:" + handler]
        kills = 0
        while self.counts()["done"] + self.counts()["dead"] < 20 and kills < 10:
            self.start(*args)
            self.wait(lambda: self.process.poll() is not None
                      or self.counts()["done"] + self.counts()["dead"] == 20, 60, "the end of the worker or the work")
            kills += self.process.poll() is not None
            self.end()
        self.assertEqual((self.counts()["done"], self.counts()["dead"]), (19, 1))
        self.assertLessEqual(kills, 4)


class FullTest(WorkerTest):
    """A worker whose slots are all busy leaves what waits, and its lanes, to the others."""

    def test_streams_do_not_wait_for_a_full_worker(self):
        handler = self.script(f'echo "$PAWL_STREAM $PAWL_ID $PAWL_ATTEMPT" >> {self.log}\n'
                              'while [ "$PAWL_TYPE" = long ] && [ ! -e go ]; do sleep 0.05; done')
        args = ["--concurrency", "1", "--on", f"*=exec:{handler}"]
        full = self.start(*args)
        self.addCleanup(full.stderr.close)
        self.addCleanup(full.wait)
        self.addCleanup(full.kill)
        long = self.ok("send", "long", "--stream", "long")
        self.wait(self.log.exists, what="the long handler")
        sent = [self.ok("send", "short", "--stream", f"s{n % 8}") for n in range(16)]
        self.wait(lambda: self.counts()["leased"] > 1, what="a claim ahead of the slot")
        self.start(*args)
        order = [row["id"] for row in sent]
        wanted = {row["id"] for row in sent if row["lane"] != long["lane"]}

        def ran():
            return [line.split() for line in self.log.read_text().splitlines()[1:]]

        self.wait(lambda: wanted <= {row[1] for row in ran()}, 60, "the work of the other streams")
        (self.dir / "go").touch()
        self.wait(lambda: self.counts()["done"] == 17, 60, "everything")
        self.stop()
        full.send_signal(signal.SIGTERM)
        self.assertEqual(full.wait(20), 0)
        self.assertEqual({row[2] for row in ran()}, {"1"})
        self.assertEqual(len(ran()), 16)
        for stream in {row[0] for row in ran()}:
            places = [order.index(row[1]) for row in ran() if row[0] == stream]
            self.assertEqual(places, sorted(places))


class IdleTest(WorkerTest):
    """Idle: nothing that is due is waiting, running or on its way, here or with a worker that died. covers: P59 P60"""

    def test_what_a_dead_owner_had_is_waited_for(self):
        lines = "\n".join(json.dumps({"type": "T", "stream": f"s{n}", "payload": {}}) for n in range(60))
        self.ok("send", "T", "--ndjson", "-", stdin=lines)
        marker = "7" + str(os.getpid())
        self.start("--on", f"*=exec:{self.script('exec sleep ' + marker, 'slow.sh')}", "--concurrency", "4")
        self.wait(lambda: alive(marker), what="the first handler")
        self.process.kill()
        result = self.run_worker("--on", f"*=exec:{self.script('true')}", "--concurrency", "8")
        self.assertEqual(result.code, 0, result)
        counts = self.counts()
        self.assertEqual((counts["ready"], counts["leased"], counts["aside"], counts["done"]), (0, 0, 0, 60), result)

    def test_what_waits_for_another_attempt_is_told(self):
        self.ok("send", "T", "--stream", "s")
        result = self.run_pawl("worker", "--poll", "50ms", "--until-idle", "--retry-base", "60s", "--retry-max", "60s",
                               "--on", f"*=exec:{self.script('exit 75')}")
        self.assertEqual(result.code, 0, result)
        self.assertIn("event=idle_left", result.err)
        self.assertIn("later=1", result.err)

    def test_who_cannot_ask_is_not_idle(self):
        away = "pawl_tally_away" if Setup.dialect == "sqlite" else "tally_away"
        self.sql(f"ALTER TABLE pawl_internal.tally RENAME TO {away}")
        log = self.dir / "worker.log"
        with open(log, "wb") as file:
            self.process = subprocess.Popen([Setup.pawl, "worker", *FAST, "--until-idle", "--on", f"*=exec:{self.script('true')}"],
                                            env=self.env, cwd=self.dir, stderr=file, stdin=subprocess.DEVNULL)
        self.process.stderr = open(log, "rb")
        self.wait(lambda: "event=idle_unknown" in log.read_text() or self.process.poll() is not None, 30, "the question")
        self.assertIsNone(self.process.poll(), log.read_text())
        self.sql("ALTER TABLE pawl_internal.tally_away RENAME TO " + ("pawl_tally" if Setup.dialect == "sqlite" else "tally"))
        self.assertEqual(self.process.wait(timeout=30), 0)


class StopTest(WorkerTest):
    """SIGTERM drains, a second one does not wait. covers: J14 J54 B4.12"""

    def begin(self, *args, handler_s=60):
        handler = self.script(f'echo begin >> {self.log}; trap "" TERM; sleep {handler_s}; echo end >> {self.log}')
        for n in range(3):
            self.ok("send", "T", "--stream", f"s{n}")
        self.start("--on", f"*=exec:{handler}", "--concurrency", "1", *args)
        self.wait(lambda: self.log.exists() and "begin" in self.log.read_text(), what="the first handler")

    def test_drain(self):
        self.begin(handler_s=1.5)
        self.stop()
        self.assertEqual(self.log.read_text().split(), ["begin", "end"])
        counts = self.counts()
        self.assertEqual((counts["done"], counts["leased"], counts["failed"]), (1, 0, 0))
        rows = self.ok("message", "list")
        self.assertEqual([row["attempts"] for row in rows], [0, 0])
        self.assertEqual(self.ok("instance", "list"), [])

    def test_drain_has_an_end(self):
        self.begin("--drain", "200ms")
        self.stop(EXIT_CODES["busy"])
        counts = self.counts()
        self.assertEqual((counts["done"], counts["leased"], counts["failed"]), (0, 0, 0))

    def test_with_perspectives(self):
        """Whatever threads a worker has, the signal is its own."""
        self.start("--kinds", "perspectives")
        self.wait(lambda: len(self.ok("instance", "list")) == 1, what="the instance")
        time.sleep(0.2)
        self.stop()
        self.assertEqual(self.ok("instance", "list"), [])

    def test_second_signal(self):
        self.begin("--drain", "60s")
        self.process.send_signal(signal.SIGTERM)
        while b"event=stopping" not in self.process.stderr.readline():  # two signals at once may arrive as one
            pass
        self.stop(EXIT_CODES["busy"])
        self.assertEqual(self.log.read_text().split(), ["begin"])
        counts = self.counts()
        self.assertEqual((counts["done"], counts["leased"]), (0, 0))

    def test_nohup(self):
        """The terminal goes away and the worker stays."""
        handler = self.script(f"echo done >> {self.log}")
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            self.start("--on", f"*=exec:{handler}")
        finally:
            signal.signal(signal.SIGHUP, before)
        self.wait(lambda: len(self.ok("instance", "list")) == 1, what="the instance")
        self.process.send_signal(signal.SIGHUP)
        self.ok("send", "T")
        self.wait(self.log.exists, what="the message")
        self.stop()

    def test_signals_while_it_ends(self):
        """They were obeyed already: the exit code says how it ended, not that one more came."""
        self.begin("--drain", "60s")
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.returncode, EXIT_CODES["busy"], self.process.stderr.read().decode())


class BadInputTest(WorkerTest):
    """Wrong from the start: said clearly, with a code, and nothing is lost."""

    def server(self, text):
        subprocess.run(["psql", "-q", "-d", Setup.pg_url, "-c", text], check=True, stdout=subprocess.DEVNULL)

    def test_command_line(self):
        self.script("exit 0")
        (self.dir / "plain").write_text("x", encoding="utf-8")
        self.refused(EXIT_CODES["usage"], "--onn", "worker", "--onn", "x")
        self.refused(EXIT_CODES["invalid"], "no handler", "worker")
        self.refused(EXIT_CODES["invalid"], "has no =", "worker", "--on", "order")
        self.refused(EXIT_CODES["invalid"], "is not a handler", "worker", "--on", "*=run:x")
        self.refused(EXIT_CODES["not found"], "./absent.sh", "worker", "--on", "*=exec:./absent.sh")
        self.refused(EXIT_CODES["not found"], "not in PATH", "worker", "--on", "*=exec:no-such-program-here")
        self.refused(EXIT_CODES["invalid"], "not executable", "worker", "--on", "*=exec:./plain")
        self.refused(EXIT_CODES["invalid"], "is a directory", "worker", "--on", "*=exec:/tmp")
        self.refused(EXIT_CODES["invalid"], "can never match", "worker", "--on", "*=exec:./handle.sh", "--on",
                     "order.*=exec:./handle.sh")
        self.refused(EXIT_CODES["invalid"], "does not end", "worker", "--on", "*=exec:./handle.sh 'x")
        self.refused(EXIT_CODES["invalid"], "the kinds are outbox, inbox, jobs and perspectives", "worker", "--on",
                     "*=exec:./handle.sh", "--kinds", "outbox,mail")
        self.refused(EXIT_CODES["invalid"], "is not a UUID", "worker", "--on", "*=exec:./handle.sh", "--worker-id", "x")
        self.refused(EXIT_CODES["invalid"], "two heartbeats", "worker", "--on", "*=exec:./handle.sh", "--heartbeat", "20s",
                     "--instance-lease", "15s")

    def test_handlers_file(self):
        self.script("exit 0")
        for text, line, reason in (("[a]\nexec = ./handle.sh\nspeed = 3\n", 3, "unknown key 'speed'"),
                                   ("exec = ./handle.sh\n", 1, "must come first"),
                                   ("[a]\n\n[b]\nexec = ./handle.sh\n", 1, "has no exec"),
                                   ("[a\nexec = ./handle.sh\n", 1, "ends with ]"),
                                   ("[a]\nexec = ./nope.sh\n", 1, "./nope.sh"),
                                   ("[a]\nexec = ./handle.sh\ntimeout = soon\n", 3, "duration"),
                                   ("[a]\nexec = ./handle.sh\nexec = ./handle.sh\n", 3, "twice"),
                                   ("[a]\nexec = ./handle.sh\n[A]\nexec = ./handle.sh\n", 3, "can never match"),
                                   ("[a]\nexec = ./handle.sh\non-dead = burn\n", 3, "block, skip or park")):
            (self.dir / "h.ini").write_text(text, encoding="utf-8")
            result = self.run_pawl("worker", "--handlers", "h.ini")
            self.assertIn(result.code, (EXIT_CODES["invalid"], EXIT_CODES["not found"]), result)
            self.assertIn(f"h.ini:{line}: ", result.err, result)
            self.assertIn(reason, result.err, result)
        self.refused(EXIT_CODES["not found"], "absent.ini", "worker", "--handlers", "absent.ini")

    def test_two_workers_with_one_id(self):
        handler = self.script("exit 0")
        self.start("--on", f"*=exec:{handler}", "--worker-id", ABSENT)
        self.wait(lambda: len(self.ok("instance", "list")) == 1, what="the first worker")
        second = self.run_pawl("worker", "--on", f"*=exec:{handler}", "--worker-id", ABSENT)
        self.assertEqual(second.code, EXIT_CODES["conflict"], second)
        self.assertIn("Leave --worker-id out", second.err)
        self.ok("send", "T")
        self.wait(lambda: self.counts()["done"] == 1, what="the first worker's work")
        self.stop()

    def test_wrong_address(self):
        handler = self.script("exit 0")
        url = str(self.dir / "absent.db") if Setup.dialect == "sqlite" else "postgresql://x@127.0.0.1:1/x"
        result = self.run_pawl("worker", "--on", f"*=exec:{handler}", "--database-url", url)
        self.assertIn(result.code, (EXIT_CODES["not found"], EXIT_CODES["unavailable"]), result)
        self.assertEqual(result.err.count("\n"), 1, result)

    def test_waits_for_a_database(self):
        """covers: P29 P32 P34"""
        late = str(self.dir / "late.db")
        if Setup.dialect == "postgres":
            name = "late_" + uuid.uuid4().hex[:12]
            late = Setup.pg_url.rsplit("/", 1)[0] + "/" + name
            self.addCleanup(self.server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        handler = self.script("exit 0")
        self.start("--on", f"*=exec:{handler}", "--wait", DATABASE_URL=late)
        seen = b""
        while b"event=database_not_ready checks=2" not in seen:
            line = self.process.stderr.readline()
            self.assertNotEqual(line, b"", seen)
            seen += line
        self.assertIn(b"event=start_skipped", seen)
        env = {"DATABASE_URL": late}
        if Setup.dialect == "postgres":
            self.server(f"CREATE DATABASE {name}")
        self.ok("migrate", env=env)
        self.ok("send", "T", env=env)
        self.wait(lambda: self.ok("status", env=env)["kinds"][0]["done"] == 1, what="the late work")
        self.stop()


class UpTest(WorkerTest):
    """pawl up: the same worker, for people."""

    def test_up(self):
        handler = self.script("exit 0")
        self.ok("send", "T", "--count", "20")
        result = self.run_pawl("up", *FAST, "--until-idle", "--on", f"*=exec:{handler}")
        self.assertEqual(result.code, 0, result)
        self.assertIn("pawl: done 20, failed attempts 0, dead letters 0", result.err)

    def test_up_runs_jobs(self):
        handler = self.script("exit 0")
        self.ok("job", "enqueue", "note", "{}", "--count", "3")
        result = self.run_pawl("up", *FAST, "--until-idle", "--on", f"*=exec:{handler}")
        self.assertEqual(result.code, 0, result)
        self.assertIn("pawl: jobs done 3, failed attempts 0, dead 0", result.err)
        result = self.run_pawl("up", *FAST, "--until-idle", "--kinds", "jobs")  # pipelines need no handler
        self.assertEqual(result.code, 0, result)
        self.assertNotIn("nothing is handled", result.err)

    def test_up_on_a_terminal(self):
        """A status line, and Ctrl-C drains as SIGTERM does."""
        handler = self.script("exit 0")
        self.ok("send", "T", "--count", "5")
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execvpe(Setup.pawl, [Setup.pawl, "up", *FAST, "--serve=false", "--log-level", "warn", "--on", f"*=exec:{handler}"], self.env)
        seen, asked, deadline = b"", False, time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                seen += os.read(terminal, 4096)
            except OSError:  # it has gone
                break
            if not asked and b"done 5" in seen:
                os.write(terminal, b"\x03")
                asked = True
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, seen)
        self.assertIn(b"waiting 0 (oldest 0)  running 0  done 5", seen)
        self.assertIn(b"pawl: done 5, failed attempts 0, dead letters 0, given back 0", seen)
        self.assertEqual(self.ok("instance", "list"), [])

    def test_up_without_a_handler_only_watches(self):
        self.ok("send", "T")
        self.process = subprocess.Popen([Setup.pawl, "up", *FAST, "--serve=false"], env=self.env, cwd=self.dir, stderr=subprocess.PIPE)
        self.wait(lambda: len(self.ok("instance", "list")) == 1, what="the instance")
        self.stop()
        self.assertEqual(self.counts()["ready"], 1)

    # covers: J19 J20 J21 J22
    def test_settings_of_the_sources(self):
        """Every combination that they show starts a worker; what is out of order is refused by name and value."""
        fine = [("15000", {"WORKER_LEASE_SECONDS": "60", "WORKER_MAX_LEASES": "1", "WORKER_CLEANUP_INTERVAL": "300", "WORKER_LOG_LEVEL": "INFO"}),
                ("90000", {"WORKER_LEASE_SECONDS": "60", "WORKER_HEARTBEAT_INTERVAL": "30"}),
                ("45000", {"WORKER_LEASE_SECONDS": "30", "WORKER_HEARTBEAT_INTERVAL": "15", "WORKER_CLEANUP_INTERVAL": "120"}),
                ("15000", {"WORKER_LEASE_SECONDS": "300", "WORKER_MAX_PROCESSING_TIME": "7200"}),
                ("15000", {"WORKER_BACKOFF_BASE_DELAY": "1.0", "WORKER_BACKOFF_MAX_DELAY": "60.0", "WORKER_BACKOFF_JITTER": "True"}),
                ("60000", {"WORKER_HEARTBEAT_INTERVAL": "30", "PAWL_INSTANCE_LEASE": "60s"}),
                (None, {"WORKER_LOG_LEVEL": "WARNING"}), (None, {"WORKER_LOG_LEVEL": "CRITICAL"})]
        for lease_ms, env in fine:
            done = self.run_pawl("worker", "--until-idle", "--on", "*=exec:true", env=env)
            self.assertEqual(done.code, 0, done)
            if lease_ms:
                self.assertIn(f"lease_ms={lease_ms} ", done.err)
        wrong = [({"WORKER_HEARTBEAT_INTERVAL": "30", "PAWL_INSTANCE_LEASE": "15s"}, "--instance-lease is 15s and --heartbeat is 30s"),
                 ({"WORKER_ID": "worker-1"}, "worker_id is 'worker-1'"),
                 ({"WORKER_LEASE_SECONDS": "soon"}, "WORKER_LEASE_SECONDS cannot be 'soon': write a number of seconds, as in 30 or 2.5, or one with a unit"),
                 ({"WORKER_MAX_LEASES": "0"}, "WORKER_MAX_LEASES is out of range with '0'")]
        for env, words in wrong:
            done = self.run_pawl("worker", "--until-idle", "--on", "*=exec:true", env=env)
            self.assertIn(done.code, (EXIT_CODES["usage"], EXIT_CODES["invalid"]), done)
            self.assertIn(words, done.err)
        done = self.run_pawl("worker", "--until-idle", "--on", "*=exec:true", env={"WORKER_HEARTBEAT_INTERVALL": "30", "PAWL_ID": "x", "PAWL_FOO": "1"})
        self.assertEqual(done.code, 0, done)
        self.assertIn("WORKER_HEARTBEAT_INTERVALL is not known and changes nothing. Did you mean WORKER_HEARTBEAT_INTERVAL?", done.err)
        self.assertIn("PAWL_FOO is not a setting of pawl", done.err)
        self.assertNotIn("PAWL_ID", done.err)

    def test_up_also_serves(self):
        """Also after a search for orphans of handlers: the server is a child too, but not a handler's."""
        state = self.dir / "state"
        handler = self.script("setsid sleep 300 </dev/null >/dev/null 2>&1 &")
        self.ok("send", "T")
        with open(self.dir / "up.log", "wb") as log:
            self.process = subprocess.Popen([Setup.pawl, "up", *FAST, "--listen", "127.0.0.1:0", "--on", f"*=exec:{handler}"],
                                            cwd=self.dir, stderr=log, env={**self.env, "XDG_STATE_HOME": str(state)})
        self.process.stderr = open(self.dir / "up.log", "rb")  # stop() and the end of the test read it
        said = lambda: (self.dir / "up.log").read_text()
        self.wait(lambda: "The dashboard" in said() and "http://" in said(), what="the address")
        address = re.search(r"(http://\S+/)\n", said()).group(1)
        self.wait(lambda: "event=orphans_ended" in said(), what="the end of what the handler left")
        self.assertEqual(urllib.request.urlopen(address + "healthz", timeout=20).read(), b"ok\n")
        self.wait(lambda: len(self.ok("instance", "list")) == 1, what="the instance")
        self.stop()
        self.assertIn("event=server_stopped", said())
        with self.assertRaises(OSError):
            urllib.request.urlopen(address + "healthz", timeout=20)


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
