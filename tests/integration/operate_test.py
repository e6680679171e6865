#!/usr/bin/env python3
"""What people run to see and steer a fleet: status, workers, queue, cleanup, rebalance, monitor, why.

Usage: operate_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import cli_support
from cli_support import ABSENT, EXIT_CODES, Setup
from worker_test import WorkerTest

KIND_OUTBOX = 2


class OperateTest(WorkerTest):

    def pipe(self, command, program, *flags):
        """pawl COMMAND | jq PROGRAM, as a shell would run it."""
        text = f"'{Setup.pawl}' {command} | jq {' '.join(flags)} '{program}'"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", text], env=self.env, cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), text)
        return done.stdout

    def silence(self, instance, minutes):
        """The worker was last heard so long ago, and its lease is over."""
        self.sql(f"UPDATE pawl_internal.instance SET beat_ms = beat_ms - {minutes * 60000}, lease_until_ms = beat_ms - {minutes * 60000 - 15000}")


class FleetTest(OperateTest):

    # covers: J29 J35 J36 B4.11
    def test_the_pipes_of_the_sources_work_unchanged(self):
        live = self.register(KIND_OUTBOX)
        for priority in (5, 5, 1):
            self.ok("job", "enqueue", "mail", "--priority", str(priority))
        found = self.pipe("workers", ".[] | select(.seconds_since_heartbeat < 60) | .worker_id", "-r")
        self.assertEqual(found.split(), [live])
        self.assertEqual(json.loads(self.pipe("queue", ".priority_distribution")), {"5": 2, "1": 1})
        queue = self.ok("queue")
        self.assertEqual((queue["total_pending"], queue["ready_now"], queue["currently_leased"], queue["expired_leases"]),
                         (3, 3, 0, 0))
        self.assertTrue(queue["priority_complete"])
        status = self.ok("status")
        self.assertEqual(([row["worker"] for row in status["workers"]], status["priority_distribution"], status["jobs_ready"]),
                         ([live], {"5": 2, "1": 1}, 3))
        self.assertEqual((status["total_runs"], status["successful_runs"]), (0, 0))
        shown = self.run_pawl("status", "-o", "table")
        self.assertIn("jobs: 3 ready, 0 running, 0 later or waiting, 0 dead; by priority", shown.out)
        self.assertEqual(status["jobs_dead"], 0)

    # covers: J30 J31
    def test_workers_by_id_and_by_age(self):
        worker = self.register(KIND_OUTBOX)
        sent = self.ok("send", "a")["id"]
        self.worker("claim", worker, 1, 10, 600000)
        one = self.ok("workers", "--worker-id", worker)
        self.assertEqual((one["worker_id"], one["state"], one["leases"], one["in_flight"]), (worker, "active", 1, 1))
        self.assertEqual([(row["kind"], row["id"]) for row in one["current_leases"]], [("message", sent)])
        self.assertIsNotNone(one["current_leases"][0]["lease_until_ms"])
        self.assertEqual((one["tasks_processed"], one["recent_executions"]), (0, []))
        job = self.ok("job", "enqueue", "b")["id"]
        self.worker("claim_jobs", worker, 10, 600000)
        one = self.ok("workers", "--worker-id", worker)
        self.assertEqual((one["leases"], one["in_flight"], one["jobs"]), (2, 1, 1))
        self.assertEqual(self.ok("queue")["active_workers"], 1)  # it has ended nothing yet
        self.assertEqual([(row["kind"], row["id"]) for row in one["current_leases"]], [("message", sent), ("job", str(job))])
        self.silence(worker, 30)
        self.assertEqual(self.ok("workers"), [])
        self.assertEqual([row["state"] for row in self.ok("workers", "--minutes", "60")], ["silent"])
        self.refused(EXIT_CODES["not found"], "no worker", "workers", "--worker-id", ABSENT, "-o", "table")
        self.refused(64, "not a UUID", "workers", "--worker-id", "worker-abc123", "-o", "table")

    def test_a_worker_tells_of_its_executions(self):
        tools = self.dir / "tools.json"
        tools.write_text(json.dumps({"tools": {"echo": {"exec": "cat"}}}))
        pipeline = self.dir / "p.json"
        pipeline.write_text(json.dumps({"steps": [{"id": "one", "uses": "echo", "with": {"n": 1}}]}))
        self.ok("task", "create", "t", "--pipeline", str(pipeline), "--tools", str(tools), "--every", "1h")
        self.ok("task", "run", "t")
        done = self.run_worker("--kinds", "jobs", "--tools", str(tools), "--alert-interval", "0")
        self.assertEqual(done.code, 0, done)
        queue = self.ok("queue")
        self.assertEqual((queue["total_runs"], queue["successful_runs"], queue["active_workers"]), (1, 1, 1))
        self.assertIsNotNone(queue["avg_duration_ms"])
        told = self.ok("why", "task", "t")
        self.assertIn("succeeded", told["explanation"])

    # covers: J25 J32
    def test_cleanup_takes_from_the_silent_and_from_nobody_else(self):
        worker = self.register(KIND_OUTBOX, 15000)
        self.ok("send", "a")
        self.worker("claim", worker, 1, 10, 600000)
        self.ok("job", "enqueue", "b")
        self.worker("claim_jobs", worker, 10, 600000)
        self.assertEqual(self.ok("cleanup", "--stale-minutes", "0")["workers_evicted"], 0)  # it lives
        self.silence(worker, 8)
        self.assertEqual(self.ok("cleanup")["workers_evicted"], 0)  # not silent for 10 minutes
        dry = self.ok("cleanup", "--stale-minutes", "5", "--dry-run")
        self.assertEqual((dry["workers_evicted"], dry["leases_released"], dry["dry_run"]), (1, 2, True))
        self.assertEqual(self.ok("workers", "--minutes", "60")[0]["state"], "silent")
        done = self.ok("cleanup", "--stale-minutes", "5")
        self.assertEqual((done["workers_evicted"], done["leases_released"]), (1, 2))
        self.assertEqual(self.ok("workers", "--minutes", "60")[0]["state"], "evicted")
        self.assertEqual((self.counts()["leased"], self.counts()["aside"]), (0, 1))
        self.assertEqual(self.ok("cleanup", "--stale-minutes", "5")["workers_evicted"], 0)

    def test_leases_of_jobs_that_are_over_end(self):
        worker = self.register(KIND_OUTBOX)
        self.ok("job", "enqueue", "b")
        self.worker("claim_jobs", worker, 10, 100)
        time.sleep(1.1)  # what is over is looked for once a second
        self.assertEqual(self.ok("cleanup")["leases_expired"], 1)
        self.assertEqual(self.ok("queue")["currently_leased"], 0)

    def test_the_hour_is_counted_to_its_end(self):
        """More executions than any page has rows."""
        now = int(time.time() * 1000)
        self.sql(f"""INSERT INTO pawl_internal.task_run (id, job, attempt, outcome, place, token, started_ms, finished_ms, expires_ms, block, queue,
                     type, hash) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
                     SELECT i, i, 1, CASE WHEN i <= 1500 THEN 2 ELSE 1 END, 0, 1, {now} - 40, {now}, {now} + 1000000, 1, 'default', 'a',
                     {"'x'" if Setup.dialect == "postgres" else "zeroblob(32)"} FROM n""")
        queue = self.ok("queue")
        self.assertEqual((queue["total_runs"], queue["successful_runs"], queue["avg_duration_ms"]), (6000, 4500, 40))
        # All rows, however many pages they are; a limit is not one of a page.
        for words, rows in ((["audit", "list"], 6000), (["audit", "list", "--limit", "5999"], 5999), (["audit", "list", "--limit", "7"], 7)):
            self.assertEqual([row["id"] for row in self.ok(*words)], list(range(6000, 6000 - rows, -1)), words)
        after = self.ok("audit", "list", "--limit", "7", "--after", "10")
        self.assertEqual([row["id"] for row in after], [9, 8, 7, 6, 5, 4, 3])

    # covers: J27 J33
    def test_rebalance_asks_and_never_steals(self):
        first = self.register(KIND_OUTBOX)
        for n in range(12):
            self.ok("send", "a", "--stream", f"s{n}")
        held = self.worker("claim", first, 1, 100, 600000)
        lanes = self.ok("workers")[0]["leases"]
        self.assertGreater(lanes, 5)
        self.register(KIND_OUTBOX)  # now half of the lanes are too many
        self.assertEqual(self.ok("rebalance", "--max-leases", "1000"), [])
        self.assertEqual(self.ok("rebalance", "--dry-run")[0]["lanes_given"], 0)
        asked = self.ok("rebalance", "--max-leases", "5")
        self.assertEqual((asked[0]["worker_id"], asked[0]["lanes_given"] > 0), (first, True))
        self.assertEqual(self.counts()["leased"], 12)  # what it holds it keeps
        for token, message in held:
            self.assertEqual(self.worker("complete", first, 1, token, message), [["1"]])


class SettingsTest(OperateTest):

    # covers: B2.14 M67
    def test_stale_follows_the_lease(self):
        before = self.ok("setting", "list")
        self.assertGreaterEqual(before["stale_ms"], 2 * before["instance_lease_ms"])
        raised = self.ok("setting", "set", "--instance-lease", "10m")
        self.assertEqual((raised["instance_lease_ms"], raised["stale_ms"]), (600000, 1200000))
        lowered = self.ok("setting", "set", "--instance-lease", "15s")
        self.assertEqual(lowered["stale_ms"], 1200000)
        self.ok("setting", "set", "--stale", "10s")
        found = {row["check"]: row for row in self.run_pawl("doctor", "-o", "json").json()}
        self.assertIn("600000 ms or more", found["stale_short"]["found"])

    # covers: M68
    def test_the_doctor_advises_by_size_and_time(self):
        for _ in range(21):
            self.register(KIND_OUTBOX)
        found = {row["check"]: row["found"] for row in self.run_pawl("doctor", "-o", "json").json()}
        self.assertIn("21 workers share 10000 partitions; 50000 are advised", found["partitions_few"])

    # covers: M73 M74
    def test_the_queries_for_order(self):
        text = (Setup.root / "docs" / "doctor.md").read_text(encoding="utf-8")
        ordered, unstreamed = re.findall(r"^    (pawl \w+ list .*)$", text, re.M)
        programs = [re.fullmatch(r"pawl (.*) \| jq '(.*)'", line).groups() for line in (ordered, unstreamed)]
        self.ok("setting", "set", "--history", "7d")
        for n in range(4):
            self.ok("send", "a", "--stream", "s")
        alone = self.ok("send", "a")["id"]
        self.assertEqual(json.loads(self.pipe(*programs[1])), [alone])
        done = self.run_worker("--on", "*=exec:/bin/true", "--alert-interval", "0")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(json.loads(self.pipe(*programs[0])), [])
        column = "done_ms" if any("done_ms" in str(row) for row in self.columns("history")) else "ended_ms"
        self.sql(f"UPDATE pawl_internal.history SET {column} = {column} - 60000 WHERE seq = 3")
        late = [row["id"] for row in self.ok("message", "list", "--state", "done") if row["seq"] == 3]
        self.assertEqual(json.loads(self.pipe(*programs[0])), late)

    def columns(self, table):
        if Setup.dialect == "sqlite":
            return [row[1] for row in self.sql(f"PRAGMA table_info(pawl_{table})")]
        return self.sql(f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'")


class StatusTest(OperateTest):
    """What is not counted to its end says so."""

    def test_a_cut_count_says_so(self):
        self.ok("job", "enqueue", "mail")
        few = self.ok("status")
        self.assertEqual((few["priority_complete"], few["priority_distribution"]), (True, {"0": 1}))
        self.assertNotIn("not all are counted", self.run_pawl("status", "-o", "table").out)
        self.ok("job", "enqueue", "mail", "--count", "10100", "--priority", "3")
        many = self.ok("status")
        self.assertEqual((many["priority_complete"], many["jobs_ready"]), (False, 10101))
        self.assertEqual(sum(many["priority_distribution"].values()), 10000)
        self.assertIn("(not all are counted)", self.run_pawl("status", "-o", "table").out)
        queue = self.ok("queue")
        self.assertEqual((queue["priority_complete"], queue["ready_now"]), (False, 10101))


class WhyTest(OperateTest):

    def told(self, *words):
        return self.ok("why", *words)

    def test_every_kind(self):
        worker = self.register(KIND_OUTBOX)
        message = self.ok("send", "a", "--stream", "orders/1")["id"]
        self.assertEqual(self.told(message)["cause"], self.told("message", message)["cause"])
        self.assertEqual(self.told(message[:30])["id"], message)
        self.assertIn("orders/1", self.told("stream", "orders/1")["explanation"])
        self.assertIn("orders/1", self.told("orders/1")["explanation"])
        self.assertIn("Nothing: it lives", self.told("instance", worker)["next"])
        self.assertEqual(self.told(worker)["kind"], "instance")
        job = str(self.ok("job", "enqueue", "mail")["id"])
        self.assertIn("no worker", self.told("job", job)["explanation"])
        self.kill_message(worker, message, "no such customer")
        self.assertEqual(self.told("dead", message)["cause"], "dead")
        later = str(self.ok("job", "enqueue", "mail", "--due", "2100-01-01T00:00:00Z")["id"])
        self.assertIn("not due before", self.told(later)["explanation"])

    def test_runs_and_schedules(self):
        tools = self.dir / "tools.json"
        tools.write_text(json.dumps({"tools": {"source": {"exec": "cat"}}}))
        document = self.dir / "run.json"
        document.write_text(json.dumps({"name": "numbers", "partitions": ["x", "y"], "page": {"uses": "source", "size": 5}}))
        started = self.ok("run", "start", str(document), "--tools", str(tools), "--key", "nightly")
        run = str(started["run"])
        told = self.told("run", run)
        self.assertIn("0 of 2 partitions are done", told["explanation"])
        self.assertIn("Each page is a job", told["next"])
        self.assertEqual(self.told("nightly")["explanation"], told["explanation"])
        pages = {row["partition"]: str(row["job"]) for row in self.ok("run", "partitions", run)}
        for name, job in pages.items():
            self.assertIn(f"It is page 0 of partition {name} of run {run} (numbers). ", self.told("job", job)["explanation"])
        self.refused(EXIT_CODES["conflict"], "names more than one thing: job, run", "why", "1", "-o", "table")
        self.ok("task", "create", "clean", "--pipeline", str(self.pipeline()), "--tools", str(tools), "--every", "1h")
        schedule = self.ok("schedule", "list")[0]["name"]
        self.assertIn("its next instant is", self.told("schedule", schedule)["explanation"])
        self.assertIn("no execution on record", self.told("task", "clean")["explanation"])

    def test_perspectives(self):
        path = self.dir / "mirror.json"
        path.write_text(json.dumps({"name": "mirror", "on": ["stock.*"], "exec": "/bin/false"}))
        self.ok("perspective", "set", str(path))
        told = self.told("perspective", "mirror")
        self.assertEqual((told["kind"], told["next"]), ("perspective", "Nothing: it shows everything."))
        self.assertIn("Perspective mirror@1 is 0 events behind", told["explanation"])
        for n in range(3):
            self.ok("event", "append", f"s-{n}", "stock.moved", "{}")
        told = self.told("mirror@1")
        self.assertIn("is 3 events behind", told["explanation"])
        self.assertIn("3 streams wait", told["explanation"])
        self.assertIn("--kinds perspectives", told["next"])
        self.ok("perspective", "pause", "mirror@1")
        told = self.told("perspective", "mirror@1")
        self.assertIn("It is paused.", told["explanation"])
        self.assertIn("pawl perspective resume", told["next"])
        self.ok("perspective", "resume", "mirror@1")
        self.assertEqual(self.run_pawl("worker", "--kinds", "perspectives", "--perspectives-outside", "--poll", "50ms",
                                       "--until-idle").code, 0)
        told = self.told("perspective", "mirror")
        self.assertIn("3 failed", told["explanation"])
        self.assertIn("pawl perspective errors shows why", told["next"])
        self.refused(EXIT_CODES["not found"], "there is no", "why", "perspective", "nothing", "-o", "table")

    def pipeline(self):
        path = self.dir / "pipeline.json"
        path.write_text(json.dumps({"steps": [{"id": "one", "uses": "source", "with": {}}]}))
        return path

    def test_a_name_that_is_unknown_or_means_more_than_one(self):
        ids = sorted(self.ok("send", "a")["id"] for _ in range(3))
        shared = os.path.commonprefix(ids)
        done = self.refused(EXIT_CODES["conflict"], "more than one message begins with", "why", shared, "-o", "table")
        for one in ids:
            self.assertIn(one, done.err)
        self.refused(EXIT_CODES["not found"], "there is no message with id", "why", ABSENT, "-o", "table")
        self.refused(EXIT_CODES["not found"], "no job, run, stream", "why", "17", "-o", "table")
        self.refused(EXIT_CODES["usage"], "not one of message|dead|stream", "why", "cat", "17", "-o", "table")
        self.ok("send", "a", "--stream", "1")
        self.ok("job", "enqueue", "mail")
        self.refused(EXIT_CODES["conflict"], "names more than one thing: job, stream", "why", "1", "-o", "table")
        self.ok("send", "b", "--stream", ids[0])
        self.assertEqual(self.ok("why", ids[0])["message"]["type"], "a")
        self.assertEqual(self.ok("why", "stream", ids[0])["kind"], "stream")

    def test_a_stream_behind_many_others_of_its_lane(self):
        """A page of a list examines a limited number of rows and may be empty."""
        full = self.ok("send", "a", "--stream", "full")
        self.ok("send", "a", "--stream", "full", "--count", "10000")
        last = self.ok("send", "a", "--stream", "last-95")
        self.assertEqual(last["lane"], full["lane"])
        self.assertIn("last-95", self.told("stream", "last-95")["explanation"])
        # Whoever does not say that it is a stream waits for one page, not for the whole lane.
        self.refused(EXIT_CODES["not found"], "pawl why stream last-95 looks at all", "why", "last-95", "-o", "table")
        self.assertEqual(self.told(last["id"][:30])["id"], last["id"])
        self.assertNotIn("looks at all", self.run_pawl("why", "no-such-name", "-o", "table").err)
        self.assertIn("full", self.told("full")["explanation"])


class MonitorTest(OperateTest):

    # covers: J34 J28 J39
    def test_lines_for_programs(self):
        self.register(KIND_OUTBOX)
        self.ok("send", "a")
        result = self.run_pawl("monitor", "--interval", "1", "--looks", "2")
        self.assertEqual((result.code, result.err), (0, ""), result)
        first, second = result.lines()
        self.assertEqual((first["ready"], first["workers_active"], first["alerts"]), (1, 1, []))
        self.assertGreaterEqual(second["now_ms"] - first["now_ms"], 900)
        lines = self.run_pawl("monitor", "--looks", "1", "-o", "table").out
        self.assertRegex(lines, r"^ready=1 leased=0 .* workers=1 .* alerts=0\n$")
        for wrong in ("0", "x", "2d"):
            self.refused(EXIT_CODES["usage"], "interval", "monitor", "--interval", wrong, "-o", "table")
        self.assertEqual(len(self.run_pawl("monitor", "--interval", "10ms", "--looks", "2").out.splitlines()), 2)

    def test_a_closed_pipe_ends_it(self):
        done = subprocess.run(["bash", "-c", f"'{Setup.pawl}' monitor --interval 1 | head -1"], env=self.env, cwd=self.dir,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, check=False)
        self.assertEqual((done.stdout.count(b"\n"), done.stderr), (1, b""), done)

    def read(self, fd, until, seconds=15):
        text, end = "", time.monotonic() + seconds
        while time.monotonic() < end and not re.search(until, text):
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    text += os.read(fd, 65536).decode()
                except OSError:
                    break
        self.assertRegex(text, until)
        return text

    # covers: J34
    def test_a_screen_that_follows_the_terminal(self):
        self.register(KIND_OUTBOX)
        self.ok("send", "a")
        self.sql("UPDATE pawl_internal.alert_rule SET phase = 2, since_ms = 1, value = 7 WHERE name = 'outbox-backlog'")
        child, fd = pty.fork()
        if child == 0:
            os.chdir(self.dir)
            os.execve(Setup.pawl, [Setup.pawl, "monitor", "--interval", "1"], self.env)

        def size(rows, columns):
            fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.kill(child, signal.SIGWINCH)

        size(40, 120)
        text = self.read(fd, r"WORKERS 1 active[\s\S]*\x1b\[J")
        for part in ("\x1b[?1049h", "done 0.0/s", "oldest", "lag", "firing outbox-backlog: outbox_ready is 7", "outbox"):
            self.assertIn(part, text)
        size(12, 50)
        text = self.read(fd, r"\x1b\[2J[\s\S]*waiting 1[\s\S]*\x1b\[J").split("\x1b[2J")[-1]
        for line in re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", text).splitlines():
            self.assertLessEqual(len(line.rstrip("\r")), 50)
        size(10, 20)
        text = self.read(fd, r"\x1b\[2J[\s\S]*ready=1.*\r\n")
        self.assertLessEqual(max(len(line) for line in text.split("\x1b[2J\x1b[H")[-1].splitlines()), 20)
        os.kill(child, signal.SIGINT)
        self.read(fd, r"\x1b\[\?25h\x1b\[\?1049l")
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        os.close(fd)


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
