#!/usr/bin/env python3
"""The clients for Node and Python: clients/scenario.json on every surface, their types, and the snippets of their READMEs.

Usage: clients_test.py PAWL HELPER ROOT sqlite|postgres [NAME]

A client talks to pawl through a proxy that can lose an answer: the request arrives, and the connection ends before the reply does.
"""
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))

import server_support  # noqa: E402 (found by the line above)
from server_support import ServerTest, Setup  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's python3-psycopg
SECONDS_MAX = 240


def only(dialect):
    """A test of one store: SQL is a surface of PostgreSQL alone."""
    def mark(test):
        test.only = dialect
        return test
    return mark


class Proxy:
    """Passes bytes on to a server; after a connection to its second port it swallows the next reply and ends that connection."""

    def __init__(self, target):
        self.target, self.cut = target, threading.Event()
        self.front, self.control = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
        self.port, self.cut_port = (one.getsockname()[1] for one in (self.front, self.control))
        self.host, self.target_host = (f"127.0.0.1:{port}".encode() for port in (self.port, target[1]))
        for listener, serve in ((self.front, self.forward), (self.control, self.hear)):
            threading.Thread(target=self.accept, args=(listener, serve), daemon=True).start()

    @staticmethod
    def accept(listener, serve):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    def hear(self, client):
        self.cut.set()
        client.close()

    def forward(self, client):
        with client, socket.create_connection(self.target) as server:
            asked = False  # something was sent on this connection since the cut was wanted
            while True:
                for one in select.select([client, server], [], [])[0]:
                    try:
                        data = one.recv(65536)
                    except OSError:
                        return
                    if not data:
                        return
                    if one is client:
                        asked = self.cut.is_set()
                        data = data.replace(self.host, self.target_host)  # the server answers to its own name only
                    elif asked and self.cut.is_set():
                        self.cut.clear()
                        return
                    (server if one is client else client).sendall(data)

    def close(self):
        for one in (self.front, self.control):
            one.shutdown(socket.SHUT_RDWR)
            one.close()


class ClientsTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.wanted(HERE / "node_modules" / "pg", "tools/npm-ci tests/clients")

    def wanted(self, path, how):
        if not path.exists():
            self.skipTest(f"{path.name} is missing; run {how}")

    def python(self):
        done = subprocess.run([PYTHON, "-c", "import psycopg"], capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest("python3-psycopg is missing; run apt-get install python3-psycopg")
        return PYTHON

    def through(self, host, port):
        proxy = Proxy((host, port))
        self.addCleanup(proxy.close)
        self.env["CUT"] = str(proxy.cut_port)
        return f"127.0.0.1:{proxy.port}"

    def surface(self, name):
        """The environment of a runner: where it finds pawl."""
        self.env.update(PAWL=Setup.pawl, SCHEMA=self.schema, PYTHONPATH=str(Setup.root / "clients" / "python"), PYTHONDONTWRITEBYTECODE="1")
        with socket.create_server(("127.0.0.1", 0)) as closed:
            self.env["CLOSED"] = str(closed.getsockname()[1])
        if name == "http":
            self.start_server("--lease-api")
            self.env.update(URL="http://" + self.address, TOKEN=self.tokens["operator"], TOKEN_WORKER=self.tokens["worker"])
            host, port = self.address.rsplit(":", 1)
            self.env["URL"] = "http://" + self.through(host, int(port))
        else:
            self.migrate()
            url = urllib.parse.urlsplit(self.url)
            where = urllib.parse.parse_qs(url.query)
            host, port = where.get("host", [url.hostname])[0], int(where.get("port", [url.port])[0])
            user = url.username or where.get("user", [os.environ.get("USER", "postgres")])[0]
            self.env["URL"] = f"postgres://{user}@{self.through(host, port)}{url.path}?application_name={self.schema}"

    def scenario(self, surface, *command):
        self.surface(surface)
        done = subprocess.run([*command, str(Setup.root / "clients" / "scenario.json"), surface], env=self.env, cwd=self.dir,
                              capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        if os.environ.get("CASE") or done.returncode != 0:
            print(done.stdout.replace("not ok", "# not ok").replace("\nok", "\n# ok").replace("1..", "# 1.."), done.stderr[-4000:])
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("not ok", done.stdout)
        self.assertGreater(done.stdout.count("\nok "), 0 if os.environ.get("CASE") else 20)


class ScenarioTest(ClientsTest):
    def test_node_http(self):
        self.scenario("http", "node", str(HERE / "runner.mjs"))

    @only("postgres")
    def test_node_sql(self):
        self.scenario("sql", "node", str(HERE / "runner.mjs"))

    def test_python_http_sync(self):
        self.scenario("http", self.python(), str(HERE / "runner.py"), "sync")

    def test_python_http_async(self):
        self.scenario("http", self.python(), str(HERE / "runner.py"), "async")

    @only("postgres")
    def test_python_sql_sync(self):
        self.scenario("sql", self.python(), str(HERE / "runner.py"), "sync")

    @only("postgres")
    def test_python_sql_async(self):
        self.scenario("sql", self.python(), str(HERE / "runner.py"), "async")

    def test_types_of_python(self):
        """mypy --strict finds nothing in the package and in a program that uses it."""
        self.wanted(pathlib.Path("/usr/bin/mypy"), "apt-get install mypy")
        self.python()
        done = subprocess.run(["/usr/bin/mypy", "--strict", "--cache-dir", str(self.dir), "pawl", str(Setup.root / "examples" / "python" / "worker.py")],
                              cwd=Setup.root / "clients" / "python", capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_types_of_node(self):
        """index.d.ts says what index.js exports, and a program in TypeScript is checked against it."""
        tsc = HERE / "node_modules" / "typescript" / "bin" / "tsc"
        shutil.copy(HERE / "types.mts", self.dir)
        (self.dir / "node_modules" / "@pawl").mkdir(parents=True)
        (self.dir / "node_modules" / "@pawl" / "client").symlink_to(Setup.root / "clients" / "node")
        (self.dir / "node_modules" / "@types").symlink_to(HERE / "node_modules" / "@types")
        done = subprocess.run(["node", str(tsc), "--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "types.mts"],
                              cwd=self.dir, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        said = subprocess.run(["node", "-e", "import('@pawl/client').then((all) => console.log(Object.keys(all).sort().join(' ')))"],
                              cwd=self.dir, capture_output=True, text=True, timeout=SECONDS_MAX, check=True).stdout.split()
        text = (Setup.root / "clients" / "node" / "index.d.ts").read_text(encoding="utf-8")
        typed = {line.split()[2] for line in text.splitlines() if line.startswith("export class ")}
        self.assertEqual(set(said), typed)


class Running:
    """A program that runs until it is told to stop."""

    def __init__(self, test, command, cwd):
        self.test = test
        self.process = subprocess.Popen(command, cwd=cwd, env=test.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        test.addCleanup(self.end)

    def until(self, text):
        """Reads its output to the line that has this text."""
        said = ""
        for line in self.process.stdout:
            said += line
            if text in line:
                return
        self.test.fail(f"it ended without saying {text!r}: {said}")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def terminate(self):
        """It drains and ends well."""
        self.process.send_signal(signal.SIGTERM)
        self.test.assertEqual(self.process.wait(SECONDS_MAX), 0, self.process.stdout.read())


class SnippetsTest(ClientsTest):
    """The READMEs of the project, the clients and the examples, each as it is written, with a database of its own."""

    def setUp(self):
        super().setUp()
        if Setup.dialect == "postgres":
            name = "snippets_" + uuid.uuid4().hex[:12]
            self.psql(f"CREATE DATABASE {name}")
            self.addCleanup(self.psql, f"DROP DATABASE {name} WITH (FORCE)", self.url)
            self.url = urllib.parse.urlunsplit(urllib.parse.urlsplit(self.url)._replace(path="/" + name))
            self.env["DATABASE_URL"] = self.url
        self.start_server("--lease-api")
        self.env.update(SERVER_URL="http://" + self.address, TOKEN=self.tokens["operator"], TOKEN_WORKER=self.tokens["worker"],
                        PYTHONPATH=str(Setup.root / "clients" / "python"), PYTHONDONTWRITEBYTECODE="1")

    def drop_schema(self):
        pass  # its database goes

    def psql(self, text, url=None, **more):
        return subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", url or self.url, "-f", "-"], input=text, capture_output=True, text=True,
                              check=True, timeout=SECONDS_MAX, **more).stdout

    def until(self, condition):
        deadline = time.monotonic() + SECONDS_MAX
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def run_ok(self, *command, code=0):
        done = subprocess.run(command, cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def node_modules(self):
        """The package as npm installs it: a copy of what package.json says belongs to it."""
        self.run_ok("npm", "install", "--offline", "--install-links", "--no-audit", "--no-fund", "--prefix", str(self.dir), str(Setup.root / "clients" / "node"))
        (self.dir / "node_modules" / "pg").symlink_to(HERE / "node_modules" / "pg")

    def readme(self, client, language, suffix, command):
        text = (Setup.root / "clients" / client / "README.md").read_text(encoding="utf-8")
        names = re.findall(rf"^```{language} (\w+)\n(.*?)^```$", text, re.M | re.S)
        self.assertEqual(len(names), text.count("```") // 2, "every snippet has a name")
        for name, body in names:
            (self.dir / f"{name}.{suffix}").write_text(body, encoding="utf-8")
        files = {name: [command, f"{name}.{suffix}"] for name, _ in names}
        if Setup.dialect == "postgres":
            self.run_ok(*files.pop("producer"))
            worker = Running(self, files.pop("worker"), self.dir)
            worker.until("order.placed 5")
            worker.terminate()
        else:
            del files["producer"], files["worker"]
        self.run_ok(*files.pop("http"))
        said = self.run_pawl("worker", "--on", f"order.*=pipe:{' '.join(files.pop('pipe'))}", "--until-idle")
        self.assertEqual(said.code, 0, said)
        self.assertIn("order.placed of order-1", said.err)
        self.assertRegex(self.run_ok(*files.pop("jobs")), "pages.*3")
        self.assertEqual(files, {})

    def test_readme_of_node(self):
        self.node_modules()
        self.readme("node", "js", "mjs", "node")

    def test_readme_of_python(self):
        (self.dir / "pawl").symlink_to(Setup.root / "clients" / "python" / "pawl")  # a worker passes no PYTHONPATH on
        self.readme("python", "python", "py", self.python())

    @only("postgres")
    def test_readme_of_the_project(self):
        self.node_modules()
        self.psql("CREATE TABLE orders (id bigint PRIMARY KEY)")
        text = (Setup.root / "README.md").read_text(encoding="utf-8")
        for name, command in (("first.mjs", "node"), ("first.py", self.python())):
            body = re.search(rf"^<!-- example: file {name} -->\n```\w+\n(.*?)^```$", text, re.M | re.S).group(1)
            (self.dir / name).write_text(body, encoding="utf-8")
            self.run_ok(command, name)
        self.assertEqual(self.psql("SELECT count(*) FROM orders"), "2\n")
        self.assertEqual([row["type"] for row in self.ok("message", "list")], ["order.created"] * 2)

    def pipe(self, *command):
        """Every verdict of a handler that pawl worker keeps running."""
        shutil.copy(HERE / command[-1], self.dir)
        command = " ".join(command)
        (self.dir / "seen.json").write_text(json.dumps({"name": "seen", "version": 1, "on": ["pipe.*"], "pipe": command}))
        self.ok("perspective", "set", "seen.json")
        for kind in ("bad", "late"):
            self.ok("send", f"pipe.{kind}", "{}")
        self.ok("event", "append", "s-1", "pipe.event", "{}")
        jobs = [self.ok("job", "enqueue", kind)["id"] for kind in ("pipe.job", "pipe.hang")]
        worker = Running(self, [Setup.pawl, "worker", "--kinds", "outbox,perspectives,jobs", "--perspectives-outside", "--on", f"pipe.*=pipe:{command}"],
                         self.dir)
        self.assertEqual(self.ok("job", "wait", str(jobs[0]))["output"], {"page": 3, "aborted": False})
        self.until(lambda: self.ok("job", "show", str(jobs[1]))["state"] == "running")
        self.ok("job", "cancel", str(jobs[1]))
        self.assertEqual(json.loads(self.run_pawl("job", "wait", str(jobs[1])).out)["state"], "cancelled")
        self.until(lambda: [row["state"] for row in self.ok("message", "list")] == ["dead"])
        self.assertEqual(self.ok("message", "list", "--state", "dead")[0]["error"], "no such account")
        self.ok("perspective", "wait", "seen", "--stream", "s-1", "--at-version", "1")
        worker.process.send_signal(signal.SIGTERM)
        said = worker.process.stdout.read()
        self.assertIn("late at attempt 1", said)
        self.assertIn("seen pipe.event s-1:1", said)

    def test_pipe_of_node(self):
        self.node_modules()
        self.pipe("node", "pipe.mjs")

    def test_pipe_of_python(self):
        (self.dir / "pawl").symlink_to(Setup.root / "clients" / "python" / "pawl")
        self.pipe(self.python(), "pipe.py")

    @only("postgres")
    def test_example_node(self):
        self.node_modules()
        for name in ("producer.mjs", "worker.mjs"):
            shutil.copy(Setup.root / "examples" / "node" / name, self.dir)
        self.run_ok("node", "producer.mjs", "order-1", "5")
        self.run_ok("node", "producer.mjs", "order-1", "5", code=1)
        self.run_ok("node", "producer.mjs", "order-2", "0")
        worker = Running(self, ["node", "worker.mjs"], self.dir)
        worker.until("order-1 is billed")
        self.until(lambda: [row["reason"] for row in self.ok("message", "list", "--state", "dead")] == ["permanent"])
        worker.terminate()
        self.assertEqual(self.psql("SELECT * FROM bills"), "order-1|5\n")
        self.assertEqual(len(self.ok("message", "list")), 1)

    def test_example_python(self):
        worker = Running(self, [self.python(), str(Setup.root / "examples" / "python" / "worker.py")], self.dir)
        self.ok("send", "report.wanted", '{"pages": 3}')
        worker.until("report 1 is on its way")
        self.assertEqual(self.ok("job", "wait", "1")["output"], {"pages": 3})
        worker.terminate()

    @only("postgres")
    def test_example_sql_only(self):
        text = (Setup.root / "examples" / "sql-only" / "orders.sql").read_text(encoding="utf-8")
        said = self.psql(re.sub(r"\bpawl(?=\.)", self.schema, text))
        self.assertIn("order-1 is billed: 5", said)
        self.assertIn('succeeded|{"pages": 3}', said)


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
