#!/usr/bin/env python3
"""The job side of the worker from outside: pipelines, kills, waits, cancelling, schedules, scopes, refusals.

Usage: jobs_test.py PAWL EFFECT_WORKER SOURCE_ROOT sqlite|postgres [--kills N] [--jobs N --workers N --job-kills N]
"""
import contextlib
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import time

import work_support

PARSER = work_support.arguments("effect_worker")
PARSER.add_argument("--kills", type=int, default=5)
PARSER.add_argument("--jobs", type=int, default=600)
PARSER.add_argument("--workers", type=int, default=3)
PARSER.add_argument("--job-kills", type=int, default=4)
ARGS = PARSER.parse_args()

# Writes a line before it answers: the effect of a step, and when it began.
MARK = """#!/usr/bin/env python3
import json, os, sys, time
arguments = json.load(sys.stdin)
fd = os.open(os.environ["MARKS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(fd, (str(arguments["step"]) + "\\n").encode())
time.sleep(arguments.get("ms", 0) / 1000)
print(json.dumps({"step": arguments["step"]}))
"""


class Jobs(work_support.WorkTest):
    def setUp(self):
        super().setUp()
        self.marks = self.folder / "marks"
        self.marks.touch()
        mark = self.folder / "mark.py"
        mark.write_text(MARK)
        mark.chmod(0o755)
        self.tools = self.folder / "tools.json"
        self.tools.write_text(json.dumps({"tools": {
            "mark": {"exec": str(mark), "env": {"MARKS": str(self.marks)},
                     "input": {"type": "object", "required": ["step"]}},
            "echo": {"exec": "/bin/cat"},
            "broken": {"exec": "sh -c 'echo no >&2; exit 65'"},
            "typed": {"exec": "/bin/cat", "input": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            "secret": {"exec": "/bin/cat", "scopes": ["vault"]}}}))
        self.environment["PAWL_TOOLS"] = str(self.tools)

    def worker(self, *more, lease="2s"):
        return self.start_worker(ARGS.pawl, "worker", "--kinds", "jobs", "--poll", "100ms", "--job-lease", lease,
                                 "--instance-lease", lease, "--heartbeat", "250ms", *more)

    def stop(self, process):
        process.terminate()
        self.assertIn(process.wait(timeout=30), (0, 75))

    def write(self, document, name="pipeline.json"):
        path = self.folder / name
        path.write_text(json.dumps(document))
        return str(path)

    def counts(self):
        seen = {}
        for line in self.marks.read_text().split():
            seen[line] = seen.get(line, 0) + 1
        return seen

    # covers: J06 J41 J42 J46 J49
    def test_a_pipeline_runs_and_is_recorded(self):
        self.assertIn("nothing anchors it", self.pawl("audit", "verify")["note"])
        path = self.write({"steps": [{"id": "a", "uses": "echo", "with": {"x": "${params.n}"}},
                                     {"id": "b", "uses": "echo", "with": {"y": "${steps.a.x}"}},
                                     {"id": "c", "uses": "mark", "foreach": [1, 2, 3], "with": {"step": "${item}"}}]})
        self.pawl("job", "enqueue", "--pipeline", path, "--params", '{"n":7}')
        self.stop_when_idle()
        run, = self.pawl("audit", "list")
        self.assertTrue(run["success"])
        self.assertEqual(run["output"]["b"], {"y": 7})
        self.assertEqual(self.counts(), {"1": 1, "2": 1, "3": 1})
        self.assertEqual(len(run["steps"]), 5)
        found = self.pawl("audit", "verify")
        self.assertEqual((found["sound"], found["anchors"], found["note"]), (True, 1, None))  # who stops has anchored what it did
        head = self.pawl("audit", "anchor")["hash"]
        self.assertIn(head, self.log())
        self.assertTrue(self.pawl("audit", "verify", "--head", head)["sound"])
        self.sql("DELETE FROM pawl_task_run" if ARGS.dialect == "sqlite" else
                 f"DELETE FROM {self.environment['PAWL_SCHEMA']}_internal.task_run")
        self.assertIn("removed before its time", self.pawl("audit", "verify", "--head", head, code=73)["fault"])

    def stop_when_idle(self, *more):
        process = self.worker("--until-idle", *more)
        self.assertEqual(process.wait(timeout=60), 0)

    # covers: J05 J53 B4.3 B4.4
    def test_a_killed_pipeline_goes_on_where_it_was(self):
        step_ms = 40 if ARGS.kills <= 10 else 200
        steps = [{"id": f"s{i}", "uses": "mark", "with": {"step": f"s{i}", "ms": step_ms}, "needs": [f"s{i - 1}"] if i else []}
                 for i in range(20)]
        job = self.pawl("job", "enqueue", "--pipeline", self.write({"steps": steps}), "--max-attempts", "200")["id"]
        kills, known = 0, {}
        random.seed(7)
        while kills < ARGS.kills and not self.gone():
            before = sum(self.counts().values())
            process = self.worker(lease="1s")
            self.until(lambda: sum(self.counts().values()) > before or self.gone())
            # Anywhere in the step that runs, or behind it where it is recorded and the next begins; but a pipeline
            # that is to be killed often must not be done before.
            ahead = len(known) * ARGS.kills > 19 * kills
            time.sleep(random.uniform(0, step_ms / 1000 * (0.8 if ahead else 2.5)))
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            time.sleep(0.1)  # its tools die with it
            counts = self.counts()
            for row in self.pawl("job", "steps", str(job)):
                if row["state"] == "done":
                    known.setdefault(row["step"], counts.get(row["step"], 0))
        self.stop_when_idle_or_later()
        counts = self.counts()
        again = {step: (counts[step], seen) for step, seen in known.items() if counts[step] != seen}
        self.assertEqual(again, {}, "recorded steps ran again")
        self.assertEqual(set(counts), {f"s{i}" for i in range(20)})
        if ARGS.kills > 10:
            self.assertEqual(kills, ARGS.kills, "it was done before it was killed so often")
        print(f"# {kills} kills, {sum(counts.values())} runs of 20 steps, {len(known)} recorded before a kill", flush=True)
        print("figures: " + json.dumps({f"kills_{ARGS.dialect}": kills, "pipeline_steps": sum(counts.values()), "violations": len(again)}),
              flush=True)

    def stop_when_idle_or_later(self):
        process = self.worker()
        self.until(self.gone, 60)
        self.stop(process)

    # covers: J52 J55 J57
    def test_jobs_survive_killed_workers(self):
        handler = f"note=exec:sh -c 'read x; echo $PAWL_JOB_ID >> {self.marks}'"
        self.pawl("job", "enqueue", "note", "{}", "--count", str(ARGS.jobs), "--max-attempts", "100")
        group = [self.worker("--on", handler, "--concurrency", "2") for _ in range(ARGS.workers)]
        random.seed(3)
        kills = 0
        while not self.gone():
            time.sleep(0.3)
            if kills < ARGS.job_kills:
                at = random.randrange(len(group))
                group[at].send_signal(signal.SIGKILL)
                group[at].wait()
                group[at] = self.worker("--on", handler, "--concurrency", "2")
                kills += 1
        for process in group:
            self.stop(process)
        runs = self.pawl("audit", "list", "--limit", "5000")
        done = [run["job_id"] for run in runs if run["success"]]
        if ARGS.jobs <= 5000:
            self.assertEqual(sorted(done), sorted(set(done)), "a job was completed twice")
            self.assertEqual(len(done), ARGS.jobs)
        self.assertEqual(len(self.counts()), ARGS.jobs)
        self.assertTrue(self.pawl("audit", "verify")["sound"])

    def sql(self, text):
        if ARGS.dialect == "sqlite":
            with contextlib.closing(sqlite3.connect(self.environment["DATABASE_URL"], timeout=30)) as db:
                rows = db.execute(text).fetchall()
                db.commit()
                return rows
        done = subprocess.run(["psql", "-qAtX", "-F", " ", "-v", "ON_ERROR_STOP=1", "-c", text, os.environ["PAWL_TEST_PG_URL"]],
                              capture_output=True, text=True, timeout=60, check=True)
        return [tuple(int(word) for word in line.split()) for line in done.stdout.splitlines()]

    # The effect is a row in the transaction that ends the job. covers: J52 J55 J57 B4.4 B4.5
    def test_effects_of_killed_workers_happen_once(self):
        self.sql("DROP TABLE IF EXISTS effect")
        self.sql("CREATE TABLE effect (job bigint, token bigint, worker bigint)")
        for first in range(0, ARGS.jobs, 5000):
            self.pawl("job", "enqueue", "note", "{}", "--count", str(min(5000, ARGS.jobs - first)), "--max-attempts", "100")

        def start():
            return self.start_worker(ARGS.effect_worker, self.environment["DATABASE_URL"])

        group = [start() for _ in range(ARGS.workers)]
        random.seed(11)
        begin, kills, half = time.monotonic(), 0, None
        while not self.gone():
            time.sleep(random.uniform(0.05, 0.4))
            if kills < ARGS.job_kills:
                at = random.randrange(len(group))
                group[at].send_signal(signal.SIGKILL)
                group[at].wait()
                group[at] = start()
                kills += 1
            if half is None and self.sql("SELECT count(*) FROM effect")[0][0] * 2 >= ARGS.jobs:
                half = time.monotonic() - begin
        seconds = time.monotonic() - begin
        for process in group:
            self.stop(process)
        (rows, jobs), = self.sql("SELECT count(*), count(DISTINCT job) FROM effect")
        print(f"# {ARGS.workers} workers, {ARGS.jobs} jobs, {kills} kills: {rows} effects of {jobs} jobs in {seconds:.1f} s "
              f"(the first half in {half or 0:.1f} s)", flush=True)
        print("figures: " + json.dumps({"jobs": jobs, f"kills_{ARGS.dialect}": kills, "violations": abs(ARGS.jobs - jobs) + rows - jobs}),
              flush=True)
        self.assertEqual((rows, jobs), (ARGS.jobs, ARGS.jobs), "an effect is missing or happened twice")
        succeeded = self.pawl("audit", "list", "--limit", "5000") if ARGS.jobs <= 1000 else []
        self.assertEqual(len([run for run in succeeded if run["success"]]), ARGS.jobs if ARGS.jobs <= 1000 else 0)
        self.assertTrue(self.pawl("audit", "verify")["sound"])
        if ARGS.job_kills > 10:
            self.assertEqual(kills, ARGS.job_kills, "everything was done before so many were killed")

    # covers: J08 B4.6 B4.17
    def test_what_can_never_run_is_a_dead_letter(self):
        path = self.write({"steps": [{"id": "a", "uses": "broken"}]})
        self.pawl("job", "enqueue", "--pipeline", path)
        self.stop_when_idle()
        job, = self.pawl("job", "list")
        self.assertEqual((job["state"], job["attempts"]), ("dead", 1))
        self.assertIn("no", job["error"])
        log = self.log()
        self.assertRegex(log, rf"event=attempt_failed .*id={job['id']} .*type=pawl.pipeline .*result=permanent .*error=.*no")
        self.pawl("job", "retry", str(job["id"]))
        self.stop_when_idle()
        self.pawl("job", "delete", str(job["id"]))
        self.assertTrue(self.gone())

    # covers: J43 J50 B4.17
    def test_wrong_input_is_refused_before_anything_is_stored(self):
        def refused(document, *more, code=65):
            return self.pawl("job", "enqueue", "--pipeline", self.write(document), *more, code=code)
        self.assertIn("nothing", str(refused({"steps": [{"id": "a", "uses": "nothing"}]})))
        self.assertIn("a", str(refused({"steps": [{"id": "a", "uses": "echo", "needs": ["b"]},
                                                  {"id": "b", "uses": "echo", "needs": ["a"]}]})))
        self.assertIn("params.x", str(refused({"steps": [{"id": "a", "uses": "echo", "with": {"v": "${params.x}"}}]})))
        self.assertIn("step", str(refused({"steps": [{"id": "a", "uses": "mark", "with": {}}]})))
        deep = json.loads("[" * 70 + "]" * 70)
        self.assertIn("deep", str(refused({"steps": [{"id": "a", "uses": "echo"}]}, "--params", json.dumps({"d": deep}))))
        fine = self.write({"steps": [{"id": "a", "uses": "echo"}]})
        self.pawl("task", "create", "t", "--pipeline", fine, "--cron", "61 * * * *", code=65)
        self.pawl("task", "create", "t", "--pipeline", fine, "--cron", "1 * * * *", "--zone", "Mars/Base", code=65)
        self.pawl("task", "create", "t", "--pipeline", fine, "--zone", "Europe/Berlin", code=65)
        self.assertIn("mark", str(self.pawl("task", "create", "t", "--pipeline",
                                            self.write({"steps": [{"uses": "mark", "with": {}}]}), code=65)))
        for arguments in ({"evnt": "x"}, {"event": "x", "timout": "1s"}, {"for": "3 min"}, {"event": "x", "for": "1s"}, {}):
            self.assertIn("wait", str(refused({"steps": [{"uses": "pawl.wait", "with": arguments}]})))
        refused({"steps": [{"uses": "pawl.wait", "foreach": [1], "with": {"for": "1s"}}]})
        self.pawl("job", "enqueue", "x", "--params", "{}", code=64)
        self.pawl("job", "enqueue", "x", "--pipeline", fine, code=64)
        self.pawl("agent", "disable", "nobody", code=66)
        self.assertEqual((self.pawl("task", "list"), self.pawl("agent", "list")), ([], []))
        self.assertTrue(self.gone())

    # covers: J43 J50
    def test_the_parameters_of_a_task_are_checked_when_a_job_of_it_is_enqueued(self):
        path = self.write({"params": {"required": ["day"]}, "steps": [
            {"uses": "echo", "foreach": "${params.list}", "with": {"day": "${params.day}", "home": "${env.HOME}"}}]})
        self.environment["PAWL_PIPELINE_ENV"] = "HOME"
        self.pawl("task", "create", "t", "--pipeline", path)
        for params, reason in (("{}", "'day' is missing"), ('{"day":1}', "params.list"), ('{"day":1,"list":2}', "not a list"),
                               ("[]", "an object"), ("{", "expected")):
            self.assertIn(reason, self.pawl("task", "run", "t", "--params", params, code=65))
            self.pawl("job", "enqueue", "--task", "t", "--params", params, code=65)
        self.pawl("task", "run", "t", code=65)
        self.assertTrue(self.gone())
        self.pawl("task", "run", "t", "--params", '{"day":1,"list":[2]}')
        self.stop_when_idle()
        self.assertTrue(self.pawl("audit", "list")[0]["success"])

    # covers: J48
    def test_scopes(self):
        path = self.write({"steps": [{"id": "a", "uses": "secret"}]})
        self.pawl("agent", "set", "robot", "tool:echo")
        self.pawl("task", "create", "t", "--pipeline", path, "--agent", "robot", code=73)
        self.pawl("agent", "set", "robot", "vault")
        self.pawl("task", "create", "t", "--pipeline", path, "--agent", "robot")
        self.pawl("agent", "set", "robot", "tool:echo")
        self.pawl("task", "run", "t", code=73)
        self.assertEqual(self.pawl("agent", "refusals")[0]["missing"], "vault")
        self.pawl("agent", "set", "robot", "vault")
        self.pawl("task", "run", "t")
        self.pawl("agent", "set", "robot")
        self.stop_when_idle()
        job, = self.pawl("job", "list")
        self.assertEqual(job["state"], "dead")
        self.assertIn("vault", job["error"])

    def agent_task(self, steps, *scopes, name="t", more=()):
        """A task of the agent robot, made while it could do anything, whose scopes are these from now on."""
        self.pawl("agent", "set", "robot", "*")
        self.pawl("task", "create", name, "--agent", "robot", "--pipeline", self.write({"steps": steps}, name + ".json"), *more)
        self.pawl("agent", "set", "robot", *scopes)

    def nested(self, *steps, **more):
        return {"id": "go", "uses": "pawl.enqueue",
                "with": {"type": "pawl.pipeline", "payload": {"pipeline": {"steps": list(steps)}, "params": {}}, **more}}

    # covers: J48
    def test_an_agent_stays_in_its_scopes_whatever_its_jobs_enqueue(self):
        mark = {"id": "m", "uses": "mark", "with": {"step": "x"}}
        self.pawl("task", "create", "vip", "--pipeline", self.write({"steps": [mark]}, "vip.json"))
        self.pawl("agent", "set", "other", "*")
        self.pawl("task", "create", "theirs", "--agent", "other", "--pipeline", self.write({"steps": [{"uses": "echo"}]}))
        enqueue = lambda **what: {"id": "go", "uses": "pawl.enqueue", "with": what}
        attacks = (
            ("a pipeline", self.nested(mark), "tool:mark"),
            ("two levels deep", self.nested({"id": "a", "uses": "echo"}, self.nested(mark)), "tool:mark"),
            ("by a template", enqueue(type="${params.type}", payload={"pipeline": {"steps": [mark]}, "params": {}}), "tool:mark"),
            ("a tool by a template", enqueue(type="pawl.pipeline", payload={"params": {}, "pipeline": {"steps": [
                {"id": "m", "uses": "${params.tool}", "with": {"step": "x"}}]}}), "tool:mark"),
            ("a task of a person", enqueue(task="vip"), "tool:mark"),
            ("a task of another agent", enqueue(task="theirs"), "other"),
            ("a handler", enqueue(type="charge"), "job:charge"),
            ("a page of a run", enqueue(type="pawl.page", payload={"run": 1}), "job:pawl.page"),
            ("a plan", enqueue(type="pawl.plan", payload={"document": {}}), "job:pawl.plan"))
        for name, step, missing in attacks:
            self.agent_task([step], "tool:pawl.enqueue", "tool:echo")
            self.pawl("task", "run", "t", "--params", '{"type":"pawl.pipeline","tool":"mark"}')
            charge = ("--on", "charge=exec:touch " + str(self.folder / "charged"))
            self.stop_when_idle(*charge)
            self.assertEqual(self.counts(), {}, name)
            self.assertFalse((self.folder / "charged").exists(), name)
            refusal = self.pawl("agent", "refusals")[0]
            self.assertEqual(refusal["agent"], "robot", name)
            self.assertEqual(refusal["missing"], None if missing == "other" else missing, name)
            self.assertIn(missing, refusal["reason"], name)
            dead, = self.pawl("job", "list")
            self.assertEqual((dead["agent"], dead["id"]), ("robot", refusal["job"]), name)
            self.assertIn(missing, dead["error"], name)
            # Once more by a person: it is the agent's all the same.
            self.pawl("job", "retry", str(dead["id"]))
            self.stop_when_idle(*charge)
            again, = self.pawl("job", "list")
            self.assertIn(missing, again["error"], name)
            self.assertEqual((self.counts(), (self.folder / "charged").exists()), ({}, False), name)
            self.pawl("job", "delete", str(dead["id"]))
            self.pawl("task", "delete", "t")

    # covers: J48
    def test_an_agent_stays_in_its_scopes_whatever_its_runs_do(self):
        plain = {"name": "plain", "partitions": ["a"], "page": {"uses": "echo", "size": 20}}
        page = {"uses": "mark", "size": 20}
        attacks = (("fetch", {**plain, "page": page}, "tool:mark"),
                   ("plan", {**plain, "partitions": {"uses": "mark"}}, "tool:mark"),
                   ("consolidate", {**plain, "consolidate": {"uses": "mark"}}, "tool:mark"),
                   ("pipeline", {**plain, "consolidate": {"pipeline": {"steps": [{"uses": "secret"}]}}}, "vault"),
                   ("run", {**plain, "consolidate": {"run": {**plain, "page": page}}}, "tool:mark"),
                   ("sql", {**plain, "page": {"sql": "secrets", "size": 20}}, "statement:secrets"),
                   ("target", {**plain, "target": "salaries"}, "statement:salaries"),
                   ("announce", {**plain, "announce": "charge"}, "job:charge"))
        for name, document, _ in attacks:
            for wait in (True, False):
                self.agent_task([{"id": "r", "uses": "pawl.run", "with": {"document": document, "wait": wait}}],
                                "tool:pawl.run", "tool:echo", name=f"{name}-{wait}")
                self.pawl("task", "run", f"{name}-{wait}")
        self.stop_when_idle()
        dead = {job["task"]: job["error"] for job in self.pawl("job", "list")}
        refused = {row["task"]: row for row in self.pawl("agent", "refusals")}
        for name, _, missing in attacks:
            for task in (name + "-True", name + "-False"):
                self.assertIn(missing, dead[task])
                self.assertEqual(refused[task]["missing"], missing)
                self.assertEqual(refused[task]["agent"], "robot")
        self.assertEqual((self.pawl("run", "list"), self.counts()), ([], {}))

    # covers: J48
    def test_what_an_agent_may_do_it_does_two_levels_deep(self):
        mark = {"id": "m", "uses": "mark", "with": {"step": "x"}}
        self.agent_task([self.nested(self.nested(mark))], "tool:pawl.enqueue", "tool:mark")
        self.pawl("task", "run", "t")
        self.stop_when_idle()
        self.assertEqual((self.counts(), self.gone(), self.pawl("agent", "refusals")), ({"x": 1}, True, []))

    # covers: J48
    def test_an_agent_that_lost_its_scopes_loses_what_it_has_enqueued(self):
        mark = {"id": "m", "uses": "mark", "with": {"step": "x"}}
        for name, change in (("reduced", ("set", "robot", "tool:pawl.enqueue", "tool:echo")), ("disabled", ("disable", "robot"))):
            self.agent_task([self.nested(mark, queue="later")], "tool:pawl.enqueue", "tool:mark", name=name)
            self.pawl("task", "run", name)
            self.stop_when_idle()
            job, = self.pawl("job", "list")
            self.assertEqual((job["state"], job["queue"], job["agent"]), ("ready", "later", "robot"))
            self.pawl("agent", *change)
            self.stop_when_idle("--queue", "later")
            dead, = self.pawl("job", "list")
            self.assertEqual((dead["state"], self.counts()), ("dead", {}))
            self.assertEqual(self.pawl("agent", "refusals")[0]["job"], dead["id"])
            self.pawl("job", "delete", str(dead["id"]))

    # covers: J48
    def test_the_schedule_of_an_agents_task_is_the_agents(self):
        mark = {"id": "m", "uses": "mark", "with": {"step": "x"}}
        self.agent_task([self.nested(mark)], "tool:pawl.enqueue", more=("--every", "1s"))
        process = self.worker()
        self.until(lambda: [r for r in self.pawl("agent", "refusals") if r["missing"] == "tool:mark"])
        self.pawl("task", "pause", "t")
        self.stop(process)
        self.assertEqual(self.counts(), {})

    # covers: J43 J50
    def test_what_can_never_run_is_refused_when_it_is_entered(self):
        def refused(steps, reason, params="{}", **more):
            path = self.write({"steps": steps, **more})
            self.assertIn(reason, self.pawl("job", "enqueue", "--pipeline", path, "--params", params, code=65))
            self.assertIn(reason, self.pawl("task", "create", "t", "--pipeline", path, "--params", params, "--every", "1h", code=65))

        typed = {"id": "a", "uses": "typed"}
        refused([{**typed, "with": {"n": "${params.x}"}}], "must be of type integer", '{"x":"text"}')
        refused([{**typed, "foreach": [1, "b"], "with": {"n": "${item}"}}], "must be of type integer")
        refused([{**typed, "foreach": "${params.x}", "with": {"n": "${item.n}"}}], "there is no 'n'", '{"x":[{"n":1},{}]}')
        refused([{"id": "a", "uses": "echo", "with": {"t": "is ${params.x}"}}], "cannot be part of a text", '{"x":[1]}')
        refused([{"id": "a", "uses": "echo"}], "cannot be part of a text", '{"x":{}}', output="is ${params.x}")
        refused([{"id": "a", "uses": "echo", "with": {"t": "${run.nothing}"}}], "instant_ms")
        refused([{"id": "a", "uses": "pawl.wait", "with": {"for": "${params.x}"}}], "a duration", '{"x":"soon"}')
        refused([{"id": "a", "uses": "pawl.run", "with": {"document": {"name": "x"}}}], "no page")
        refused([{"id": "a", "uses": "pawl.run", "with": {"document": {
            "name": "x", "partitions": ["a"], "page": {"uses": "nowhere"}}}}], "no tool 'nowhere'")
        run = {"id": "a", "uses": "pawl.run", "with": {"document": {"name": "x", "partitions": ["a"], "page": {"uses": "echo"}}}}
        refused([{**run, "foreach": [1]}], "cannot have foreach")
        refused([{**run, "with": {**run["with"], "timeout": "soon"}}], "a duration")
        refused([{**run, "with": {**run["with"], "key": "k"}}], "cannot have a key")
        refused([{"id": "a", "uses": "pawl.send", "with": {"type": "x" * 300}}], "at most 200")
        refused([{"id": "a", "uses": "pawl.enqueue", "with": {"queue": "q"}}], "a task or a type")
        refused([{"id": "a", "uses": "pawl.enqueue", "with": {"type": "x", "priority": 2000}}], "at most 1000")
        refused([self.nested({"id": "b", "uses": "pawl.wait"})], "pawl.wait needs one of")
        self.assertIn("of type pawl.pipeline needs", self.pawl("job", "enqueue", "pawl.pipeline", "{}", code=65))
        fine = self.write({"steps": [{"uses": "echo"}]})
        self.assertIn("has passed", self.pawl("task", "create", "t", "--pipeline", fine, "--at", "2020-01-01T00:00:00Z", code=65))
        self.assertIn("never fire", self.pawl("task", "create", "t", "--pipeline", fine, "--every", "1h", "--end",
                                              "2020-01-01T00:00:00Z", code=65))
        self.assertIn("never start", self.pawl("job", "enqueue", "x", "--deadline", "2020-01-01T00:00:00Z", code=65))
        self.assertIn("never start", self.pawl("job", "enqueue", "x", "--due", "2090-01-02T00:00:00Z", "--deadline",
                                               "2090-01-01T00:00:00Z", code=65))
        self.assertEqual((self.pawl("task", "list"), self.pawl("schedule", "list"), self.gone()), ([], [], True))

    def test_limits_of_a_key(self):
        limits = lambda: {row["key"]: row for row in self.pawl("limit", "list")}
        self.pawl("limit", "set", "tenant:*", "--rate", "100", "--rate-window", "1m", "--weight", "3")
        self.pawl("limit", "set", "tenant:a", "--concurrency", "1")
        self.assertEqual({name: limits()["tenant:*"][name] for name in ("concurrency", "rate", "rate_window_ms", "weight")},
                         {"concurrency": 0, "rate": 100, "rate_window_ms": 60000, "weight": 3})
        self.pawl("limit", "set", "tenant:*")
        self.assertNotIn("tenant:*", limits())
        self.assertIn("1 to 1000", self.pawl("limit", "set", "x", "--weight", "0", code=64))

    def test_waiting_for_a_signal_and_for_a_time(self):
        path = self.write({"steps": [
            {"id": "nap", "uses": "pawl.wait", "with": {"for": "500ms"}},
            {"id": "paid", "uses": "pawl.wait", "needs": ["nap"], "with": {"event": "order:${params.n}", "timeout": "1m"}},
            {"id": "last", "uses": "echo", "with": {"amount": "${steps.paid.amount}"}}]})
        self.pawl("job", "enqueue", "--pipeline", path, "--params", '{"n":7}')
        process = self.worker()
        job, = self.until(lambda: [j for j in self.pawl("job", "list") if j["wait_key"] == "order:7"])
        steps = {step["step"]: step for step in self.pawl("job", "steps", str(job["id"]))}
        self.assertEqual({name: (step["state"], step["attempt"], step["error"]) for name, step in steps.items()},
                         {"nap": ("done", 1, None), "paid": ("waiting", 1, None)})
        self.assertIsNotNone(steps["nap"]["finished_at"])
        self.assertEqual((steps["paid"]["finished_at"], steps["paid"]["duration_ms"]), (None, None))
        self.assertEqual(self.pawl("job", "signal", "order:7", '{"amount":42}')["woken"], 1)
        self.until(self.gone)
        self.stop(process)
        self.assertEqual([r["output"]["last"] for r in self.pawl("audit", "list") if r["success"]], [{"amount": 42}])

    def test_a_step_appends_events(self):
        steps = [{"id": "a", "uses": "pawl.append",
                  "with": {"stream": "order-${params.n}", "expected_version": 0,
                           "events": [{"type": "order.placed", "payload": {"n": "${params.n}"}, "metadata": {"by": "pipeline"}},
                                      {"type": "order.paid", "publish": True, "topic": "orders"}]}},
                 {"id": "b", "uses": "echo", "with": {"at": "${steps.a.version}"}}]
        self.pawl("job", "enqueue", "--pipeline", self.write({"steps": steps}), "--params", '{"n":7}')
        self.stop_when_idle()
        run, = self.pawl("audit", "list")
        self.assertEqual(run["output"], {"a": {"first_version": 1, "version": 2, "new": True}, "b": {"at": 2}})
        events = self.pawl("event", "list", "--stream", "order-7")
        self.assertEqual([(e["version"], e["type"]) for e in events], [(1, "order.placed"), (2, "order.paid")])
        self.assertEqual((events[0]["payload"], events[0]["metadata"]), ({"n": 7}, {"by": "pipeline"}))
        message, = self.pawl("message", "list", "--kind", "outbox")
        self.assertEqual((message["id"], message["topic"]), (events[1]["id"], "orders"))
        # Another job finds the stream at version 2: refused for good, and nothing is written.
        self.pawl("job", "enqueue", "--pipeline", self.write({"steps": steps}), "--params", '{"n":7}')
        self.stop_when_idle()
        job, = self.pawl("job", "list")
        self.assertEqual(job["state"], "dead")
        self.assertIn("stream order-7 is at version 2, not at 0", job["error"])
        self.assertEqual(len(self.pawl("event", "list", "--stream", "order-7")), 2)

    def test_a_step_that_is_tried_again_appends_once(self):
        steps = [{"id": "a", "uses": "pawl.append", "foreach": [1, 2, 3], "parallel": 1,
                  "with": {"stream": "counter", "events": [{"type": "ticked", "payload": "${item}"}]}},
                 {"id": "b", "uses": "mark", "needs": ["a"], "with": {"step": "b", "ms": 700}}]
        self.pawl("job", "enqueue", "--pipeline", self.write({"steps": steps}), "--max-attempts", "50")
        for _ in range(3):
            process = self.worker()
            before = self.counts().get("b", 0)
            self.until(lambda: self.counts().get("b", 0) > before)
            process.kill()
            process.wait()
        # What a worker that dies between the append and its note leaves behind: the step is not written down.
        schema = "pawl_" if ARGS.dialect == "sqlite" else self.environment["PAWL_SCHEMA"] + "_internal."
        self.sql(f"DELETE FROM {schema}job_step WHERE step = 'a'")
        process = self.worker()
        self.until(self.gone)
        self.stop(process)
        self.assertEqual([e["payload"] for e in self.pawl("event", "list", "--stream", "counter")], [1, 2, 3])

    def test_append_is_a_tool_with_a_schema_and_a_scope(self):
        tool, = [t for t in self.pawl("tool", "list") if t["name"] == "pawl.append"]
        self.assertEqual(tool["kind"], "function")
        fine = {"steps": [{"id": "a", "uses": "pawl.append", "with": {"stream": "s", "events": [{"type": "x"}]}}]}
        for wrong in ({"events": [{"type": "x"}]}, {"stream": "s", "events": []}, {"stream": "s", "events": [{}]},
                      {"stream": "s", "events": [{"type": "x"}], "expected_version": -1}):
            self.pawl("job", "enqueue", "--pipeline", self.write({"steps": [{"id": "a", "uses": "pawl.append", "with": wrong}]}), code=65)
        self.pawl("agent", "set", "robot", "tool:echo")
        refused = self.pawl("task", "create", "t", "--pipeline", self.write(fine), "--agent", "robot", code=73)
        self.assertIn("tool:pawl.append", str(refused))
        self.pawl("agent", "set", "robot", "tool:pawl.*")
        self.pawl("task", "create", "t", "--pipeline", self.write(fine), "--agent", "robot")

    def test_cancelling_a_running_job(self):
        path = self.write({"steps": [{"id": "a", "uses": "mark", "with": {"step": "a", "ms": 60000}, "timeout": "2m"}]})
        job = self.pawl("job", "enqueue", "--pipeline", path)["id"]
        process = self.worker()
        self.until(lambda: self.counts().get("a"))
        self.pawl("job", "cancel", str(job), "--reason", "wrong day")
        self.until(self.gone, 15)
        self.stop(process)
        action, deploy = self.pawl("action", "list")
        self.assertEqual((deploy["action"], deploy["detail"].split()[0]), ("deploy", "pawl"))
        self.assertEqual((action["action"], action["detail"]), ("job.cancel", f'id=["{job}"] reason=wrong day'))
        self.assertEqual(self.pawl("audit", "list")[0]["outcome"], "cancelled")

    # One reason, whoever notices first that the time is over; and a dead job says why it is dead.
    def test_timeouts_and_deaths_have_one_reason(self):
        path = self.write({"steps": [{"id": "a", "uses": "mark", "with": {"step": "a", "ms": 60000}, "timeout": "2m"}]})
        for _ in range(6):
            self.pawl("job", "enqueue", "slow", "--timeout", "300ms", "--max-attempts", "1")
            self.pawl("job", "enqueue", "--pipeline", path, "--timeout", "300ms", "--max-attempts", "1")
        wrong = self.pawl("job", "enqueue", "wrong")["id"]
        self.stop(self.until_dead(self.worker("--on", "slow=exec:sleep 60", "--on", "wrong=exec:sh -c 'exit 65'", "--concurrency", "4"), 13))
        jobs = {job["id"]: job for job in self.pawl("job", "list")}
        self.assertEqual({job["error"] for job in jobs.values() if job["id"] != wrong},
                         {"did not end within its time limit of 300 ms"})
        self.assertEqual({job["reason"] for job in jobs.values() if job["id"] != wrong}, {"attempts"})
        late = re.findall(r"event=handler_timeout handler=(\S+) job=\d+ after_ms=", self.log())
        self.assertEqual(sorted(late), ["pawl.pipeline"] * 6 + ["slow"] * 6)
        self.assertEqual(jobs[wrong]["reason"], "permanent")
        self.assertIn("permanent", self.pawl("why", "job", str(wrong))["explanation"])
        self.assertNotIn("permanent", self.pawl("why", "job", str(min(jobs)))["explanation"])

    def until_dead(self, process, count):
        self.until(lambda: sum(job["state"] == "dead" for job in self.pawl("job", "list")) == count, 60)
        return process

    def test_the_head_of_the_audit_is_logged(self):
        self.pawl("job", "enqueue", "a")
        process = self.worker("--on", "a=exec:true", "--cleanup-interval", "1s")
        found = self.until(lambda: re.search(r"audit_head.*hash=([0-9a-f]{64})", self.log()))
        self.stop(process)
        self.assertTrue(self.pawl("audit", "verify", "--head", found.group(1))["sound"])
        self.assertEqual(self.pawl("audit", "anchor")["hash"], found.group(1))

    def test_a_schedule_fires(self):
        path = self.write({"steps": [{"id": "a", "uses": "mark", "with": {"step": "${run.instant_ms}"}}]})
        self.pawl("task", "create", "tick", "--pipeline", path, "--every", "1s")
        processes = [self.worker() for _ in range(2)]
        self.until(lambda: len(self.counts()) >= 3)
        self.pawl("task", "pause", "tick")
        self.until(self.gone)
        for process in processes:
            self.stop(process)
        self.assertTrue(all(count == 1 for count in self.counts().values()), "an instant fired twice")
        self.assertEqual(len(self.pawl("schedule", "preview", "tick", "--limit", "4")), 4)
        self.pawl("task", "delete", "tick")
        self.assertEqual(self.pawl("schedule", "list"), [])

    # covers: J53 J56
    def test_a_worker_that_was_silent_goes_on(self):
        process = self.worker("--on", "note=exec:/bin/true", lease="500ms")
        for _ in range(6):
            self.until(lambda: len(self.pawl("instance", "list")) == 1)
            self.pawl("job", "enqueue", "note", "{}", "--count", "3", "--max-attempts", "100")
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.8)  # its lease is over, and nobody is there to put it out
            process.send_signal(signal.SIGCONT)
            self.until(self.gone, 20)
        self.stop(process)

    # covers: J14 B4.12
    def test_a_stop_lets_the_job_finish(self):
        path = self.write({"steps": [{"id": "a", "uses": "mark", "with": {"step": "a", "ms": 1500}}]})
        self.pawl("job", "enqueue", "--pipeline", path)
        process = self.worker()
        self.until(lambda: self.counts().get("a"))
        self.stop(process)
        self.assertTrue(self.gone())
        self.assertEqual(self.counts(), {"a": 1})


work_support.main(Jobs, ARGS)
