#!/usr/bin/env python3
"""Jobs from outside: how many each worker gets, what counts as an attempt, and directives of programs."""
import json
import subprocess
import sys
import time

import cli_support
from cli_support import CliTest, Setup


class JobLeaseTest(CliTest):
    """Workers for jobs of the type "work", whose handler notes the job's id in a file."""

    def setUp(self):
        super().setUp()
        self.migrate()
        self.marks = self.dir / "marks"
        self.marks.touch()
        self.workers = []
        self.addCleanup(self.end_workers)

    def end_workers(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()

    def worker(self, *more, lease="2s"):
        return self.patient_worker("--poll", "100ms", "--job-lease", lease, "--instance-lease", lease, "--heartbeat", "250ms", *more)

    def patient_worker(self, *more, kinds="jobs"):
        with open(self.dir / "worker.log", "ab") as log:
            self.workers.append(subprocess.Popen([Setup.pawl, "worker", "--kinds", kinds, *more], env=self.env, cwd=self.dir,
                                                 stderr=log, stdin=subprocess.DEVNULL))
        return self.workers[-1]

    def stop(self, worker):
        worker.terminate()
        self.assertIn(worker.wait(timeout=30), (0, 75))

    def until(self, what, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.05)
        self.fail(f"it did not happen within {seconds} s; jobs: {self.ok('job', 'list')}")

    def counts(self):
        seen = {}
        for line in self.marks.read_text().split():
            seen[line] = seen.get(line, 0) + 1
        return seen

    def gone(self):
        return not self.ok("job", "list")

    def handler(self, text):
        path = self.dir / "handle.sh"
        path.write_text(f"#!/bin/sh\necho $PAWL_JOB_ID >> {self.marks}\n{text}\n")
        path.chmod(0o755)
        return ("--on", f"work=exec:{path}")

    def test_what_a_program_says_of_its_next_attempt(self):
        """The lines of a message's program mean the same for a job's."""
        handler = self.handler("[ -e go ] && exit 0; echo pawl:$(cat what); exit 75")
        (self.dir / "what").write_text("retry-after 1h")
        worker = self.worker("--concurrency", "1", *handler)
        self.ok("job", "enqueue", "work", "--max-attempts", "2")
        row = self.until(lambda: next((row for row in self.ok("job", "list") if row["state"] == "later"), None))
        self.assertEqual(row["attempts"], 1)
        self.assertAlmostEqual(row["due_ms"] / 1000, time.time() + 3600, delta=300)
        (self.dir / "what").write_text("snooze 1s")
        self.ok("job", "enqueue", "work", "--max-attempts", "1")
        self.until(lambda: max(self.counts().values()) >= 2)  # it had one attempt, and has it still
        (self.dir / "go").touch()
        self.until(lambda: len(self.ok("job", "list")) == 1)
        self.stop(worker)

    def test_the_last_progress_before_a_failure_is_kept(self):
        handler = self.handler(f"cat >> {self.dir}/seen; printf 'pawl:progress {{\"at\":%d}}' $PAWL_ATTEMPT; "
                               "[ $PAWL_ATTEMPT = 3 ] || exit 75")
        worker = self.worker("--concurrency", "1", "--retry-base", "50ms", "--retry-max", "50ms", *handler)
        self.ok("job", "enqueue", "work")
        self.until(self.gone)
        seen = [json.loads(line)["progress"] for line in (self.dir / "seen").read_text().splitlines()]
        self.assertEqual(seen, [None, {"at": 1}, {"at": 2}])
        self.stop(worker)

    def test_progress_that_is_refused_is_logged_once_per_attempt(self):
        handler = self.handler("echo 'pawl:progress {'; echo 'pawl:progress half'; [ $PAWL_ATTEMPT = 2 ] || exit 75")
        worker = self.worker("--concurrency", "1", "--retry-base", "50ms", "--retry-max", "50ms", *handler)
        self.ok("job", "enqueue", "work")
        self.until(self.gone)
        self.stop(worker)
        lines = [line for line in (self.dir / "worker.log").read_text().splitlines() if "progress_refused" in line]
        self.assertEqual(len(lines), 2, lines)
        self.assertIn("not JSON", lines[0])
        self.assertIn("attempt", lines[1])

    def test_idle_workers_share_slow_jobs(self):
        """Who has one slot takes one job: the others are for the others. They end only when all three run."""
        handler = self.handler(f'while [ "$(wc -l < {self.marks})" -lt 3 ]; do sleep 0.05; done')
        for _ in range(3):
            self.worker("--concurrency", "1", *handler, lease="10s")
        self.until(lambda: len(self.ok("instance", "list")) == 3)
        self.ok("job", "enqueue", "work", "--count", "3")
        self.until(self.gone)
        self.assertEqual(len(self.counts()), 3)

    def few_among_many(self, few):
        """How much of the flood had begun when the last of the few began."""
        path = self.dir / "kind.sh"
        path.write_text(f"#!/bin/sh\necho $PAWL_KIND >> {self.marks}\nsleep 0.03\n")
        path.chmod(0o755)
        self.ok("send", "work", "--count", "10" if few == "outbox" else "300")
        self.ok("job", "enqueue", "work", "--count", "10" if few == "job" else "300")
        worker = self.patient_worker("--concurrency", "2", "--on", f"work=exec:{path}", kinds="outbox,jobs")
        self.until(lambda: self.counts().get(few, 0) == 10)
        worker.kill()
        kinds = self.marks.read_text().split()
        return len(kinds[:len(kinds) - kinds[::-1].index(few)]) - 10

    def test_messages_do_not_starve_jobs(self):
        self.assertLess(self.few_among_many("job"), 100)

    def test_jobs_do_not_starve_messages(self):
        self.assertLess(self.few_among_many("outbox"), 100)

    def test_weights_are_checked(self):
        for wrong in ("jobs", "jobs=0", "jobs=101", "tasks=1", "jobs=1,jobs=2"):
            result = self.run_pawl("worker", "--kinds", "jobs", "--weights", wrong)
            self.assertEqual(result.code, 65, result)
            self.assertIn("messages=3,jobs=1", result.err)

    def test_max_leases_is_the_number_of_leases(self):
        self.env["WORKER_MAX_LEASES"] = "1"
        self.worker(*self.handler("exec sleep 600"), lease="10s")
        self.ok("job", "enqueue", "work", "--count", "5")
        self.until(lambda: self.counts())
        rows = self.ok("job", "list")
        self.assertEqual(sorted(row["attempts"] for row in rows), [0, 0, 0, 0, 1], rows)

    def test_a_job_that_did_not_begin_keeps_its_attempt(self):
        """The worker dies with one job running and one waiting: only the first has used up its only attempt."""
        handler = self.handler("[ -e go ] || exec sleep 600")
        worker = self.worker("--concurrency", "1", *handler)
        self.ok("job", "enqueue", "work", "--count", "2", "--max-attempts", "1")
        began, = self.until(lambda: self.counts())
        worker.kill()
        worker.wait()
        (self.dir / "go").touch()
        self.worker("--concurrency", "1", *handler)
        self.until(lambda: len(self.counts()) == 2)
        self.until(lambda: [(str(row["id"]), row["state"]) for row in self.ok("job", "list")] == [(began, "dead")])

    def test_a_dead_peer_is_noticed_by_its_lock(self):
        """With the leases that a worker has by itself, 15 s and 60 s, a killed worker's job runs again within a few seconds."""
        if Setup.dialect == "postgres":  # after a server start nobody has had time to take its lock again
            self.until(lambda: self.sql("SELECT clock_timestamp() > pg_postmaster_start_time() + interval '16 s'") == [("t",)])
        handler = self.handler("[ -e go ] || exec sleep 600")
        first = self.patient_worker("--concurrency", "1", *handler)
        self.ok("job", "enqueue", "work")
        self.until(self.counts)
        self.patient_worker("--concurrency", "1", *handler)
        self.until(lambda: len(self.ok("instance", "list")) == 2)
        joined = max(row["started_ms"] for row in self.ok("instance", "list"))
        self.until(lambda: all(row["beat_ms"] > joined for row in self.ok("instance", "list")))  # they know of each other
        (self.dir / "go").touch()
        first.kill()
        first.wait()
        killed = time.monotonic()
        self.until(lambda: sum(self.counts().values()) == 2)
        self.assertLess(time.monotonic() - killed, 6)
        self.until(self.gone)


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
