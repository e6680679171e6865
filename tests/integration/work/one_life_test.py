#!/usr/bin/env python3
"""One life: what an attempt, a snooze, a cancel … mean for messages, jobs, pages, receptors and perspectives. Every
cell is provoked with real workers and programs; what was seen makes the table that docs/worker.md must have."""
import json
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import cli_support  # noqa: E402 (found by the line above)
from cli_support import CliTest, Setup  # noqa: E402

KINDS = ("messages", "jobs", "pages", "receptors", "perspectives")
DEAD = {"messages": "dead letter", "jobs": "dead job", "pages": "failed partition", "receptors": "dead letter",
        "perspectives": "stopped stream"}
ASKED_S = 1.5  # how long the programs ask to be left alone; the backoff is shorter for all kinds but perspectives
TABLE = {}     # row: kind: cell
ROWS = ("attempt", "permanent", "death", "suspect", "snooze", "retry-after", "progress", "deadline", "timeout", "cancel", "pause", "drain")

# One program for all of them: its kind and its row are its words; a page's attempt is in its arguments.
PROGRAM = r"""#!/bin/sh
kind=$1 row=${2:-${PAWL_TYPE#*.}}
read -r input
attempt=$PAWL_ATTEMPT progress=
case $kind in pages) attempt=${input##*\"attempt\":}; attempt=${attempt%%,*};; esac
case $input in *'"progress":{"at":1}'*) progress=kept;; esac
echo "$row $kind $attempt $(date +%s.%N) $progress" >> effects
n=$(grep -c "^$row $kind " effects)
case $row in
attempt) exit 1;;
permanent) exit 65;;
snooze) [ $n -gt 2 ] || { echo "pawl:snooze 1500ms"; exit 75; };;
retry-after) echo "pawl:retry-after 1500ms"; exit 1;;
progress) [ $n -gt 1 ] || { echo 'pawl:progress {"at":1}'; exit 1; };;
timeout|cancel) exec sleep 600;;
drain|death) [ $n -gt 1 ] || exec sleep 600;;
pause) until [ -e go ]; do sleep 0.05; done; [ $kind$n != pages1 ] || { echo '{"items":[{"key":"a"}],"next":1}'; exit; };;
suspect) kill -9 $(cat worker.pid); exec sleep 600;;
esac
[ $kind != pages ] || echo '{"items":[],"end":true}'
"""


class Life(CliTest):
    """Work of every kind for a row, a worker, and what became of it."""

    def setUp(self):
        super().setUp()
        self.migrate()
        self.effects = self.dir / "effects"
        self.effects.touch()
        self.program = self.dir / "act.sh"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.worker_process, self.ids = None, {}
        self.addCleanup(self.end)

    def end(self):
        if self.worker_process and self.worker_process.poll() is None:
            self.worker_process.kill()
            self.worker_process.wait()

    def file(self, path, /, **document):
        path = self.dir / path
        path.write_text(json.dumps(document))
        return str(path)

    def put(self, row, kinds=KINDS, most=2):
        """Work of these kinds that is tried so often; the worker's limit for messages is its own."""
        for kind in kinds:
            if kind == "messages":
                made = self.ok("send", f"m.{row}")["id"]
            elif kind == "receptors":
                made = self.ok("send", f"r.{row}", "--kind", "inbox", "--consumer", "c")["id"]
            elif kind == "jobs":
                made = self.ok("job", "enqueue", f"j.{row}", "--max-attempts", str(most))["id"]
            elif kind == "pages":
                page = {"uses": row, "attempts": most, "deadline": "1500ms" if row == "timeout" else "60s"}
                made = self.ok("run", "start", self.file(f"run-{row}.json", name=row, partitions=["a"], page=page))["run"]
            else:
                self.ok("perspective", "set", self.file(f"perspective-{row}.json", name=row, version=1, on=[f"exact:v.{row}"],
                                                        exec=f"{self.program} perspectives {row}", **{"max-attempts": most}))
                self.ok("event", "append", f"s-{row}", f"v.{row}", "{}")
                made = row
            self.ids[row, kind] = made

    def start(self, *more, most=2):
        tools = {row: {"exec": f"{self.program} pages {row}"} for row in ROWS}
        with open(self.dir / "worker.log", "ab") as log:
            self.worker_process = subprocess.Popen(
                [Setup.pawl, "worker", "--kinds", "outbox,inbox,jobs,perspectives", "--perspectives-outside", "--concurrency",
                 "40", "--poll", "50ms", "--heartbeat", "300ms", "--instance-lease", "3s", "--job-lease", "3s", "--lease", "10s",
                 "--retry-base", "50ms", "--retry-max", "100ms", "--max-attempts", str(most), "--tools",
                 self.file("tools.json", tools=tools), "--on", f"m.*=exec:{self.program} messages", "--on",
                 f"one@r.*=exec:{self.program} receptors", "--on", f"q.*=exec:{self.program} probes", "--on", f"j.*=exec:{self.program} jobs", *more],
                env=self.env, cwd=self.dir, stderr=log, stdin=subprocess.DEVNULL)
        (self.dir / "worker.pid").write_text(str(self.worker_process.pid))

    def stop(self, *codes):
        self.worker_process.send_signal(signal.SIGTERM)
        self.assertIn(self.worker_process.wait(60), codes or (0,))

    def until(self, what, about, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.1)
        self.fail(f"{about} did not happen within {seconds} s\n{self.effects.read_text()}\n"
                  f"{(self.dir / 'worker.log').read_text()[-3000:]}")

    def runs(self, row, kind):
        """(attempt, when, progress) of each start of its program."""
        found = [line.split() for line in self.effects.read_text().splitlines()]
        return [(int(words[2]), float(words[3]), len(words) > 4) for words in found if words[:2] == [row, kind]]

    def state(self, row, kind):
        """done, dead or open, and why."""
        made = self.ids[row, kind]
        if kind in ("messages", "receptors"):
            shown = self.run_pawl("message", "show", made)
            found = shown.json() if shown.code == 0 else {"state": "done"}
            return ("open" if found["state"] not in ("done", "dead") else found["state"]), found.get("reason") or ""
        if kind == "jobs":
            found = [one for one in self.ok("job", "list") if one["id"] == made] or [{"state": "done", "reason": None}]
            return ("open" if found[0]["state"] not in ("done", "dead") else found[0]["state"]), found[0]["reason"] or ""
        if kind == "pages":
            found = self.ok("run", "show", str(made))
            return {"completed": "done", "failed": "dead", "cancelled": "cancelled"}.get(found["state"], "open"), ""
        found = self.ok("perspective", "checkpoints", f"{made}@1")
        done = found and found[0]["status"] == "completed"
        return "done" if done else "dead" if found and found[0]["stopped"] else "open", ""

    def ended(self, row, kinds=KINDS):
        for kind in kinds:
            self.until(lambda kind=kind: self.state(row, kind)[0] != "open", f"the end of {row} of {kind}")

    def begun(self, row, kinds=KINDS, times=1):
        self.until(lambda: all(len(self.runs(row, kind)) >= times for kind in kinds), f"start {times} of {row}")

    def cell(self, row, kind, text):
        TABLE.setdefault(row, {})[kind] = text


class OneLife(Life):
    """In the order of their names; the last compares the table."""

    def test_1_ends_of_a_program(self):
        rows = ("attempt", "permanent", "retry-after", "snooze", "progress")
        for row in rows:
            self.put(row)
        self.start()
        for row in rows:
            self.ended(row)
        for kind in KINDS:
            self.attempt(kind)
            self.permanent(kind)
            self.retry_after(kind)
            self.snooze(kind)
            kept = self.runs("progress", kind)[1][2]
            self.cell("progress", kind, "kept for the next attempt" if kept else "–")
        self.stop()

    def attempt(self, kind):
        attempts = [run[0] for run in self.runs("attempt", kind)]
        self.assertEqual((attempts, self.state("attempt", kind)[0]), ([1, 2], "dead"), kind)
        self.cell("attempt", kind, f"a failed run; after the last, a {DEAD[kind]}")

    def permanent(self, kind):
        attempts = [run[0] for run in self.runs("permanent", kind)]
        self.assertEqual((attempts, self.state("permanent", kind)[0]), ([1], "dead"), kind)
        self.cell("permanent", kind, f"at once a {DEAD[kind]}")

    def gaps(self, row, kind):
        times = [run[1] for run in self.runs(row, kind)]
        return [later - earlier for earlier, later in zip(times, times[1:])]

    def retry_after(self, kind):
        attempts = [run[0] for run in self.runs("retry-after", kind)]
        self.assertEqual((attempts, self.state("retry-after", kind)[0]), ([1, 2], "dead"), kind)
        asked = min(self.gaps("retry-after", kind)) >= ASKED_S
        self.cell("retry-after", kind, "the next attempt then" if asked else "–")

    def snooze(self, kind):
        attempts = [run[0] for run in self.runs("snooze", kind)]
        self.assertEqual((attempts, self.state("snooze", kind)[0]), ([1, 1, 1], "done"), kind)
        self.assertGreaterEqual(min(self.gaps("snooze", kind)), ASKED_S, kind)
        self.cell("snooze", kind, "runs again then, no attempt")

    def test_2_deadline(self):
        """Only what has one can miss it: it ends without having run."""
        row = "deadline"
        self.ids[row, "jobs"] = self.ok("job", "enqueue", f"j.{row}", "--deadline", "+2s")["id"]
        over_ms = self.ok("job", "list")[0]["deadline_ms"]
        self.refused(64, "--deadline", "send", f"m.{row}", "--deadline", "+1ms")
        self.refused(64, "--deadline", "event", "append", "s", f"v.{row}", "{}", "--deadline", "+1ms")
        self.refused(65, "deadline", "run", "start", self.file("run.json", name=row, deadline="1ms", partitions=["a"],
                                                              page={"uses": row}))
        self.until(lambda: time.time() * 1000 > over_ms, "its deadline")
        self.start()
        self.ended(row, ("jobs",))
        self.assertEqual((self.state(row, "jobs"), self.runs(row, "jobs")), (("dead", "deadline"), []))
        for kind in KINDS:
            self.cell(row, kind, "not started or retried after it: a dead job" if kind == "jobs" else "–")
        self.stop()

    def test_3_timeout(self):
        self.put("timeout")
        self.start("--processing-timeout", "1s")
        self.ended("timeout")
        for kind in KINDS:
            attempts, end = [run[0] for run in self.runs("timeout", kind)], self.state("timeout", kind)[0]
            self.assertEqual((attempts, end), ([1, 2], "dead"), kind)
            self.cell("timeout", kind, "told to end; a failed attempt")
        self.stop()

    def test_4_cancel(self):
        self.put("cancel")
        self.start()
        self.begun("cancel")
        for kind in ("messages", "receptors"):
            self.assertEqual(self.run_pawl("message", "cancel", self.ids["cancel", kind]).code, 0)
        self.ok("job", "cancel", str(self.ids["cancel", "jobs"]))
        self.ok("run", "cancel", "--yes", str(self.ids["cancel", "pages"]))
        self.refused(64, "perspective cancel", "perspective", "cancel", "cancel@1")
        self.ended("cancel", KINDS[:4])
        ends = {"messages": "dead letter", "receptors": "dead letter", "jobs": "removed", "pages": "cancelled partition"}
        for kind, end in (("messages", ("dead", "cancelled")), ("receptors", ("dead", "cancelled")), ("jobs", ("done", "")),
                          ("pages", ("cancelled", ""))):
            self.assertEqual((self.state("cancel", kind), len(self.runs("cancel", kind))), (end, 1), kind)
            self.cell("cancel", kind, f"told to end; {ends[kind]}")
        self.cell("cancel", "perspectives", "–")
        self.end()

    def test_5_pause(self):
        """What runs may finish; the next waits, without an attempt, until it is resumed."""
        self.put("pause")
        self.start()
        self.begun("pause")
        pauses = {"messages": ("handler", "m.*"), "jobs": ("queue", "default"), "receptors": ("handler", "one"),
                  "pages": ("run", str(self.ids["pause", "pages"])), "perspectives": ("perspective", "pause@1")}

        def change(verb, kind):
            scope, name = pauses[kind]
            words = (verb, scope, name) if scope in ("handler", "queue") else (scope, verb, name)
            self.assertEqual(self.run_pawl(*words).code, 0, words)
        for kind in pauses:
            change("pause", kind)
        (self.dir / "go").touch()
        self.until(lambda: self.state("pause", "messages")[0] == self.state("pause", "jobs")[0] == "done", "the end of what ran")
        self.until(lambda: self.ok("run", "partitions", str(self.ids["pause", "pages"]))[0]["pages"] == 1, "the first page")
        first = {kind: self.ids["pause", kind] for kind in KINDS}
        self.put("pause", ("messages", "jobs", "receptors"))
        self.ok("event", "append", "s-pause", "v.pause", "{}")
        for probe in range(2):  # what was put later, and is not paused, has run
            self.ok("send", "q.probe")
            self.begun("probe", ("probes",), probe + 1)
        self.assertEqual(self.ok("job", "why", str(self.ids["pause", "jobs"]))["cause"], "paused")
        self.assertEqual({kind: len(self.runs("pause", kind)) for kind in pauses}, {kind: 1 for kind in pauses})
        for kind in pauses:
            change("resume", kind)
        self.ended("pause")
        self.begun("pause", pauses, 2)
        self.assertEqual(first["pages"], self.ids["pause", "pages"])
        for kind in KINDS:
            attempts = [run[0] for run in self.runs("pause", kind)]
            self.assertEqual((attempts, self.state("pause", kind)[0]), ([1, 1], "done"), kind)
            self.cell("pause", kind, "what runs may finish, the rest waits, no attempt")
        self.stop()

    def test_6_drain(self):
        self.put("drain")
        self.start("--drain", "100ms")
        self.begun("drain")
        self.stop(75)
        self.start()
        self.ended("drain")
        for kind in KINDS:
            attempts = [run[0] for run in self.runs("drain", kind)]
            self.assertEqual((attempts, self.state("drain", kind)[0]), ([1, 1], "done"), kind)
            self.cell("drain", kind, "given back, no attempt")
        self.stop()

    def leases(self):
        return {row["id"]: row["lease_until_ms"] for row in self.ok("job", "list")}

    def test_7_death(self):
        """The worker is killed while their programs run, when those of jobs have been renewed once."""
        self.put("death")
        self.start()
        self.begun("death")
        held = self.leases()
        self.until(lambda: all(lease > held[job] for job, lease in self.leases().items()), "a renewal of the jobs")
        self.end()
        self.start()
        self.ended("death")
        for kind in KINDS:
            attempts = [run[0] for run in self.runs("death", kind)]
            self.assertIn((attempts, self.state("death", kind)[0]), (([1, 1], "done"), ([1, 2], "done")), kind)
            self.cell("death", kind, "an attempt, if it was renewed" if attempts[1] == 2 else "no attempt")
        self.stop()

    def test_8_suspect(self):
        """A program with two attempts that kills its worker: it runs alone, and ends after at most two attempts and two more."""
        for kind in KINDS:
            self.put("suspect", (kind,))
            killed = 0
            while killed < 6 and self.state("suspect", kind)[0] == "open":
                self.start()
                self.until(lambda: self.worker_process.poll() is not None or self.state("suspect", kind)[0] != "open", "an end")
                killed += self.worker_process.poll() is not None
                self.end()
            self.assertIn((self.state("suspect", kind)[0], killed), (("dead", 3), ("dead", 4), ("open", 6)), kind)
            self.cell("suspect", kind, f"runs alone; at last a {DEAD[kind]}" if killed < 6 else "–")

    def test_9_the_table_of_the_manual(self):
        lines = [f"| | {' | '.join(KINDS)} |", "|---" * (len(KINDS) + 1) + "|"]
        lines += [f"| *{row}* | {' | '.join(TABLE[row][kind] for kind in KINDS)} |" for row in ROWS]
        manual = (Setup.root / "docs" / "worker.md").read_text(encoding="utf-8")
        self.assertIn("\n".join(lines), manual, "put this table into docs/worker.md")


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
