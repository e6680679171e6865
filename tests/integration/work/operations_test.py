#!/usr/bin/env python3
"""What docs/operations.md, docs/backup.md and examples/fleet say, tried: queries, settings of the server, replicas, rotation, memory.

Usage: operations_test.py PAWL SOURCE_ROOT sqlite|postgres [--jobs N]
"""
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import time

import yaml

import work_support

PARSER = work_support.arguments()
PARSER.add_argument("--jobs", type=int, default=200)
ARGS = PARSER.parse_args()
ROOT = pathlib.Path(ARGS.root)
DOC = "\n".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("operations.md", "backup.md"))
FLEET = ROOT / "examples" / "fleet"


def query(name):
    """The statement that the document shows below the mark of that name."""
    return re.search(rf"<!-- query: {name} {ARGS.dialect} -->\n+```sql\n(.*?)```", DOC, re.DOTALL).group(1)


class Operations(work_support.WorkTest):
    def sql(self, text):
        if ARGS.dialect == "sqlite":
            database = sqlite3.connect(self.environment["DATABASE_URL"], timeout=30)
            rows = [tuple(str(cell) for cell in row) for row in database.execute(text)]
            database.close()
            return rows
        done = subprocess.run(["psql", "-qAtX", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", self.environment["DATABASE_URL"], "-c",
                               re.sub(r"\bpawl(_internal)?\.", self.schema + r"\1.", text)], capture_output=True, text=True, timeout=60, check=True)
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]

    def worker(self, words, **environment):
        return self.start_worker(ARGS.pawl, *words, **environment)

    def pipeline(self, steps):
        path = self.folder / "pipeline.json"
        path.write_text(json.dumps({"steps": steps}))
        return str(path)

    # covers: J59
    def test_tasks_that_need_many_attempts_are_found(self):
        tools = self.folder / "tools.json"
        counter = self.folder / "count"
        tools.write_text(json.dumps({"tools": {
            "third": {"exec": f"sh -c 'echo x >> {counter}; test $(wc -l < {counter}) -gt 5 || exit 75'"}, "fine": {"exec": "/bin/true"}}}))
        self.environment["PAWL_TOOLS"] = str(tools)
        for name in ("third", "fine"):
            self.pawl("task", "create", name, "--pipeline", self.pipeline([{"id": "a", "uses": name}]))
            self.pawl("task", "run", name)
        self.worker(["worker", "--kinds", "jobs", "--poll", "100ms", "--retry-base", "10ms", "--retry-max", "20ms", "--retry-jitter=false"])
        self.until(self.gone)
        found = self.sql(query("attempts"))
        self.assertEqual([row[0] for row in found], ["third"])
        self.assertEqual((float(found[0][1]), int(found[0][2])), (3.5, 6))

    # covers: J60
    def test_who_waits_for_whom_is_seen(self):
        if ARGS.dialect == "sqlite":
            self.assertIn("one writer at a time", DOC)
            return
        self.assertEqual(self.sql(query("locks")), [])
        self.pawl("send", "a", "{}")
        url = self.environment["DATABASE_URL"]
        holder = subprocess.Popen(["psql", "-qX", "-d", url, "-c", f"BEGIN; LOCK TABLE {self.schema}_internal.message; SELECT pg_sleep(20)"])
        self.until(lambda: self.sql("SELECT 1 FROM pg_locks WHERE granted AND mode = 'AccessExclusiveLock'"
                                    " AND relation = 'pawl_internal.message'::regclass"))
        waiter = subprocess.Popen([ARGS.pawl, "send", "b", "{}"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.until(lambda: self.sql(query("locks")), 15)
            waits = self.sql(query("locks"))
            self.assertTrue(any("pg_sleep" in row[-1] for row in waits), waits)
        finally:
            holder.kill()
            holder.wait()
            self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()")
            waiter.wait(60)

    def test_each_role_does_what_is_said_of_it(self):
        if ARGS.dialect == "sqlite":
            return
        url, roles = self.environment["DATABASE_URL"], re.findall(r"^\| `pawl_(\w+)` \|", DOC, re.MULTILINE)
        self.assertEqual(sorted(roles), ["lease", "operator", "owner", "producer", "program", "server", "view", "worker"])
        logins = {role: f"{self.schema}_login_{role}" for role in roles}
        try:
            for role, login in logins.items():
                self.sql(f"CREATE ROLE {login} LOGIN IN ROLE {self.schema}_{role}, {self.schema}_program")
            self.act_as(url, logins)
        finally:
            self.environment["DATABASE_URL"] = url
            for login in logins.values():
                self.sql(f"DROP ROLE IF EXISTS {login}")

    def act_as(self, url, logins):
        urls = {role: f"{url}{'&' if '?' in url else '?'}user={login}" for role, login in logins.items()}

        def refused(role, *words):
            done = subprocess.run([ARGS.pawl, *words], env=dict(self.environment, DATABASE_URL=urls[role]), capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 73, f"{role} {words}: {done.stdout}{done.stderr}")
            self.assertIn("lacks the right", done.stderr)

        tools = self.folder / "tools.json"
        tools.write_text(json.dumps({"tools": {"fine": {"exec": "/bin/true"}}}))
        self.environment["PAWL_TOOLS"] = str(tools)
        # The worker is woken: it does not have to poll.
        self.worker(["worker", "--on", "*=exec:cat", "--log-level", "debug"], DATABASE_URL=urls["worker"])
        self.until(lambda: "event=wake_up_works" in self.log(), 150)
        for role in ("view", "producer", "operator"):
            refused(role, "worker", "--on", "*=exec:cat")
        self.pawl("task", "create", "t", "--pipeline", self.pipeline([{"id": "a", "uses": "fine"}]))
        self.environment["DATABASE_URL"] = urls["producer"]
        self.pawl("job", "enqueue", "--task", "t")
        self.environment["DATABASE_URL"] = urls["view"]
        self.until(lambda: self.pawl("status")["successful_runs"] == 1)
        for words in (("queue",), ("monitor", "--looks", "1"), ("workers",), ("alerts",)):
            self.assertTrue(self.pawl(*words), words)
        self.assertEqual([(run["outcome"], run["output"]) for run in self.pawl("audit", "list")], [("succeeded", None)])
        looked = subprocess.run([ARGS.pawl, "doctor"], env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertIn(looked.returncode, (0, 1, 2), looked.stderr)
        refused("view", "send", "a")
        self.assertEqual(self.pawl("message", "list"), [])
        refused("view", "check")
        refused("worker", "migrate")
        self.environment["DATABASE_URL"] = urls["operator"]
        self.pawl("check")
        self.environment["DATABASE_URL"] = urls["owner"]
        self.pawl("migrate")
        self.assertIsNotNone(self.pawl("audit", "list")[0]["output"])

    def test_a_restored_database_gives_newer_tokens(self):
        if ARGS.dialect == "sqlite":
            return
        before = self.pawl("setting", "list")["epoch"]
        self.assertEqual(self.sql(query("restored")), [(str(before + 1),)])
        self.assertEqual(self.pawl("setting", "list")["epoch"], before + 1)

    def test_what_is_said_of_the_server_is_so(self):
        """Every row of the table of settings: the server's defaults."""
        if ARGS.dialect == "sqlite":
            return
        rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| `([^`]+)` \|", DOC, re.MULTILINE)
        self.assertGreaterEqual(len(rows), 8)
        for name, stated in rows:
            unit, default = self.sql(f"SELECT coalesce(unit, ''), boot_val FROM pg_settings WHERE name = '{name}'")[0]
            if stated[-1] == "B":
                default = str(int(default) * {"kB": 1024, "8kB": 8192}[unit])
                stated = self.sql(f"SELECT pg_size_bytes('{stated}')")[0][0]
            self.assertEqual(default, stated, name)

    def test_a_worker_uses_as_many_connections_as_is_said(self):
        if ARGS.dialect == "sqlite":
            return
        stated = int(re.search(r"at most (\d+) connections", DOC).group(1))
        self.pawl("job", "enqueue", "note", "{}", "--count", str(ARGS.jobs))
        self.worker(["worker", "--on", "note=exec:/bin/true", "--poll", "100ms"], PGAPPNAME=self.schema)
        most = 0
        end = time.monotonic() + 60
        while not self.gone() and time.monotonic() < end:
            most = max(most, int(self.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE "
                                          f"'{self.schema}%' OR query LIKE '%{self.schema}.%' AND pid <> pg_backend_pid()")[0][0]))
        print(f"# connections of one worker at work: {most}", flush=True)
        self.assertLessEqual(most, stated)
        self.assertGreater(most, 0)

    # The replicas and the restart policy of the file, kept by this test in place of a container engine. covers: J62
    def test_replicas_that_die_are_replaced_and_lose_nothing(self):
        service = yaml.safe_load((FLEET / "compose.yaml").read_text())["services"]["worker"]
        policy = service["deploy"]["restart_policy"]
        self.assertEqual(policy["condition"], "on-failure")
        environment = {k: v for k, v in service["environment"].items() if k != "DATABASE_URL"}
        words = [*service["command"][1:], "--on", "note=exec:sleep 0.05", "--poll", "100ms", "--job-lease", "2s", "--instance-lease", "2s",
                 "--heartbeat", "250ms"]
        replicas = [self.worker(words, **environment) for _ in range(service["deploy"]["replicas"])]
        self.pawl("job", "enqueue", "note", "{}", "--count", str(ARGS.jobs), "--max-attempts", "100")
        for n in range(4):
            time.sleep(0.5)
            victim = replicas[n % len(replicas)]
            victim.kill()
            self.assertNotEqual(victim.wait(), 0)  # a failure: the policy starts another
            replicas[n % len(replicas)] = self.worker(words, **environment)
        self.until(self.gone)
        ids = {row["id"] for row in self.pawl("instance", "list")}
        self.assertGreaterEqual(len(ids), len(replicas))
        runs = self.pawl("audit", "list", "--limit", "5000")
        self.assertEqual(sorted(r["job_id"] for r in runs if r["success"]), sorted({r["job_id"] for r in runs}))
        for worker in replicas:
            worker.terminate()
        self.assertEqual([worker.wait(40) for worker in replicas], [0] * len(replicas))  # no failure: none is started again

    def test_rotation_burns_no_attempt(self):
        words = ["worker", "--kinds", "jobs", "--on", "note=exec:sleep 0.05", "--poll", "100ms", "--drain", "20s"]
        fleet = [self.worker(words) for _ in range(2)]
        self.pawl("job", "enqueue", "note", "{}", "--count", str(ARGS.jobs))
        self.until(lambda: any(row["processed"] > 0 for row in self.pawl("instance", "list")), 30)
        for n, old in enumerate(list(fleet)):
            fleet[n] = self.worker(words)
            old.terminate()
            self.assertEqual(old.wait(40), 0)
        self.until(self.gone)
        runs = self.pawl("audit", "list", "--limit", "5000")
        self.assertEqual({(r["success"], r["attempt"]) for r in runs}, {(True, 1)})
        self.assertEqual(len(runs), ARGS.jobs)

    def test_the_unit_is_one_that_systemd_takes(self):
        program = shutil.which("systemd-analyze")
        if program is None:
            self.skipTest("systemd-analyze is not installed")
        copy = self.folder / "pawl-worker@.service"
        copy.write_text((FLEET / "pawl-worker@.service").read_text())
        done = subprocess.run([program, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False)
        wrong = [line for line in done.stderr.splitlines() if "pawl-worker" in line]
        self.assertEqual(wrong, [], done.stderr)


work_support.main(Operations, ARGS)
