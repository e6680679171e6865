#!/usr/bin/env python3
"""The whole story: a shop, two workers, an import; the shop crashes once, and so does a worker.

Usage: run.py PAWL sqlite|postgres     (postgres: the server that PAWL_TEST_PG_URL names)
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


class Story:
    def __init__(self, pawl, dialect, directory):
        self.pawl, self.dialect, self.directory = pawl, dialect, directory
        self.environment = dict(os.environ, PAWL_OUTPUT="json")
        self.environment.pop("PAWL_TOOLS", None)
        if dialect == "sqlite":
            self.environment["DATABASE_URL"] = str(directory / "catalogue.db")
        else:
            self.environment["DATABASE_URL"] = os.environ["PAWL_TEST_PG_URL"]
            schema = f"catalogue_{os.getpid()}"
            self.environment["PAWL_SCHEMA"] = schema
            # The statement of the target finds its table by the search path of whoever runs it.
            self.environment["PGOPTIONS"] = f"-c search_path={schema}"
        self.environment["CATALOGUE_DATABASE"] = self.environment["DATABASE_URL"]
        self.children = []

    def command(self, *words):
        done = subprocess.run([self.pawl, *words], env=self.environment, capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"pawl {' '.join(words)}: exit code {done.returncode}: {done.stderr}{done.stdout}")
        return json.loads(done.stdout)

    def sql(self, text):
        if self.dialect == "sqlite":
            import sqlite3
            with sqlite3.connect(self.environment["DATABASE_URL"], timeout=10) as database:
                rows = database.execute(text).fetchall()
            return rows
        done = subprocess.run(["psql", "-qAtX", "-F", "\t", "-d", self.environment["DATABASE_URL"], "-c", text],
                              env=self.environment, check=True, capture_output=True, text=True)
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]

    def start_shop(self, port=0):
        shop = subprocess.Popen([sys.executable, HERE / "server.py", str(port), str(self.directory)],
                                stdout=subprocess.PIPE, text=True)
        self.children.append(shop)
        return shop, int(shop.stdout.readline())

    def start_worker(self):
        with open(self.directory / "workers.log", "a", encoding="utf-8") as log:
            worker = subprocess.Popen([self.pawl, "worker", "--kinds", "jobs", "--concurrency", "8", "--poll", "50ms",
                                       "--job-lease", "3s", "--instance-lease", "2s", "--heartbeat", "500ms",
                                       "--retry-base", "200ms", "--retry-max", "1s",
                                       "--tools", str(self.directory / "tools.json")], env=self.environment, stderr=log)
        self.children.append(worker)
        return worker

    def write_tools(self, port):
        (self.directory / "tools.json").write_text(json.dumps({"tools": {
            "catalogue.page": {"http": f"http://127.0.0.1:{port}/products", "method": "GET", "allow_private": True},
            "catalogue.check": {"exec": [sys.executable, str(HERE / "check.py")],
                                "env": {name: self.environment[name] for name in ("CATALOGUE_DATABASE", "PGOPTIONS")
                                        if name in self.environment}}}}))

    def play(self):
        shop, port = self.start_shop()
        self.write_tools(port)
        self.command("migrate")
        self.sql((HERE / "tables.sql").read_text())
        self.command("statement", "set", "products", str(HERE / f"products.{self.dialect}.sql"))
        run = self.command("run", "start", str(HERE / "catalogue.yaml"), "--key", "first-import", "--tools",
                           str(self.directory / "tools.json"))["run"]
        victim = self.start_worker()
        self.start_worker()
        killed = False
        end = time.monotonic() + 90
        while time.monotonic() < end:
            if shop.poll() is not None:
                shop, _ = self.start_shop(port)  # it comes back, as shops do
            now = self.command("run", "show", str(run))
            if not killed and now["items"] > 200:
                victim.send_signal(signal.SIGKILL)
                killed = True
            if now["state"] in ("completed", "failed", "cancelled"):
                break
            time.sleep(0.1)
        self.check(run, now, killed)

    def check(self, run, now, killed):
        stats = json.loads((self.directory / "stats.json").read_text())
        rows = self.sql("SELECT count(*), sum(price) FROM product")[0]
        facts = {"state": now["state"], "products": int(rows[0]), "pages": now["pages"], "items": now["items"],
                 "skipped": now["skipped"], "worker_killed": killed,
                 "shop_crashed": (self.directory / "crashed").exists(), "throttled": stats["throttled"],
                 "repeated": stats["repeated"], "seconds": round((now["ended_ms"] - now["started_ms"]) / 1000, 1)}
        print(json.dumps(facts))
        if facts["state"] != "completed":
            raise SystemExit(f"the run is {now['state']}: {now['error']}\n{self.command('run', 'partitions', str(run))}")
        if facts["products"] != 2000 or int(rows[1]) != sum(range(2000)) or not killed or not facts["shop_crashed"]:
            raise SystemExit("the import is not what it should be")
        again = self.command("run", "start", str(HERE / "catalogue.yaml"), "--key", "first-import")
        if again["answer"] != "duplicate" or again["run"] != run:
            raise SystemExit("a second start with the same key started something")

    def close(self, failed):
        for child in self.children:
            if child.poll() is None:
                child.terminate()
        for child in self.children:
            try:
                child.wait(timeout=20)
            except subprocess.TimeoutExpired:
                child.kill()
        if self.dialect == "postgres":
            schema = self.environment.pop("PAWL_SCHEMA")
            self.sql(f'SET client_min_messages = error; DROP SCHEMA IF EXISTS "{schema}" CASCADE')
        log = self.directory / "workers.log"
        if failed and log.exists():
            print(log.read_text()[-8000:], file=sys.stderr)


def main():
    pawl, dialect = os.path.abspath(sys.argv[1]), sys.argv[2]
    if dialect == "postgres" and not os.environ.get("PAWL_TEST_PG_URL"):
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="pawl-catalogue-") as name:
        story, failed = Story(pawl, dialect, pathlib.Path(name)), True
        try:
            story.play()
            failed = False
        finally:
            story.close(failed)


if __name__ == "__main__":
    main()
