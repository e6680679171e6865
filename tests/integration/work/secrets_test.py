#!/usr/bin/env python3
"""Secrets stay where they were put: each is a word that is nowhere else, and is then looked for in all that pawl writes, shows and starts.

Usage: secrets_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cli_support  # noqa: E402 (found by the line above)
from cli_support import SECONDS_MAX, Setup  # noqa: E402
from receptor_test import ReceptorTest  # noqa: E402

# What each is the secret of. The signature of a webhook proves that it was read.
CANARIES = {name: f"canary{name}0123456789abcdef" for name in ("hook", "target", "tool", "database", "private")}


class SecretsTest(ReceptorTest):
    """A worker and a server with secrets, at work and failing."""

    def everything_stored(self):
        if Setup.dialect == "sqlite":
            return b"".join(path.read_bytes() for path in self.dir.rglob("*") if path.is_file() and "pawl.db" in str(path))
        return "".join(self.psql(f"SELECT t::text FROM {table} t") for table in self.psql(
            "SELECT c.oid::regclass FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace IN "
            f"('{self.schema}'::regnamespace, '{self.schema}_internal'::regnamespace)").split()).encode()

    def read(self, name):
        path = self.dir / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def psql(self, text):
        done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", Setup.pg_url, "-c", text], capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def answers(self, log):
        """All that the server shows to an operator without an id."""
        address = re.search(rb"event=server_started listen=(\S+)", log.read_bytes())[1].decode()
        token = re.search(r"^operator = (\w+)$", (self.dir / "tokens").read_text(encoding="utf-8"), re.M)[1]
        out, paths = [], ["/v1/openapi.json"]
        for path in paths:
            link = http.client.HTTPConnection(address, timeout=SECONDS_MAX)
            link.request("GET", path, headers={"Authorization": "Bearer " + token})
            answer = link.getresponse()
            out.append(f"{path} {answer.headers}".encode() + answer.read())
            link.close()
            if len(out) == 1:
                document = json.loads(out[0][out[0].index(b'{"openapi"'):])
                paths += [each for each, item in document["paths"].items() if "get" in item and "{" not in each
                          and "text/event-stream" not in str(item) and not any(part.get("name") == "timeout_ms" for part in item["get"]["parameters"])]
        self.assertGreater(len(out), 20)
        return b"\n".join(out)

    def test_no_secret_is_stored_shown_or_passed_on(self):
        """covers: J51"""
        url = self.url
        if Setup.dialect == "postgres":  # trusted connections ignore the password
            url = re.sub(r"^(\w+://[^@/]*)@", rf"\1:{CANARIES['database']}@", url)
            self.assertIn(CANARIES["database"], url)
        endpoint = self.endpoint(lambda n, call: (500, {}))
        look = self.script("env >> environment; tr '\\0' ' ' < /proc/$PPID/cmdline >> parent; echo it failed >&2; exit 1", "look.sh")
        handlers = self.handlers(f"[hook@order.*]\nhttp = {endpoint.url}/in\nsecret-env = HOOK\nallow-private = true\nmax-attempts = 1\n"
                                 f"[look@order.*]\nexec = {look}\nmax-attempts = 1\n")
        targets = self.dir / "targets.ini"
        targets.write_text(f"[ops]\nhttp = {endpoint.url}/alert\nsecret-env = TARGET\nallow-private = true\n", encoding="utf-8")
        tools = self.dir / "tools.json"
        tools.write_text(json.dumps({"tools": {"notify": {"http": endpoint.url + "/tool", "secret": {"env": "TOOL"}, "allow_private": True},
                                               "look": {"exec": str(look)}}}), encoding="utf-8")
        self.ok("alert", "set", "outbox-backlog", "--above", "0", "--for", "0", "--clear", "0", "--targets", "log,ops")
        self.receive()
        self.ok("send", "a")
        both = self.dir / "both.json"
        both.write_text(json.dumps({"steps": [{"id": "a", "uses": "notify"}, {"id": "b", "uses": "look"}]}), encoding="utf-8")
        self.ok("job", "enqueue", "--pipeline", str(both), "--tools", str(tools), "--max-attempts", "1", env={"TOOL": CANARIES["tool"]})
        env = dict(self.env, DATABASE_URL=url, HOOK=CANARIES["hook"], TARGET=CANARIES["target"], TOOL=CANARIES["tool"], MY_PRIVATE=CANARIES["private"])
        log, server_log = self.dir / "worker.log", self.dir / "server.log"
        started = []
        for words, path in ((["worker", "--handlers", handlers, "--tools", str(tools), "--alert-targets", str(targets), "--alert-interval", "200ms",
                              "--kinds", "inbox,jobs", "--poll", "100ms", "--log-level", "debug"], log),
                            (["server", "--listen", "127.0.0.1:0", "--token-file", str(self.dir / "tokens")], server_log)):
            with open(path, "wb") as out:
                started.append(subprocess.Popen([Setup.pawl, *words], env=env, cwd=self.dir, stderr=out, stdout=out))
            self.addCleanup(started[-1].wait, SECONDS_MAX)
            self.addCleanup(started[-1].kill)
        self.wait(lambda: {"/in", "/alert", "/tool"} <= {call["path"] for call in list(endpoint.calls)}, seconds=40, what="the three calls")
        self.wait(lambda: {"PAWL_ID", "PAWL_TOOL"} <= {line.split("=")[0] for line in self.read("environment").splitlines()}, what="both programs")
        self.wait(lambda: self.inbox()["dead"] == 1 and b"server_started" in server_log.read_bytes(), seconds=40, what="the failures")
        seen = {"the answers": self.answers(server_log), "the database": self.everything_stored(),
                "the command lines": b"".join(pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes() for process in started),
                "the logs": log.read_bytes() + server_log.read_bytes(), "a handler's environment": (self.dir / "environment").read_bytes(),
                "what a handler sees of its parent": (self.dir / "parent").read_bytes(),
                "the calls": repr(endpoint.calls).encode(),
                "the doctor": self.run_pawl("doctor", env={"DATABASE_URL": url}).out.encode(),
                "an error": self.run_pawl("status", env={"DATABASE_URL": f"postgres://u:{CANARIES['database']}@127.0.0.1:1/x"}).err.encode()}
        self.assertTrue(all(call["headers"]["webhook-signature"].startswith("v1,") for call in endpoint.calls))
        for place, text in seen.items():
            self.assertGreater(len(text), 20, place)
            for name, canary in CANARIES.items():
                self.assertNotIn(canary.encode(), text, f"the secret of {name} in {place}")


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
