"""Support for tests of the HTTP server: starting one, and requests to it."""
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import cli_support  # noqa: E402 (found by the line above)
from cli_support import CliTest, Setup  # noqa: E402

SECONDS_MAX = 20


class Answer:
    """One answer of the server."""

    def __init__(self, request, response):
        self.request = request
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    def __str__(self):
        return f"{self.request}\n{self.status}\n{self.headers}\n{self.body[:4000].decode(errors='replace')}"


class ServerTest(CliTest):
    """Each test has a database of its own and can start servers on it."""

    def setUp(self):
        super().setUp()
        self.env["XDG_STATE_HOME"] = str(self.dir / "state")
        self.env.pop("STATE_DIRECTORY", None)
        self.tokens = {}
        self.address = None

    def start_server(self, *args, migrate=True, env=None):
        """Starts a server on a free port; its process. Ends with the test."""
        if migrate:
            self.migrate()
        log = open(self.dir / "server.log", "wb")
        self.addCleanup(log.close)
        process = subprocess.Popen([Setup.pawl, "server", "--listen", "127.0.0.1:0", *args], stderr=log,
                                   env={**self.env, **(env or {})}, cwd=self.dir)
        self.addCleanup(self.stop_server, process)
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            match = re.search(r"event=server_started listen=(\S+)", self.server_log())
            if match:
                break
            self.assertIsNone(process.poll(), self.server_log())
            time.sleep(0.02)
        else:
            self.fail("the server did not start: " + self.server_log())
        self.address = match.group(1)
        text = (self.dir / "state" / "pawl" / "http-tokens").read_text(encoding="utf-8")
        self.tokens = dict(re.findall(r"^(\w+) = (\w+)$", text, re.M))
        return process

    def server_log(self):
        return (self.dir / "server.log").read_text(encoding="utf-8", errors="replace")

    def stop_server(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        code = process.wait(SECONDS_MAX)
        self.assertEqual(code, 0, self.server_log())

    def request(self, method, path, body=None, role="operator", headers=None):
        """One request; role None shows no token. A header of None is left out."""
        sent = {"Host": self.address}
        if role:
            sent["Authorization"] = "Bearer " + self.tokens[role]
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        connection = http.client.HTTPConnection(self.address, timeout=SECONDS_MAX)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            data = body.encode() if isinstance(body, str) else body
            if data is not None and "Content-Length" not in sent:
                sent["Content-Length"] = str(len(data))
            elif data is None and method in ("POST", "PUT", "DELETE"):
                sent["Content-Length"] = "0"
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(data)
            return Answer(f"{method} {path}", connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **kwargs):
        """A GET that must succeed; its JSON."""
        answer = self.request("GET", path, **kwargs)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def post(self, path, body=None, status=200, **kwargs):
        answer = self.request("POST", path, body, **kwargs)
        self.assertEqual(answer.status, status, answer)
        return answer.json() if answer.body else None

    def problem(self, status, fragment, method, path, body=None, **kwargs):
        """A request that must be refused with this status and say this."""
        answer = self.request(method, path, body, **kwargs)
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json", answer)
        problem = answer.json()
        self.assertEqual(problem["status"], status, answer)
        self.assertIn(fragment, problem["detail"], answer)
        return answer


def main(module):
    return cli_support.main(module)
