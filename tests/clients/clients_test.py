#!/usr/bin/env python3
"""The clients for Node and Python: clients/scenario.json on every surface, their types, and the snippets of their READMEs.

Usage: clients_test.py PAWL HELPER ROOT sqlite|postgres [NAME]

A client talks to pawl through a proxy that can lose an answer: the request arrives, and the connection ends before the reply does.
"""
import os
import pathlib
import select
import shutil
import socket
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))

import server_support  # noqa: E402 (found by the line above)
from server_support import ServerTest, Setup  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's python3-psycopg
SECONDS_MAX = 240


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
            self.env["URL"] = f"postgres://{user}@{self.through(host, port)}{url.path}"

    def scenario(self, surface, *command):
        self.surface(surface)
        done = subprocess.run([*command, str(Setup.root / "clients" / "scenario.json"), surface], env=self.env, cwd=self.dir,
                              capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        if os.environ.get("CASE") or done.returncode != 0:
            print(done.stdout.replace("not ok", "# not ok").replace("\nok", "\n# ok").replace("1..", "# 1.."), done.stderr[-4000:])
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("not ok", done.stdout)
        self.assertGreater(done.stdout.count("\nok "), 0 if os.environ.get("CASE") else 20)

    def test_node_http(self):
        self.scenario("http", "node", str(HERE / "runner.mjs"))

    def test_node_sql(self):
        if Setup.dialect == "sqlite":
            return  # there is no SQL surface
        self.scenario("sql", "node", str(HERE / "runner.mjs"))

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
        self.assertEqual(set(said) - {"failure"}, typed)


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
