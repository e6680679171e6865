#!/usr/bin/env python3
"""Runs from outside: pages fetched by every kind of handler, kills, stops, faults, repairs, nesting, operations.

Usage: runs_test.py PAWL SOURCE_ROOT sqlite|postgres [--only NAME]
"""
import json
import re
import signal
import subprocess
import sys
import time

import work_support

ARGS = work_support.arguments().parse_args()

# A source of numbers: partition {"from", "to"}, cursor = the next number. What it does besides is in its arguments.
# Every call leaves a line: partition, where it began, which process.
SOURCE = """#!/usr/bin/env python3
import json, os, pathlib, sys, time
told = json.load(sys.stdin)
behave, part = told["params"], told["partition"]
at = told["cursor"] if told["cursor"] is not None else part["from"]
folder = pathlib.Path(os.environ["SOURCE"])
fd = os.open(folder / "calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(fd, f"{part['id']} {at} {os.getpid()} {time.monotonic()}\\n".encode())
def once(name):
    try:
        os.close(os.open(folder / f"{name}-{part['id']}-{at}", os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False
time.sleep(behave.get("ms", 0) / 1000)
if at in behave.get("hang", []) and once("hang"):
    time.sleep(60)
if at in behave.get("flaky", []) and once("flaky"):
    sys.exit(75)
if at in behave.get("broken", []) and not (folder / "repaired").exists():
    print("the source is broken here", file=sys.stderr)
    sys.exit(65)
if at in behave.get("throttled", []) and once("throttled"):
    print(json.dumps({"retry_after": behave["retry_after"]}))
    sys.exit(0)
stop = min(at + told["limit"], part["to"])
items = [{"key": f"k{n:06d}", "n": n} for n in range(at, stop)]
if behave.get("no_keys"):
    items = [{"n": n} for n in range(at, stop)]
if behave.get("too_many"):
    items = [{"key": str(n)} for n in range(told["limit"] + 1)]
if behave.get("twice") and at > part["from"]:
    items = [{"key": f"k{at - 1:06d}", "n": at - 1}] + items[:told["limit"] - 1]
    stop = items[-1]["n"] + 1
following = told["cursor"] if behave.get("loop") and told["cursor"] is not None else stop
print(json.dumps({"items": items, "next": following if stop < part["to"] or behave.get("loop") else None}))
"""

# Notes what a tool was told; fails while a file says so.
NOTE = """#!/usr/bin/env python3
import json, os, pathlib, sys
told = json.load(sys.stdin)
folder = pathlib.Path(os.environ["SOURCE"])
with open(folder / "notes", "a") as notes:
    notes.write(json.dumps(told) + "\\n")
if (folder / "no-consolidation").exists():
    print("it does not add up", file=sys.stderr)
    sys.exit(65)
print(json.dumps({"noted": True}))
"""

# A server that speaks MCP on its stdin and stdout and has one tool: a page of numbers.
FAKE_MCP = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, out = asked["method"], None
    if method == "initialize":
        out = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "pages", "version": "1"}}
    elif method == "tools/list":
        out = {"tools": [{"name": "page", "description": "a page", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        told = asked["params"]["arguments"]
        at = told["cursor"] if told["cursor"] is not None else told["from"]
        stop = min(at + told["limit"], told["to"])
        page = {"items": [{"key": str(n), "n": n} for n in range(at, stop)], "next": stop if stop < told["to"] else None}
        out = {"content": [{"type": "text", "text": json.dumps(page)}], "structuredContent": page}
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    answer.update({"result": out} if out is not None else {"error": {"code": -32601, "message": "what?"}})
    print(json.dumps(answer), flush=True)
"""

PLAN = """#!/usr/bin/env python3
import json, sys
told = json.load(sys.stdin)
print(json.dumps([{"id": f"part-{i}", "from": i * 50, "to": i * 50 + 50} for i in range(told["params"]["parts"])]))
"""


class Runs(work_support.WorkTest):
    def setUp(self):
        super().setUp()
        for name, text in (("source.py", SOURCE), ("note.py", NOTE), ("plan.py", PLAN)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        environment = {"SOURCE": str(self.folder)}
        self.tools = {"tools": {
            "source": {"exec": str(self.folder / "source.py"), "env": environment},
            "note": {"exec": str(self.folder / "note.py"), "env": environment},
            "plan": {"exec": str(self.folder / "plan.py")}}}
        (self.folder / "tools.json").write_text(json.dumps(self.tools))
        self.environment["PAWL_TOOLS"] = str(self.folder / "tools.json")
        if ARGS.dialect == "postgres":
            self.environment["PGOPTIONS"] = f"-c search_path={self.schema}"

    def tearDown(self):
        super().tearDown()
        violations = self.pawl("check")
        self.assertEqual([row for row in violations if row.get("violations", 0)] if isinstance(violations, list) else [], [])

    def pawl(self, *words, code=0):
        done = self.run_pawl(*words, code=code)
        return json.loads(done.stdout) if done.stdout.strip() and code == 0 else done.stderr

    def worker(self, *more, lease="3s", concurrency="4"):
        return self.start_worker(ARGS.pawl, "worker", "--kinds", "jobs", "--poll", "50ms", "--job-lease", lease,
                                 "--instance-lease", lease, "--heartbeat", "250ms", "--concurrency", concurrency, *more)

    def until_idle(self, *more):
        process = self.worker("--until-idle", *more)
        self.assertEqual(process.wait(timeout=60), 0, self.log()[-3000:])

    def start(self, parts=4, each=100, behave=None, code=0, words=(), **more):
        document = {"name": "numbers", "params": behave or {},
                    "partitions": {"range": {"from": 0, "to": parts * each, "parts": parts}},
                    "page": {"uses": "source", "size": 20}, "consolidate": {"uses": "note"}}
        for key, value in more.items():
            if isinstance(value, dict) and isinstance(document.get(key), dict) and key == "page":
                document[key] = {k: v for k, v in {**document[key], **value}.items() if v is not None}
            elif value is None:
                document.pop(key, None)
            else:
                document[key] = value
        path = self.folder / "run.json"
        path.write_text(json.dumps(document))
        answer = self.pawl("run", "start", str(path), *words, code=code)
        return str(answer["run"]) if code == 0 else answer

    def show(self, run):
        return self.pawl("run", "show", run)

    def until_state(self, run, *states):
        def reached():
            now = self.show(run)
            return now if now["state"] in states else None
        return self.until(reached)

    def items(self, run):
        return [item["payload"]["n"] for item in self.pawl("run", "items", run, "--limit", "5000")]

    def calls(self):
        file = self.folder / "calls"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []

    def notes(self):
        file = self.folder / "notes"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def sql(self, text):
        if ARGS.dialect == "sqlite":
            import sqlite3
            database = sqlite3.connect(self.environment["DATABASE_URL"], timeout=10)
            rows = database.execute(text).fetchall()
            database.commit()
            database.close()
            return rows
        done = subprocess.run(["psql", "-qAtX", "-F", "\t", "-d", self.environment["DATABASE_URL"], "-v",
                               "ON_ERROR_STOP=1", "-c", text], env=self.environment, check=True, capture_output=True,
                              text=True)
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]

    # covers: C01 C02 C03 C04 C05 C13 C16 C20 C26 C29 C31 C32 C41 C42 C45 B1.9
    def test_a_run_is_worked_page_by_page_and_consolidated_once(self):
        run = self.start(behave={"twice": True})
        self.until_idle("--log-level", "debug")
        now = self.show(run)
        self.assertEqual((now["state"], now["done"], now["failed"], now["remaining"]), ("completed", 4, 0, 0))
        self.assertEqual(self.items(run), list(range(400)))
        self.assertEqual(now["permille"], 1000)
        self.assertEqual(len(self.notes()), 1)
        self.assertEqual(self.notes()[0]["items"], now["items"])
        starts = sorted((part, int(at)) for part, at, *_ in self.calls())
        self.assertEqual(len(starts), len(set(starts)), "each page is fetched once")
        self.assertEqual(now["pages"], len(starts))
        for part in self.pawl("run", "partitions", run):
            self.assertEqual((part["state"], part["next_offset"]), ("done", part["items"]))
            self.assertLess(part["page_max_ms"], 60000)
            order = [int(at) for name, at, *_ in self.calls() if name == part["partition"]]
            self.assertEqual(order, sorted(order), "the pages of a partition come one after the other")

    # covers: C40 C33 C36 B1.2 B1.3
    def test_a_kill_in_the_middle_of_a_page_loses_and_doubles_nothing(self):
        run = self.start(parts=2, each=200, behave={"hang": [60, 260]})
        first = self.worker(lease="1s")
        self.until(lambda: all((self.folder / f"hang-{p}").exists() for p in ("0..200-60", "200..400-260")))
        before = {p["partition"]: p["next_offset"] for p in self.pawl("run", "partitions", run)}
        self.assertEqual(before, {"0..200": 60, "200..400": 60})
        first.kill()
        first.wait()
        lowest = dict(before)
        self.worker(lease="1s")

        def ended():
            for p in self.pawl("run", "partitions", run):
                self.assertGreaterEqual(p["next_offset"], lowest[p["partition"]], "an offset went back")
                lowest[p["partition"]] = p["next_offset"]
            return self.show(run)["state"] in ("completed", "failed")
        self.until(ended)
        now = self.show(run)
        self.assertEqual(now["state"], "completed")
        self.assertEqual(self.items(run), list(range(400)))
        self.assertEqual(now["items"], 400, "records are counted once")
        self.assertEqual(len(self.notes()), 1)

    # covers: C36 B1.11
    def test_a_stop_lets_the_page_end_within_the_drain(self):
        run = self.start(parts=1, each=200, behave={"ms": 700})
        process = self.worker("--drain", "10s")
        self.until(self.calls)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=20), 0)
        part, = self.pawl("run", "partitions", run)
        self.assertEqual((part["next_offset"], part["state"]), (20, "active"))
        self.assertEqual(len(self.calls()), 1)
        job, = self.pawl("job", "list")
        self.assertEqual((job["state"], job["attempts"]), ("ready", 0))

    # covers: C36 B1.11
    def test_a_page_that_does_not_end_is_released_and_the_exit_code_says_so(self):
        run = self.start(parts=1, each=200, behave={"hang": [0]})
        process = self.worker("--drain", "500ms", lease="20s")
        self.until(self.calls)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=20), 75)
        self.assertLess(time.monotonic() - began, 8)
        part, = self.pawl("run", "partitions", run)
        self.assertEqual((part["next_offset"], part["state"]), (0, "active"))
        job, = self.pawl("job", "list")
        self.assertEqual((job["state"], job["attempts"]), ("ready", 0))
        self.until_idle()
        self.assertEqual(self.items(run), list(range(200)))

    # covers: C38
    def test_a_rollout_goes_schema_code_drain_verify(self):
        run = self.start(parts=2, each=200, behave={"ms": 60})
        old = self.worker("--drain", "10s")
        self.until(lambda: len(self.calls()) >= 4)
        self.pawl("migrate")  # the schema first: the old workers go on
        self.worker()         # then the new ones, beside the old
        old.terminate()       # which drain
        self.assertEqual(old.wait(timeout=20), 0)
        self.until_state(run, "completed")
        self.assertEqual(self.items(run), list(range(400)))
        starts = [(part, at) for part, at, *_ in self.calls()]
        self.assertEqual(len(starts), len(set(starts)), "a page was fetched twice")

    # covers: C33 C34 C35 B1.5
    def test_only_what_fails_for_good_counts_as_failed(self):
        run = self.start(parts=3, each=60, behave={"flaky": [0, 20, 60], "broken": [140]})
        self.worker()
        now = self.until_state(run, "failed")
        self.assertEqual((now["done"], now["failed"], now["remaining"]), (2, 1, 0))
        self.assertIn("1 of 3 partitions failed", now["error"])
        self.assertEqual(self.notes(), [], "no consolidation when one failed")
        part, = self.pawl("run", "partitions", run, "--state", "failed")
        self.assertIn("the source is broken here", part["error"])
        self.assertEqual(part["next_offset"], 20)
        (self.folder / "repaired").touch()
        self.assertEqual(self.pawl("run", "retry", run)["count"], 1)
        self.until_state(run, "completed")
        self.assertEqual(self.items(run), list(range(180)))
        self.assertEqual(len(self.notes()), 1)

    def test_policies_when_some_failed(self):
        partial = self.start(parts=2, each=40, behave={"broken": [40]}, failed="partial")
        repair = self.start(parts=2, each=40, behave={"broken": [40]}, failed="wait")
        self.until_idle()
        self.assertEqual(self.show(partial)["state"], "completed")
        self.assertEqual(self.show(repair)["state"], "repair")
        self.assertEqual([note["failed"] for note in self.notes()], [1])
        (self.folder / "repaired").touch()
        self.pawl("run", "retry", repair, "40..80")
        self.until_idle()
        self.assertEqual(self.show(repair)["state"], "completed")

    def test_a_consolidation_that_fails_leaves_the_run_repairable(self):
        (self.folder / "no-consolidation").touch()
        run = self.start(parts=2, each=40)
        self.until_idle()
        now = self.until_state(run, "failed")
        self.assertIn("the consolidation failed", now["error"])
        self.assertIn("it does not add up", now["error"])
        self.assertEqual(self.items(run), list(range(80)), "nothing is lost")
        (self.folder / "no-consolidation").unlink()
        self.pawl("run", "retry", run)
        self.until_idle()
        now = self.show(run)
        self.assertEqual((now["state"], now["round"]), ("completed", 2))

    # covers: B1.8
    def test_bad_pages_fail_their_partition_and_say_why(self):
        for behave, says in (({"no_keys": True}, "item 0 of the page has no key"),
                             ({"too_many": True}, "the page has 21 items, asked for were at most 20"),
                             ({"loop": True}, "the cursor did not change")):
            run = self.start(parts=1, each=100, behave=behave)
            self.until_idle()
            now = self.until_state(run, "failed")
            part, = self.pawl("run", "partitions", run)
            self.assertIn(says, part["error"])
            self.assertEqual(now["failed"], 1)

    def test_bad_documents_start_nothing(self):
        for more, says in (
                ({"partitions": [{"id": "a", "from": 0, "to": 10}, {"id": "b", "from": 9, "to": 20}]}, "overlap"),
                ({"page": {"size": 5001}}, "size must be a whole number from 1 to 5000"),
                ({"page": {"uses": "nothing"}}, "there is no tool 'nothing'"),
                ({"page": {"grpc": "x"}}, "'grpc' is not known in page"),
                ({"target": "nowhere"}, "there is no statement 'nowhere'")):
            said = self.start(code=66 if "there is no" in says else 65, **more)
            self.assertIn(says, said)
        self.assertEqual(self.pawl("run", "list"), [])
        self.assertEqual(self.pawl("job", "list"), [])

    # covers: C10 C11 C12 C23 C46 B1.1 B1.7
    def test_operators_reset_and_reenqueue(self):
        run = self.start(parts=2, each=100, behave={"ms": 300}, consolidate=None)
        worker = self.worker("--log-level", "info")
        self.until(lambda: any(p["next_offset"] >= 40 for p in self.pawl("run", "partitions", run)))
        self.pawl("run", "retry", run, "0..100")
        self.pawl("run", "reset", run, "100..200", "--offset", "20", "--cursor", "120")
        now = self.until_state(run, "completed")
        self.assertEqual(self.items(run), list(range(200)))
        self.assertEqual((now["done"], now["remaining"]), (2, 0))
        worker.terminate()
        worker.wait(timeout=20)
        # The page that was on its way came too late, and says so; it ended nothing.
        self.assertGreater(sum(p["skipped"] for p in self.pawl("run", "partitions", run)), 0)
        self.assertIn("event=page_skipped", self.log())
        self.assertIn("of before a reset or a retry", self.log())
        self.pawl("run", "reset", run, "0..100", code=73)

    # covers: C10 C11 C12 C24 C25 C27 C28 B1.1 B1.4
    def test_a_page_that_comes_twice_is_skipped_and_logged(self):
        run = self.start(parts=1, each=100, behave={"ms": 300}, announce="work.done")
        first = json.dumps({"run": int(run), "part": 0, "generation": 0, "page": 0, "offset": 0, "limit": 20})
        worker = self.worker("--log-level", "info", "--on", f"work.done=exec:sh -c 'cat >> {self.folder}/notes'")
        self.until(lambda: self.pawl("run", "partitions", run)[0]["next_offset"] >= 20)
        for _ in range(3):  # as a broker would deliver it again
            self.pawl("job", "enqueue", "pawl.page", first)
        now = self.until_state(run, "completed")
        self.pawl("job", "enqueue", "pawl.page", first)
        self.until(self.gone)
        worker.terminate()
        worker.wait(timeout=20)
        self.assertEqual(now["items"], 100)
        self.assertEqual(self.items(run), list(range(100)))
        self.assertEqual(self.show(run)["skipped"], 4)
        skipped = re.findall(r"event=page_skipped .*", self.log())
        self.assertEqual(len(skipped), 4)
        self.assertIn('reason="offset mismatch, skipping duplicate"', skipped[0])
        self.assertIn('reason="the partition is completed"', skipped[3])
        notes = self.notes()
        self.assertEqual(len([n for n in notes if "round" in n]), 1, "one consolidation")
        self.assertEqual(len([n for n in notes if n.get("type") == "work.done"]), 1, "one work_done")

    # covers: C43 C44
    def test_active_and_stuck_partitions(self):
        run = self.start(parts=3, each=40)
        self.assertEqual(len(self.pawl("run", "partitions", run, "--state", "active")), 3)
        self.assertEqual(self.pawl("run", "stuck"), [])
        time.sleep(0.3)
        self.assertEqual(len(self.pawl("run", "stuck", "--quiet", "200ms")), 3)
        self.assertEqual([r["id"] for r in self.pawl("run", "list", "--open")], [int(run)])
        self.until_idle()
        self.assertEqual(self.pawl("run", "stuck", "--quiet", "1ms"), [])
        self.assertEqual(self.pawl("run", "list", "--open"), [])

    def test_pause_resume_and_cancel(self):
        run = self.start(parts=4, each=200, behave={"ms": 100})
        self.worker()
        self.until(self.calls)
        self.pawl("run", "pause", run)
        time.sleep(1)
        at = [p["next_offset"] for p in self.pawl("run", "partitions", run)]
        time.sleep(0.5)
        self.assertEqual(at, [p["next_offset"] for p in self.pawl("run", "partitions", run)])
        self.assertTrue(self.show(run)["paused"])
        self.pawl("run", "resume", run)
        self.until(lambda: [p["next_offset"] for p in self.pawl("run", "partitions", run)] != at)
        self.pawl("run", "cancel", run, "--yes")
        now = self.until_state(run, "cancelled")
        time.sleep(0.5)
        self.assertEqual(now["items"], self.show(run)["items"])
        self.assertEqual(self.notes(), [])
        self.assertEqual(self.pawl("run", "cancel", run, "--yes")["answer"], "duplicate")
        self.pawl("run", "pause", run, code=73)

    def test_a_source_that_asks_for_quiet_is_left_alone(self):
        run = self.start(parts=4, each=60, behave={"throttled": [20], "retry_after": 4}, consolidate=None)
        self.worker("--log-level", "info")
        now = self.until_state(run, "completed")
        self.assertEqual(now["failed"], 0)
        self.assertEqual(self.items(run), list(range(240)))
        told = next(float(at) for part, start, _, at in self.calls() if (part, start) == ("0..60", "20"))
        # Its answer comes some time after the call began; what began meanwhile is not early.
        early = [c for c in self.calls() if told + 2 < float(c[3]) < told + 3.8]
        self.assertEqual(early, [], "somebody asked while the source wanted quiet")
        self.assertIn("event=run_paced", self.log())
        self.assertIn("throttled=true", self.log())

    def test_concurrency_and_rate_hold_for_the_run(self):
        run = self.start(parts=6, each=40, behave={"ms": 100}, concurrency=2, rate={"requests": 8, "per": "1s"},
                         adaptive=False, consolidate=None)
        self.worker(concurrency="8")
        self.until_state(run, "completed")
        times = sorted(float(call[3]) for call in self.calls())
        self.assertEqual(len(times), 12)
        for i, at in enumerate(times):
            self.assertLessEqual(sum(at <= other < at + 0.095 for other in times), 3, "too many at once")
        self.assertGreater(times[-1] - times[0], 0.4)

    def test_a_tool_plans_the_partitions(self):
        said = self.pawl("run", "start", self.document({
            "name": "planned", "params": {"parts": 3}, "partitions": {"uses": "plan"},
            "page": {"uses": "source", "size": 20}}), "--key", "planned-1")
        self.assertEqual((said["run"], said["answer"]), (None, "planning"))
        self.until_idle()
        now = self.show("planned-1")
        self.assertEqual((now["state"], now["partitions"]), ("completed", 3))
        self.assertEqual(self.items("planned-1"), list(range(150)))

    def document(self, value, name="document.json"):
        path = self.folder / name
        path.write_text(json.dumps(value))
        return str(path)

    def test_runs_nest_and_consolidate_by_pipelines(self):
        inner = {"name": "inner", "partitions": ["x", "y"],
                 "page": {"uses": "inner", "size": 5},
                 "consolidate": {"pipeline": [{"id": "a", "uses": "note", "with": {"at": "inner", "n": "${params.run.items}"}},
                                              {"id": "b", "uses": "note", "with": {"after": "${steps.a.noted}"}}]}}
        script = self.folder / "inner.py"
        script.write_text("#!/usr/bin/env python3\nimport json, sys\ntold = json.load(sys.stdin)\n"
                          "print(json.dumps({'items': [{'key': told['partition']['id'], 'n': 1}], 'end': True}))\n")
        script.chmod(0o755)
        self.tools["tools"]["inner"] = {"exec": str(script)}
        (self.folder / "tools.json").write_text(json.dumps(self.tools))
        run = self.start(parts=2, each=40, consolidate={"run": inner})
        self.until_idle()
        now = self.until_state(run, "completed")
        child, parent = self.pawl("run", "list")
        self.assertEqual((child["parent"], child["state"], parent["id"]), (int(run), "completed", int(run)))
        self.assertEqual(now["children_open"], 0)
        self.assertEqual(self.notes(), [{"at": "inner", "n": 2}, {"after": True}])

    def test_a_run_is_a_step_of_a_pipeline(self):
        document = {"name": "step", "partitions": [{"id": "a", "from": 0, "to": 40}], "page": {"uses": "source", "size": 20}}
        steps = [{"id": "fill", "uses": "pawl.run", "with": {"document": document}},
                 {"id": "then", "uses": "note", "with": {"state": "${steps.fill.state}", "run": "${steps.fill.run}"}}]
        self.pawl("job", "enqueue", "--pipeline", self.document({"steps": steps}))
        broken = {"name": "bad", "params": {"broken": [0]}, "partitions": [{"id": "a", "from": 0, "to": 40}],
                  "page": {"uses": "source", "size": 20}}
        bad = [{"id": "fill", "uses": "pawl.run", "with": {"document": broken}},
               {"id": "never", "uses": "note", "with": {"x": "${steps.fill.state}"}}]
        self.pawl("job", "enqueue", "--pipeline", self.document({"steps": bad}, "bad.json"))
        worker = self.worker()
        end = time.monotonic() + 30
        while time.monotonic() < end and len(self.pawl("audit", "list")) < 2 + 3:
            runs = self.pawl("run", "list")
            jobs = self.pawl("job", "list")
            if len(runs) == 2 and all(r["state"] in ("completed", "failed") for r in runs) and all(j["state"] == "dead" for j in jobs):
                break
            time.sleep(0.1)
        worker.terminate()
        worker.wait(timeout=20)
        self.assertEqual([note["state"] for note in self.notes()], ["completed"])
        dead = [job for job in self.pawl("job", "list") if job["type"] == "pawl.pipeline"]
        self.assertEqual(len(dead), 1)
        self.assertIn("is failed", dead[0]["error"])

    def test_a_document_that_can_never_work_is_refused_when_it_is_started(self):
        self.tools["tools"]["typed"] = {"exec": "/bin/cat", "input": {"type": "object", "properties": {"n": {"type": "integer"}}}}
        (self.folder / "tools.json").write_text(json.dumps(self.tools))
        page = lambda **more: {"partitions": ["a", {"id": "b", "n": 1}], "page": {"uses": "typed", "size": None, **more}}
        fine = {"name": "y", "partitions": ["a"], "page": {"uses": "source"}}
        for more, reason, code in (
                (page(**{"with": {"n": "x"}}), "must be of type integer", 65),
                (page(**{"with": {"n": "${params.x}"}}), "does not exist in the parameters", 65),
                ({"params": {"x": "1"}, **page(**{"with": {"n": "${params.x}"}})}, "must be of type integer", 65),
                ({"params": {"x": [1]}, **page(**{"with": {"m": "is ${params.x}"}})}, "cannot be part of a text", 65),
                (page(**{"with": {"n": "${item.n}"}}), "does not exist in every partition", 65),
                (page(**{"with": {"n": "${run.nothing}"}}), "${run.nothing} does not exist", 65),
                ({"partitions": {"uses": "typed", "with": {"n": "x"}}}, "must be of type integer", 65),
                ({"consolidate": {"uses": "note", "with": {"x": "${params.no}"}}}, "does not exist in the parameters", 65),
                ({"consolidate": {"pipeline": {"steps": [{"uses": "nowhere"}]}}}, "'nowhere' is not registered", 65),
                ({"consolidate": {"run": {**fine, "page": {"uses": "nowhere"}}}}, "no tool 'nowhere'", 66),
                ({"page": {"uses": None, "sql": "nowhere"}}, "no statement 'nowhere'", 66),
                ({"consolidate": {"run": {**fine, "page": {"sql": "nowhere"}}}}, "no statement 'nowhere'", 66)):
            self.assertIn(reason, self.start(code=code, **more))
            self.assertIn(reason, self.start(code=code, words=("--dry-run",), **more))
        self.assertEqual((self.pawl("run", "list"), self.pawl("job", "list")), ([], []))

    def agent_task(self, name, steps, *scopes):
        """A task of the agent robot, made while it could do anything, whose scopes are these from now on."""
        self.pawl("agent", "set", "robot", "*")
        self.pawl("task", "create", name, "--agent", "robot", "--pipeline", self.document({"steps": steps}, name + ".json"))
        self.pawl("agent", "set", "robot", *scopes)

    # covers: J48
    def test_a_run_of_an_agent_is_the_agents_whoever_goes_on_with_it(self):
        document = {"name": "inner", "params": {"parts": 2, "ms": 200}, "partitions": {"uses": "plan"}, "page": {"uses": "source", "size": 20},
                    "consolidate": {"run": {"name": "child", "partitions": [{"id": "a", "from": 0, "to": 20}],
                                            "page": {"uses": "source", "size": 20}, "consolidate": {"uses": "note"}}}}
        scopes = ("tool:pawl.run", "tool:plan", "tool:source", "tool:note")
        self.agent_task("t", [{"id": "r", "uses": "pawl.run", "with": {"document": document, "wait": False}}], *scopes)
        self.pawl("task", "run", "t")
        worker = self.worker(concurrency="1")
        self.until(self.calls)
        self.pawl("agent", "set", "robot", "tool:pawl.run", "tool:plan")
        run = str(self.pawl("run", "list")[-1]["id"])
        self.assertEqual(self.show(run)["agent"], "robot")
        self.until_state(run, "failed")
        done = len(self.calls())
        self.assertIn("tool:source", str(self.pawl("run", "partitions", run)))
        self.pawl("run", "retry", run)  # by a person
        self.until_state(run, "failed")
        self.assertEqual(len(self.calls()), done)
        self.pawl("agent", "set", "robot", *scopes)
        self.pawl("run", "retry", run)
        self.until_state(run, "completed")
        worker.terminate()
        worker.wait(timeout=30)
        self.assertEqual({row["agent"] for row in self.pawl("run", "list")}, {"robot"})
        self.assertEqual(len(self.pawl("run", "list")), 2)
        self.assertEqual({row["agent"] for row in self.pawl("agent", "refusals")}, {"robot"})

    # covers: C15 C21 C22
    def test_items_go_into_a_table_of_the_users(self):
        self.sql("CREATE TABLE number (key text PRIMARY KEY, n bigint NOT NULL, part text)")
        statement = self.folder / "number.sql"
        if ARGS.dialect == "sqlite":
            statement.write_text("INSERT INTO number SELECT json_extract(value, '$.key'), json_extract(value, '$.payload.n'), "
                                 "json_extract(value, '$.partition') FROM json_each(?1) WHERE true "
                                 "ON CONFLICT (key) DO UPDATE SET n = excluded.n")
        else:
            statement.write_text("INSERT INTO number SELECT i ->> 'key', (i -> 'payload' ->> 'n')::bigint, i ->> 'partition' "
                                 "FROM jsonb_array_elements($1::jsonb) i ON CONFLICT (key) DO UPDATE SET n = excluded.n")
        self.pawl("statement", "set", "number", str(statement))
        self.assertEqual([row["name"] for row in self.pawl("statement", "list")], ["number"])
        run = self.start(parts=2, each=60, target="number", consolidate=None)
        self.until_idle()
        self.assertEqual(self.show(run)["state"], "completed")
        self.assertEqual([int(row[0]) for row in self.sql("SELECT n FROM number ORDER BY n")], list(range(120)))
        self.assertEqual(self.items(run), [])
        for wrong in ("INSERT INTO nowhere SELECT 1", "INSRT", "SELECT no_such_function(1)"):
            (self.folder / "wrong.sql").write_text(wrong)
            self.assertIn("op", self.pawl("statement", "set", "wrong", str(self.folder / "wrong.sql"), code=65))
        self.assertEqual([row["name"] for row in self.pawl("statement", "list")], ["number"])
        # A statement that cannot store a page stores nothing, and moves nothing.
        self.sql("DROP TABLE number")
        run = self.start(parts=1, each=60, target="number", consolidate=None)
        self.until_idle()
        part, = self.pawl("run", "partitions", run)
        self.assertEqual((part["state"], part["next_offset"]), ("failed", 0))
        self.assertIn("number", part["error"])

    def test_a_tool_of_an_mcp_server_fetches_the_pages(self):
        server = self.folder / "fake_mcp.py"
        server.write_text(FAKE_MCP)
        server.chmod(0o755)
        self.tools["servers"] = {"pages": {"command": [str(server)]}}
        (self.folder / "tools.json").write_text(json.dumps(self.tools))
        run = self.start(parts=3, each=50, page={"uses": "pages.page", "with": {
            "from": "${item.from}", "to": "${item.to}", "cursor": "${run.cursor}", "limit": "${run.limit}"}})
        self.until_idle()
        self.assertEqual(self.show(run)["state"], "completed")
        self.assertEqual(sorted(self.items(run)), list(range(150)))

    def test_a_statement_selects_the_pages(self):
        self.sql("CREATE TABLE origin (key text PRIMARY KEY, region text, n bigint)")
        for n in range(90):
            self.sql(f"INSERT INTO origin VALUES ('k{n:03d}', '{'abc'[n % 3]}', {n})")
        statement = self.folder / "select.sql"
        if ARGS.dialect == "sqlite":
            statement.write_text("SELECT key, json_object('n', n) FROM origin WHERE region = json_extract(?1, '$.partition.id') "
                                 "AND key > coalesce(json_extract(?1, '$.cursor'), '') ORDER BY key "
                                 "LIMIT json_extract(?1, '$.limit')")
        else:
            statement.write_text("SELECT key, json_build_object('n', n) FROM origin WHERE region = $1 -> 'partition' ->> 'id' "
                                 "AND key > coalesce($1 ->> 'cursor', '') ORDER BY key LIMIT ($1 ->> 'limit')::integer;")
        self.pawl("statement", "set", "origin", str(statement))
        run = self.start(partitions=["a", "b", "c"], page={"sql": "origin", "uses": None, "size": 7}, consolidate=None)
        self.until_idle()
        now = self.show(run)
        self.assertEqual((now["state"], now["pages"]), ("completed", 15), self.pawl("run", "partitions", run))
        self.assertEqual(self.items(run), list(range(90)))
        self.pawl("statement", "set", "nothing", str(statement))
        run = self.start(partitions=["a"], page={"sql": "nothing", "uses": None}, consolidate=None)
        self.pawl("statement", "delete", "nothing")
        self.until_idle()
        self.assertIn("there is no", self.pawl("run", "partitions", run)[0]["error"])

    def test_show_watch_and_dry_run(self):
        run = self.start(parts=2, each=40)
        self.worker()
        done = subprocess.run([ARGS.pawl, "run", "show", run, "--watch", "-o", "table"], env=self.environment,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1], r"^\[#{24}\] 100\.0 %  80 items  [0-9.]+/s  0 left  2 of 2 partitions  completed$")
        failing = self.start(parts=1, each=40, behave={"broken": [0]})
        said = self.pawl("run", "show", failing, "--watch", code=73)
        self.assertIn("was not completed: it is failed", said)
        plan = self.pawl("run", "start", self.document({"name": "n", "partitions": {"dates": {
            "from": "2026-01-01", "to": "2026-03-01", "every": "month"}}, "page": {"uses": "source"}}), "--dry-run")
        self.assertEqual([row["partition"] for row in plan], ["2026-01-01..2026-02-01", "2026-02-01..2026-03-01"])
        again = self.pawl("run", "start", str(self.folder / "run.json"), "--key", "k")
        self.assertEqual(again["answer"], "started")
        self.assertEqual(self.pawl("run", "start", str(self.folder / "run.json"), "--key", "k")["answer"], "duplicate")


work_support.main(Runs, ARGS)
