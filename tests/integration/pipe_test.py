#!/usr/bin/env python3
"""Programs that are kept: what they get and say, and what becomes of their items when they die, hang, talk nonsense or forget."""
import json
import os
import re
import sys
import time

import cli_support
from worker_test import WorkerTest, alive

# A handler that does what the payload says, one item at a time or, with AT_ONCE, each in a thread. It notes what it does.
HANDLER = '''
import json, os, sys, threading, time
AT_ONCE, NOTES = int(sys.argv[1]), sys.argv[2]
lock = threading.Lock()
cancelled = set()
barrier = threading.Barrier(4)

def say(**line):
    with lock:
        sys.stdout.write(json.dumps(line) + "\\n")
        sys.stdout.flush()

def note(*words):
    with open(NOTES, "a") as file:
        file.write(" ".join(map(str, (os.getpid(), *words))) + "\\n")

def work(item):
    body = item.get("message") or item.get("job")
    do, id = body["payload"].get("do", "done"), item["id"]
    note("begin", body["type"], do, body["attempt"], item.get("receptor", "-"))
    if do == "die":
        print("it hurts", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9)
    if do == "exit":
        os._exit(body["payload"]["code"])
    if do == "nonsense":
        sys.stdout.write("Traceback, probably\\n"); sys.stdout.flush(); time.sleep(600)
    if do == "stranger":
        say(id=4711, result="done"); time.sleep(600)
    if do == "huge":
        sys.stdout.write("x" * 9000000); sys.stdout.flush(); time.sleep(600)
    if do == "hang" or do == "forget" and AT_ONCE == 1:
        time.sleep(600)
    if do == "forget":
        return
    if do == "polite":
        while id not in cancelled:
            time.sleep(0.01)
    if do == "together":  # until all of them are here
        barrier.wait()
    if do == "slow":
        time.sleep(body["payload"]["s"])
    if do == "grow":
        work.memory = bytearray(100 << 20)
    if do == "progress":
        say(id=id, progress={"page": 7})
        say(id=id, log="page 7", level="warn")
    note("end", body["type"], do, body["attempt"])
    answer = {"retry": dict(result="retry", error="not yet\\x07"), "reject": dict(result="reject", error="never"),
              "snooze": dict(result="snooze", after_ms=300), "progress": dict(result="retry", after_ms=50)}
    if do in answer and body["attempt"] == 1 and not (do == "snooze" and os.path.exists(NOTES + ".snoozed")):
        if do == "snooze":
            open(NOTES + ".snoozed", "w").close()
        say(id=id, **answer[do])
    else:
        say(id=id, result="done", output={"progress": body.get("progress")})

if os.path.exists(NOTES + ".broken"):
    sys.exit("it cannot begin")
note("start")
say(ready=True, at_once=AT_ONCE)
for line in sys.stdin:
    item = json.loads(line)
    if "cancel" in item:
        note("cancel", item["cancel"])
        cancelled.add(item["id"])
    elif AT_ONCE == 1:
        work(item)
    else:
        threading.Thread(target=work, args=[item], daemon=True).start()
note("input ended")
if os.path.exists(NOTES + ".stays"):
    time.sleep(600)
'''


class PipeTest(WorkerTest):
    """A worker with one such handler."""

    at_once = 1

    def setUp(self):
        super().setUp()
        (self.dir / "handler.py").write_text(HANDLER, encoding="utf-8")
        self.notes = self.dir / "notes"
        self.command = f"{sys.executable} {self.dir}/handler.py {self.at_once} {self.notes}"
        self.addCleanup(self.nothing_is_left)

    def nothing_is_left(self):
        self.end()
        self.wait(lambda: not alive(f"{self.dir}/handler.py"), what="the end of the processes")

    def send(self, do, name="m", *more, **payload):
        return self.ok("send", name, json.dumps({"do": do, **payload}), *more)["id"]

    def begin(self, *args, on="*"):
        self.start("--on", f"{on}=pipe:{self.command}", *([] if "--max-attempts" in args else ["--max-attempts", "2"]), *args)

    def told(self, *words):
        """The notes that begin with these words, after the pid."""
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return [line.split() for line in lines if line.split()[1:1 + len(words)] == list(words)]

    def done(self, count):
        self.wait(lambda: self.counts()["done"] == count, 40, f"{count} done")

    def dead(self, count):
        self.wait(lambda: self.counts()["dead"] == count, 40, f"{count} dead")
        return {row["id"]: row for row in self.ok("message", "list", "--state", "dead")}

    def handlers_file(self, *lines):
        (self.dir / "handlers.ini").write_text("\n".join(["[*]", f"pipe = {self.command}", *lines, ""]), encoding="utf-8")
        self.start("--handlers", str(self.dir / "handlers.ini"), "--max-attempts", "2")


class ResultTest(PipeTest):
    """What is said about an item counts."""

    def test_one_process_for_many_messages(self):
        for n in range(30):
            self.ok("send", "m", json.dumps({"n": n}, indent=1), "--stream", "s")  # a payload of several lines
        self.begin("--concurrency", "1")
        self.done(30)
        said = self.stop()
        self.assertEqual(len(self.told("start")), 1)
        self.assertEqual(len(self.told("end")), 30)
        self.assertEqual(len(self.told("input", "ended")), 1)
        self.assertNotIn("pipe_ended", said)

    def test_results(self):
        retry, reject, snooze = self.send("retry"), self.send("reject"), self.send("snooze")
        self.begin()
        self.done(2)
        dead = self.dead(1)
        said = self.stop()
        self.assertEqual((dead[reject]["attempts"], dead[reject]["reason"], dead[reject]["error"]), (1, "permanent", "never"))
        self.assertRegex(said, f'id={retry} type=m attempt=1 result=retry error="not yet\\?"')
        self.assertNotIn(snooze, said)  # no attempt was counted
        self.assertEqual([line[-2] for line in self.told("begin", "m", "snooze")], ["1", "1"])

    def test_a_job_with_progress_and_output(self):
        job = self.ok("job", "enqueue", "j", '{"do": "progress"}', "--max-attempts", "2")["id"]
        self.begin()
        self.wait(lambda: len(self.told("end", "j")) == 2, what="the second attempt")
        said = self.stop()
        self.assertRegex(said, 'level=warn event=handler_log handler="?\\*"? pid=[0-9]+ text="page 7"')
        rows = [row for row in self.ok("audit", "list") if row["job_id"] == job]
        self.assertIn({"progress": {"page": 7}}, [row["output"] for row in rows])

    def test_receptors(self):
        self.send("done", "several", "--kind", "inbox", "--consumer", "c")
        self.start("--on", f"one@several=pipe:{self.command}", "--on", f"two@several=pipe:{self.command}")
        self.wait(lambda: len(self.told("end")) == 2, what="both receptors")
        self.stop()
        self.assertEqual({line[-1] for line in self.told("begin")}, {"one", "two"})


class FaultTest(PipeTest):
    """A process that fails: its item has failed, others have not."""

    def one_bad(self, do, error, attempts=2, reason="attempts", more=(), **payload):
        bad = self.send(do, "bad", **payload)
        good = [self.send("done", "good") for _ in range(20)]
        self.begin(*more)
        self.done(len(good))
        row = self.dead(1)[bad]
        self.assertEqual((row["attempts"], row["reason"]), (attempts, reason), row)
        self.assertIn(error, row["error"])
        said = self.stop()
        self.assertNotIn("type=good", said)
        self.assertRegex(said, "event=pipe_ended")
        return said

    def test_it_dies(self):
        self.one_bad("die", "ended by signal 9 (Killed): it hurts")

    def test_it_exits_without_an_answer(self):
        self.one_bad("exit", "ended without an answer: exit code 0", code=0)

    def test_its_exit_code_counts(self):
        self.one_bad("exit", "exit code 65", code=65, attempts=1, reason="permanent")

    def test_it_talks_nonsense(self):
        self.one_bad("nonsense", "it wrote Traceback, probably, which is not an object in JSON")

    def test_it_answers_what_it_was_not_asked(self):
        self.one_bad("stranger", "which is about no item that it has")

    def test_it_writes_a_huge_line(self):
        self.one_bad("huge", "it wrote a line of more than 8 MiB")

    def test_it_hangs(self):
        said = self.one_bad("hang", "did not end within its time limit of 300 ms", more=("--processing-timeout", "300ms"))
        self.assertIn("event=handler_timeout", said)

    def test_it_cannot_begin(self):
        """Nothing was tried: no attempt is counted, and the work waits."""
        broken = self.dir / "notes.broken"
        broken.touch()
        self.send("done")
        self.begin()
        self.wait(lambda: self.ok("status")["workers"] and self.ok("status")["kinds"][0]["ready"] + self.counts()["aside"] == 1)
        time.sleep(1.5)  # it is tried more than once meanwhile
        broken.unlink()
        self.done(1)
        said = self.stop()
        self.assertEqual(self.told("begin")[0][-2], "1")
        self.assertRegex(said, 'event=cannot_start program="[^"]*handler.py[^"]*" reason="exit code 1: it cannot begin"')
        self.assertIn("event=can_start_again", said)
        self.assertLess(said.count("event=pipe_ended"), 6)  # with backoff


class SeveralTest(PipeTest):
    """A process that works on several items at once."""

    at_once = 8

    def test_together(self):
        for _ in range(4):
            self.send("together")
        self.begin("--concurrency", "4")
        self.done(4)
        self.stop()
        self.assertEqual(len(self.told("start")), 1)

    def test_only_the_one_to_blame_has_failed(self):
        """They all run again, each alone, and only the one that ends its process again has failed."""
        good = [self.send("slow", "good", s=0.3) for _ in range(3)]
        bad = self.send("die", "bad")
        self.begin("--concurrency", "4", "--max-attempts", "1")
        self.done(len(good))
        self.assertEqual(set(self.dead(1)), {bad})
        said = self.stop()
        self.assertNotIn("type=good", said)

    def test_a_forgotten_answer(self):
        """Its process is killed for it; the others that it had run again, and nothing is counted."""
        self.send("slow", "good", s=4)
        self.begin("--concurrency", "4")
        self.wait(lambda: self.told("begin", "good"), what="the start")
        self.ok("job", "enqueue", "bad", '{"do": "forget"}', "--timeout", "300ms", "--max-attempts", "1")
        self.done(1)
        row = self.ok("job", "list", "--state", "dead")[0]
        said = self.stop()
        self.assertIn("did not end within its time limit of 300 ms", row["error"])
        self.assertEqual(len(self.told("cancel", "timeout")), 1)
        self.assertEqual(len(self.told("begin", "good")), 2)
        self.assertNotIn("type=good", said)


class LifeTest(PipeTest):
    """Processes are replaced, told to stop, and ended."""

    def test_recycled_after_so_many_items(self):
        for n in range(25):
            self.send("done", n=n)
        self.handlers_file("recycle-after = 10", "concurrency = 1")
        self.done(25)
        self.assertNotIn("pipe_ended", self.stop())
        self.assertEqual(len(self.told("start")), 3)
        counts = [len([line for line in self.told("end") if line[0] == start[0]]) for start in self.told("start")]
        self.assertEqual(counts, [10, 10, 5])

    def test_recycled_for_its_memory(self):
        self.send("grow")
        self.handlers_file("recycle-mb = 60", "concurrency = 1")
        self.wait(lambda: self.told("input", "ended"), what="the end of its input")
        self.send("done")
        self.done(2)
        self.stop()
        self.assertEqual(len(self.told("start")), 2)

    def test_a_person_cancels(self):
        message = self.send("polite")
        hanging = self.send("hang")
        self.begin()
        self.wait(lambda: len(self.told("begin")) == 2, what="the start of both")
        for id in (message, hanging):
            self.ok("message", "cancel", id)
        self.assertEqual(set(self.dead(2)), {message, hanging})
        self.stop()

    def test_a_stop_lets_it_finish(self):
        self.send("slow", s=1)
        self.begin()
        self.wait(lambda: self.told("begin"), what="the start")
        self.stop()
        self.assertEqual(self.counts()["done"], 1)
        self.assertTrue(self.told("input", "ended"))

    def test_a_stop_gives_back_what_does_not_finish(self):
        self.send("hang")
        self.begin("--drain", "200ms")
        self.wait(lambda: self.told("begin"), what="the start")
        began = time.monotonic()
        self.stop(code=75)
        self.assertLess(time.monotonic() - began, 15)
        row = self.counts()
        self.assertEqual((row["done"], row["dead"], row["failed"]), (0, 0, 0))

    def test_what_stays_after_the_end_of_its_input_is_killed(self):
        (self.dir / "notes.stays").touch()
        self.send("done")
        self.begin()
        self.done(1)
        began = time.monotonic()
        self.stop()
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(alive(f"{self.dir}/handler.py"), [])


# A tool and a perspective, of the same program.
VIEWS = '''
import json, os, sys
NOTES = sys.argv[1]

def say(**line):
    print(json.dumps(line), flush=True)

print(json.dumps({"ready": True, "more": "is ignored"}), flush=True)
for line in sys.stdin:
    item = json.loads(line)
    with open(NOTES, "a") as file:
        file.write(json.dumps({"pid": os.getpid(), **item}) + "\\n")
    if "events" in item:
        again = item["attempt"] == 1 and item["events"][0]["type"] == "Odd"
        say(id=item["id"], result="retry" if again else "done", error="odd", after_ms=100)
    elif "tool" in item:
        do = item["arguments"].get("do")
        if do == "exit":
            os._exit(3)
        if do == "large":
            say(id=item["id"], result="done", output="x" * 2000000)
        elif do in ("reject", "retry"):
            say(id=item["id"], result=do, error="it said so")
        else:
            say(id=item["id"], result="done", output={"items": [{"sku": item["arguments"].get("from", "A")}], "next": None})
'''


class AlikeTest(WorkerTest):
    """Tools, and with them pipelines and the pages of runs, perspectives and receptors on events use them as messages and jobs do."""

    def setUp(self):
        super().setUp()
        (self.dir / "views.py").write_text(VIEWS, encoding="utf-8")
        self.notes = self.dir / "notes"
        self.command = f"{sys.executable} {self.dir}/views.py {self.notes}"
        (self.dir / "tools.json").write_text(json.dumps({"tools": {"shop": {"pipe": self.command, "concurrency": 2}}}), encoding="utf-8")
        self.env["PAWL_TOOLS"] = str(self.dir / "tools.json")

    def told(self):
        return [json.loads(line) for line in self.notes.read_text().splitlines()]

    def test_a_tool(self):
        self.assertEqual(self.ok("tool", "call", "shop", '{"from": "B"}'), {"items": [{"sku": "B"}], "next": None})
        item, = self.told()
        self.assertEqual((item["tool"], item["arguments"]), ("shop", {"from": "B"}))
        self.refused(65, "the tool shop failed: it said so", "tool", "call", "shop", '{"do": "reject"}')
        self.assertNotIn("may have happened", self.refused(69, "it said so", "tool", "call", "shop", '{"do": "retry"}').err)
        done = self.run_pawl("tool", "call", "shop", '{"do": "exit"}')
        self.assertEqual(done.code, 76, done)
        self.assertIn("ended without an answer: exit code 3", done.err)
        self.assertIn("wrote more than 1048576 bytes", self.run_pawl("tool", "call", "shop", '{"do": "large"}').err)

    def test_pages_and_pipelines(self):
        (self.dir / "run.json").write_text(json.dumps(
            {"name": "r", "partitions": {"range": {"from": 0, "to": 40, "parts": 8}},
             "page": {"uses": "shop", "with": {"from": "${item.from}"}, "answer": {"items": "items", "key": "sku", "next": "next"}}}))
        (self.dir / "pipeline.json").write_text(json.dumps({"steps": [{"id": "a", "uses": "shop", "with": {"from": 7}}]}))
        self.ok("run", "start", str(self.dir / "run.json"))
        self.ok("job", "enqueue", "--pipeline", str(self.dir / "pipeline.json"))
        done = self.run_worker("--kinds", "jobs", "--concurrency", "4")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(sorted(row["key"] for row in self.ok("run", "items", "1")), sorted(str(n) for n in range(0, 40, 5)))
        told = self.told()
        self.assertEqual(len(told), 9)
        self.assertLessEqual(len({item["pid"] for item in told}), 2)
        self.assertTrue(all(item["idempotency_key"] for item in told))

    def test_a_perspective(self):
        (self.dir / "view.json").write_text(json.dumps({"name": "v", "version": 1, "on": ["*"], "pipe": self.command}))
        self.ok("perspective", "set", str(self.dir / "view.json"))
        for n in range(6):
            self.ok("event", "append", f"s-{n % 2}", "Odd" if n == 3 else "Even", "{}")
        self.start("--kinds", "perspectives", "--perspectives-outside", "--concurrency", "2")
        self.wait(lambda: self.notes.exists() and
                  {(event["stream"], event["version"]) for item in self.told() if item["events"][0]["type"] != "Odd" or item["attempt"] > 1
                   for event in item["events"]} == {(f"s-{n % 2}", n // 2 + 1) for n in range(6)}, what="all events")
        kept = {item["pid"] for item in self.told()}
        self.assertTrue(all(os.path.exists(f"/proc/{pid}") for pid in kept))
        # Nobody needs its processes any more: they end before the worker does.
        self.ok("perspective", "delete", "v@1", "--yes")
        self.wait(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in kept), what="the end of its processes")
        said = self.stop()
        self.assertNotIn("pipe_ended", said)
        for item in self.told():
            last = item["events"][-1]
            self.assertEqual((item["perspective"], item["idempotency_key"]), ("v@1", f"{last['stream']}:{last['version']}"))

    def test_a_receptor_on_events(self):
        (self.dir / "handler.py").write_text(HANDLER, encoding="utf-8")
        notes = self.dir / "receptor"
        self.start("--on", f"mail@event:*=pipe:{sys.executable} {self.dir}/handler.py 1 {notes}")
        self.wait(lambda: self.ok("receptor", "list"), what="the receptor")
        self.ok("event", "append", "s-1", "Happened", "{}")
        self.wait(lambda: notes.exists() and "end Happened" in notes.read_text(), what="the event")
        self.stop()
        self.assertIn("begin Happened done 1 mail", notes.read_text())


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
