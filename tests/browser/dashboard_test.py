#!/usr/bin/env python3
"""The dashboard in a real browser, while a worker works: walk.mjs does the walking. Pictures go to PICTURES.
Skipped (77) when tools/npm-ci has not been run or there is no Chromium.

Usage: dashboard_test.py PAWL HELPER ROOT sqlite|postgres PICTURES [CASE...]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))

from server_support import ServerTest, Setup, cli_support  # noqa: E402 (found by the line above)

HERE = pathlib.Path(__file__).resolve().parent
WALK_SECONDS = 800
HANDLER = """#!/bin/sh
test -e fixed && exit 0
echo "no such customer 4711" >&2
exit 65
"""
# A page of a run: ten items, slowly; the partition "closed" fails.
PAGE = """#!/usr/bin/env python3
import json, sys, time
asked = json.load(sys.stdin)
time.sleep(0.3)
if asked["part"] == "closed":
    sys.exit("the shop is closed")
left = max(0, asked["total"] - asked["offset"])
print(json.dumps({"data": [{"sku": f"{asked['part']}-{asked['offset'] + i}"} for i in range(min(left, asked["limit"]))]}))
"""


class Stage(ServerTest):
    """A server, a worker, messages that flow, and one of everything that the pages show."""

    def runTest(self):
        """A TestCase wants one; the walk is started by main()."""

    def worker_start(self):
        handler = self.dir / "handler"
        handler.write_text(HANDLER)
        handler.chmod(0o755)
        log = open(self.dir / "worker.log", "wb")
        self.addCleanup(log.close)
        handlers = self.dir / "handlers.ini"
        handlers.write_text(f"[bad.*]\nexec = {handler}\n[held.*]\nexec = {handler}\non-dead = block\n[*]\nexec = /bin/true\n"
                            f"[mail@event:order.placed]\nexec = /bin/true\n[strict@event:order.refused]\nexec = {handler}\nfrom = start\n")
        worker = subprocess.Popen([Setup.pawl, "worker", "--kinds", "outbox,inbox,jobs,perspectives", "--poll", "200ms",
                                   "--handlers", str(handlers), "--tools", str(self.dir / "tools.json")],
                                  env=self.env, cwd=self.dir, stderr=log)
        self.addCleanup(worker.wait, 60)
        self.addCleanup(worker.terminate)

    def send(self, kind, name, count):
        messages = [{"type": f"{kind}.{name}", "stream": f"{kind}/{i}", "payload": {"amount": i}} for i in range(count)]
        self.post("/v1/messages", {"messages": messages})

    def work(self):
        later_ms = int(time.time() * 1000) + 86400000
        for i in range(60):
            self.post("/v1/jobs", {"type": "mail.send", "payload": {"to": f"reader {i}"}, "due_ms": later_ms + i * 60000})
        pipeline = {"steps": [{"id": "gather", "uses": "say", "with": {"rows": 3}},
                              {"id": "write", "uses": "say", "with": {"from": "${steps.gather.rows}"}},
                              {"id": "count", "uses": "say", "with": {"from": "${steps.gather.rows}"}},
                              {"id": "send", "uses": "say", "needs": ["write", "count"]}]}
        answer = self.request("PUT", "/v1/tasks/report", {"pipeline": pipeline})
        self.assertEqual(answer.status, 200, answer)
        answer = self.request("PUT", "/v1/schedules/nightly", {"task": "report", "cron": "0 3 * * *", "zone": "Europe/Zurich"})
        self.assertEqual(answer.status, 200, answer)

    def run(self, key, parts, total, closed):
        names = [{"id": f"shelf {i}", "total": total} for i in range(parts)] + ([{"id": "closed", "total": total}] if closed else [])
        page = {"uses": "page", "by": "offset", "end": "short", "size": 10, "attempts": 1, "answer": {"items": "data", "key": "sku"},
                "with": {"part": "${item.id}", "total": "${item.total}", "offset": "${run.offset}", "limit": "${run.limit}"}}
        answer = self.request("POST", "/v1/runs", {"document": {"name": "catalogue", "partitions": names, "page": page, "concurrency": 2}, "key": key})
        self.assertEqual(answer.status, 200, answer)

    def perspectives(self):
        example = Setup.root / "examples" / "perspectives"
        for statement in (example / "tables.sql").read_text().split(";"):
            if "CREATE" in statement:
                self.sql(statement[statement.index("CREATE"):])
        if Setup.dialect == "postgres":  # a rebuild empties the model with the rights of the server's role
            self.sql(f'GRANT SELECT, DELETE ON event_count TO "{self.schema}_server"')
        self.ok("perspective", "set", str(example / "event_count.yaml"))
        for i in range(20):
            self.post(f"/v1/streams/order%2F{i}/events", {"events": [{"type": "order.placed", "payload": {"amount": i}}] * 3})
        self.post("/v1/streams/order%2Frefused/events", {"events": [{"type": "order.refused", "payload": {"amount": 1}}]})

    def flow(self, ended):
        """Messages and events until ended is set."""
        while not ended.wait(0.3):
            self.send("order", "placed", 5)
            self.post("/v1/streams/order%2Fflow/events", {"events": [{"type": "order.placed", "payload": {"amount": 1}}]})

    def stage(self):
        self.env["PGOPTIONS"] = f"-c search_path={self.schema}"
        self.env["PAWL_ALERT_INTERVAL"] = "1s"
        self.migrate()
        (self.dir / "page").write_text(PAGE)
        (self.dir / "page").chmod(0o755)
        (self.dir / "tools.json").write_text(json.dumps({"tools": {"say": {"exec": "/bin/cat"}, "page": {"exec": str(self.dir / "page")}}}))
        self.start_server("--tools", str(self.dir / "tools.json"), migrate=False)
        self.perspectives()
        self.work()
        self.send("bad", "order", 70)
        held = [{"type": "held.order", "stream": "held/1", "payload": {"amount": i}} for i in range(3)]
        self.post("/v1/messages", {"messages": held})
        self.worker_start()
        deadline = time.monotonic() + 60
        while sum(group["count"] for group in self.get("/v1/messages/failures")["items"]) < 72:
            self.assertLess(time.monotonic(), deadline, (self.dir / "worker.log").read_text())
            time.sleep(0.2)
        answer = self.request("PUT", "/v1/alerts/too-much-dead", {"metric": "outbox_dead", "threshold": 50, "for_ms": 0})
        self.assertEqual(answer.status, 200, answer)
        self.post("/v1/tasks/report/run", {})
        self.run("small", 3, 20, False)
        self.run("catalogue 7", 30, 1500, True)
        self.post("/v1/pauses", {"scope": "topic", "name": "letters", "reason": "the printer is broken"})

    def walk(self, chromium, pictures):
        ended = threading.Event()
        flow = threading.Thread(target=self.flow, args=(ended,))
        flow.start()
        try:
            return subprocess.run(["node", str(HERE / "walk.mjs"), chromium, "http://" + self.address,
                                   self.tokens["operator"], self.tokens["viewer"], str(self.dir), pictures, *sys.argv[6:]],
                                  timeout=WALK_SECONDS, check=False).returncode
        finally:
            ended.set()
            flow.join()


def main():
    chromium = shutil.which("chromium")
    if chromium is None or shutil.which("node") is None or not (HERE / "node_modules" / "playwright-core").exists():
        print("1..0 # SKIP needs chromium (tools/deps all) and tools/npm-ci tests/browser")
        return cli_support.SKIP_CODE
    Setup.pawl, Setup.helper = map(os.path.abspath, sys.argv[1:3])
    Setup.root = pathlib.Path(sys.argv[3]).resolve()
    Setup.dialect = sys.argv[4]
    if Setup.dialect == "postgres":
        Setup.pg_url = cli_support.start_postgres()
        if not Setup.pg_url:
            print("1..0 # SKIP no PostgreSQL here")
            return cli_support.SKIP_CODE
    stage = Stage()
    stage.setUp()
    try:
        stage.stage()
        return stage.walk(chromium, sys.argv[5])
    finally:
        stage.doCleanups()


if __name__ == "__main__":
    sys.exit(main())
