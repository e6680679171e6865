#!/usr/bin/env python3
"""Programs from outside: messages, receptors, jobs, tools and perspectives all run and end programs by the same rules."""
import json
import subprocess
import sys
import time
import uuid

import cli_support
from worker_test import FAST, WorkerTest, alive

USERS = ("message", "receptor", "job", "tool", "perspective")


class ProgramTest(WorkerTest):
    """One worker and one piece of work for each of those who run programs; the program is told for whom it runs."""

    def setUp(self):
        super().setUp()
        self.marker = "6" + str(uuid.uuid4().int)[:9]  # of the processes that this test leaves running: sleep MARKER
        self.addCleanup(self.nothing_is_left)

    def nothing_is_left(self):
        self.end()
        self.wait(lambda: not alive(f"sleep\0{self.marker}"), what="the end of what the programs started")

    more = ()
    attempts = 5

    def make(self, text):
        """The program, which has its user's name as $1, and what names it."""
        self.program = self.script(f'echo $1 >> {self.log}\n{text}')
        full = str(self.dir / self.program)
        (self.dir / "tools.json").write_text(json.dumps({"tools": {"hang": {"exec": f"{full} tool"}}}))
        self.env["PAWL_TOOLS"] = str(self.dir / "tools.json")
        (self.dir / "pipeline.json").write_text(json.dumps({"steps": [{"id": "a", "uses": "hang", "with": {}}]}))
        (self.dir / "perspective.json").write_text(json.dumps(
            {"name": "hang", "version": 1, "on": ["*"], "exec": f"{full} perspective", "max-attempts": self.attempts}))
        self.ok("perspective", "set", str(self.dir / "perspective.json"))

    def enqueue(self):
        """Work for everybody."""
        most = ("--max-attempts", str(self.attempts), "--tools", str(self.dir / "others.json"))
        (self.dir / "others.json").write_text('{"tools": {"hang": {"exec": "/bin/cat"}}}')  # those of who enqueues
        self.ids = {"message": self.ok("send", "plain")["id"],
                    "receptor": self.ok("send", "several", "--kind", "inbox", "--consumer", "c")["id"],
                    "job": self.ok("job", "enqueue", "work", *most)["id"],
                    "tool": self.ok("job", "enqueue", "--pipeline", str(self.dir / "pipeline.json"), *most)["id"]}
        self.ok("event", "append", "s-1", "Happened", "{}")

    def begin(self):
        self.start("--kinds", "outbox,inbox,jobs,perspectives", "--perspectives-outside", "--max-attempts",
                   str(self.attempts), "--on", f"plain=exec:{self.program} message", "--on",
                   f"one@several=exec:{self.program} receptor", "--on", f"work=exec:{self.program} job", *self.more)

    def put(self, text):
        self.make(text)
        self.enqueue()
        self.begin()

    def began(self, user):
        return self.log.read_text().split().count(user) if self.log.exists() else 0

    def all_began(self, times=1, users=USERS, seconds=40):
        self.wait(lambda: all(self.began(user) >= times for user in users), seconds,
                  f"the start number {times} of every program ({[(user, self.began(user)) for user in USERS]})")


HIDDEN = "exec > /dev/null 2>&1 < /dev/null; exec sleep {marker}"


class HiddenOutput(ProgramTest):
    """A program that has redirected everything: nothing is to be read from it, so only its end tells of it."""

    def test_its_time_limit_holds(self):
        self.more = ("--processing-timeout", "1s")
        self.put(HIDDEN.format(marker=self.marker))
        self.all_began(times=2)

    def test_a_stop_ends_it(self):
        self.more = ("--drain", "200ms")
        self.put(HIDDEN.format(marker=self.marker))
        self.all_began()
        began = time.monotonic()
        self.stop(code=75, seconds=40)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(alive(f"sleep\0{self.marker}"), [])

    def test_a_person_ends_it(self):
        self.put(HIDDEN.format(marker=self.marker))
        self.all_began()
        for user in ("message", "receptor"):
            self.assertEqual(self.run_pawl("message", "cancel", self.ids[user]).code, 0)
        self.ok("job", "cancel", str(self.ids["job"]), str(self.ids["tool"]))
        self.wait(lambda: not self.ok("job", "list") and self.ok("status")["kinds"][0]["dead"] == 1
                  and self.ok("status")["kinds"][1]["dead"] == 1, 40, "the end of what was cancelled")
        self.wait(lambda: len(alive(f"sleep\0{self.marker}")) <= 1, 10, "the end of their programs")


class LastingOutput(ProgramTest):
    """A program that ends, and whose child keeps its output open, has ended."""

    def test_its_end_counts(self):
        self.put(f"sleep {self.marker} &\nexit 0")
        self.all_began()
        self.wait(lambda: not self.ok("job", "list") and self.ok("status")["kinds"][0]["done"] == 1
                  and self.ok("status")["kinds"][1]["done"] == 1, 40, "the end of all work")
        self.wait(lambda: not alive(f"sleep\0{self.marker}"), what="the end of the children")
        self.assertEqual([self.began(user) for user in USERS], [1] * len(USERS))
        self.stop()

    def test_one_that_left_its_session_does_not_hold_it_up(self):
        self.put(f"setsid sleep {self.marker} &\nexit 0")
        self.all_began()
        self.wait(lambda: not self.ok("job", "list") and self.ok("status")["kinds"][0]["done"] == 1
                  and self.ok("status")["kinds"][1]["done"] == 1, 40, "the end of all work")
        self.stop()


class CannotStart(ProgramTest):
    """What the worker cannot start is the worker's trouble: nothing has been tried, and nothing ends of it."""

    attempts = 1

    def done(self):
        return not self.ok("job", "list") and [kind["done"] for kind in self.ok("status")["kinds"][:2]] == [1, 1]

    def test_a_missing_program(self):
        self.make("exit 0")
        self.begin()
        self.wait(lambda: self.ok("instance", "list"), what="the registration")
        (self.dir / self.program).rename(self.dir / "away")
        self.enqueue()
        refused = self.process.stderr.readline().decode()
        while "event=cannot_start" not in refused:
            self.assertNotEqual(refused, "")
            refused = self.process.stderr.readline().decode()
        self.assertIn(self.program[2:], refused)
        due = {}  # of the jobs: each was given back twice

        def came_back_twice():
            for row in self.ok("job", "list"):
                due.setdefault(row["id"], set()).add(row["due_ms"])
            return len(due) == 2 and all(len(times) > 2 for times in due.values())
        self.wait(came_back_twice, 40, "a second refusal of each job")
        kinds = self.ok("status")["kinds"]
        self.assertEqual([(kind["done"], kind["dead"]) for kind in kinds[:2]], [(0, 0), (0, 0)])
        # An attempt is counted while a job is leased, and given back with it.
        self.wait(lambda: [row["attempts"] for row in self.ok("job", "list")] == [0, 0], what="two jobs that were not tried")
        (self.dir / "away").rename(self.dir / self.program)
        self.all_began()
        self.wait(self.done, 40, "the end of all work")
        said = self.stop()
        self.assertIn("event=can_start_again", said)
        self.assertIn("to=ERROR", refused + said)  # not ready meanwhile
        self.assertLess(said.count("event=cannot_start"), 10, said)
        self.assertEqual([self.began(user) for user in USERS], [1] * len(USERS))

    def test_no_descriptors(self):
        """Eight programs at once need more descriptors than there are."""
        self.make("sleep 0.2")
        for n in range(20):
            self.ok("send", "plain", "--stream", f"s-{n % 10}")
        self.process = subprocess.Popen(
            ["sh", "-c", 'ulimit -n 24; exec "$0" "$@"', cli_support.Setup.pawl, "worker", *FAST, "--kinds", "outbox", "--max-attempts",
             "1", "--on", f"plain=exec:{self.program} message"], env=self.env, cwd=self.dir, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL)
        self.wait(lambda: self.counts()["done"] + self.counts()["dead"] == 20, 60, "the end of all messages")
        self.assertEqual((self.counts()["done"], self.counts()["dead"]), (20, 0))
        self.assertEqual(self.began("message"), 20)
        self.assertIn("event=cannot_start", self.stop())


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
