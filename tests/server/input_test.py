"""Untrusted input: wrong, huge, slow and hostile requests, and the event stream.

Usage: input_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import http.client
import json
import os
import pathlib
import random
import socket
import sys
import time
import urllib.parse

import server_support
from server_support import SECONDS_MAX, ServerTest

MEMORY_BYTES_MAX = 64 * 1024 * 1024


def hostile_strings():
    """200 texts that break what does not treat text as text."""
    known = ["<script>alert(1)</script>", "'; DROP TABLE message; --", '"', "\\", "\\\\\"", "${7*7}", "{{7*7}}", "%s%s%n",
             "%00", "../../etc/passwd", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "\u202eevil", "\u2028\u2029",
             "é", "e\u0301", "\U0001f4a9", "\ufeff", "null", "undefined", "NaN", "-0", "1e309", "true", "[]", "{}", "data: x",
             "event: x", ": x", "=cmd|' /C calc'!A0", "&lt;", "&#x3c;", "]]>", "<!--", "*/", "/*", "#", "?", "&a=b", "+", "%2F",
             "%", "%zz", "a b", " a", "a ", "''", '""', "`id`", "$(id)", "|id", ";id", "@x", "\u200b", "\u00a0", "ﬃ", "İ", "ß"]
    draw = random.Random(8)
    alphabet = "<>\"'&%\\/;:{}[]()#?=+-_.,*$@!^~`| aé\u202e\u2028\U0001f600"
    while len(known) < 200:
        known.append("".join(draw.choice(alphabet) for _ in range(draw.randint(1, 40))) + str(len(known)))
    return known


class InputTest(ServerTest):

    def raw(self, data, wait=SECONDS_MAX):
        """Sends bytes as they are; what comes back until the server closes or nothing comes for a while."""
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=wait) as connection:
            connection.sendall(data)
            got = b""
            try:
                while True:
                    part = connection.recv(65536)
                    if not part:
                        return got
                    got += part
            except socket.timeout:
                return got

    def memory(self, process):
        for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    def sanitized(self, process):
        return "libasan" in pathlib.Path(f"/proc/{process.pid}/maps").read_text()

    def test_wrong_requests_get_a_sentence_that_helps(self):
        self.start_server()
        self.problem(404, "no such route", "GET", "/v1/nothing")
        self.problem(404, "no such route", "GET", "/v2/messages")
        refused = self.problem(405, "Allow", "DELETE", "/v1/messages")
        self.assertEqual(refused.headers["Allow"], "GET, HEAD, POST")
        self.problem(401, "token", "GET", "/v1/messages", role=None, headers={"Authorization": "Bearer x"})
        self.problem(401, "token", "GET", "/v1/messages", role=None, headers={"Authorization": "Basic eDp5"})
        self.problem(400, "parameters are", "GET", "/v1/messages?colour=red")
        self.problem(400, "given twice", "GET", "/v1/messages?limit=1&limit=2")
        self.problem(400, "from 1 to 500", "GET", "/v1/messages?limit=501")
        self.problem(400, "whole number", "GET", "/v1/messages?limit=x")
        self.problem(400, "one of", "GET", "/v1/messages?state=asleep")
        self.problem(400, "two hex digits", "GET", "/v1/messages?stream=%zz")
        self.problem(400, "UTF-8", "GET", "/v1/messages?stream=%ff")
        self.problem(400, "UUID", "GET", "/v1/messages/12")
        self.problem(404, "no message", "GET", "/v1/messages/" + server_support.cli_support.ABSENT)
        self.problem(400, "line 1", "POST", "/v1/pauses", "{", headers={"Content-Type": "application/json"})
        self.problem(400, "must be a JSON object", "POST", "/v1/pauses", [1])
        self.problem(400, "no field", "POST", "/v1/pauses", {"scope": "topic", "name": "t", "colour": 1})
        self.problem(400, "name is missing", "POST", "/v1/pauses", {"scope": "topic"})
        self.problem(400, "must be text", "POST", "/v1/pauses", {"scope": "topic", "name": 7})
        self.problem(415, "application/json", "POST", "/v1/pauses", "a=b",
                     headers={"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(self.get("/v1/messages?type=nothing.like.it"), {"items": [], "next": None, "more": False})

    def test_cursors_are_only_good_for_their_list(self):
        self.start_server()
        self.post("/v1/messages", {"messages": [{"type": "a", "stream": f"s{i}"} for i in range(5)]})
        page = self.get("/v1/messages?limit=2&kind=outbox")
        seen = [row["seq"] for row in page["items"]]
        while page["next"]:
            page = self.get(f"/v1/messages?limit=2&kind=outbox&cursor={page['next']}")
            seen += [row["seq"] for row in page["items"]]
        self.assertEqual(len(seen), 5)
        self.assertEqual(seen, sorted(set(seen)))
        cursor = self.get("/v1/messages?limit=2&kind=outbox")["next"]
        for wrong in (cursor[:-1] + "9", "zz", "0" * 40, cursor + "00", urllib.parse.quote("' OR 1=1")):
            self.problem(400, "cursor", "GET", f"/v1/messages?limit=2&kind=outbox&cursor={wrong}")
        self.problem(400, "cursor", "GET", f"/v1/messages?limit=2&cursor={cursor}")
        self.problem(400, "cursor", "GET", f"/v1/jobs?limit=2&cursor={cursor}")

    def test_ids_may_be_shortened_until_they_are_ambiguous(self):
        self.start_server()
        ids = ["aaaaaaaa-1111-4000-8000-000000000001", "aaaaaaaa-1111-4000-8000-000000000002",
               "bbbbbbbb-1111-4000-8000-000000000003"]
        self.post("/v1/messages", {"messages": [{"type": "a", "id": one} for one in ids]})
        self.assertEqual(self.get("/v1/messages/bbbbbbbb")["id"], ids[2])
        self.assertEqual(self.get("/v1/messages/aaaaaaaa-1111-4000-8000-000000000002")["id"], ids[1])
        self.problem(409, "more than one id begins with", "GET", "/v1/messages/aaaaaaaa-1111")
        self.problem(404, "begins with", "GET", "/v1/messages/cccccccc")
        self.problem(400, "UUID", "GET", "/v1/messages/aaaaaaa")

    def test_too_much_is_refused(self):
        process = self.start_server()
        host = f"Host: {self.address}\r\nAuthorization: Bearer {self.tokens['operator']}\r\n".encode()
        big = b"POST /v1/messages HTTP/1.1\r\n" + host + b"Content-Length: 2000000\r\n\r\n"
        self.assertIn(b" 413 ", self.raw(big + b"x" * 1000, 5).split(b"\r\n")[0])
        chunked = b"POST /v1/messages HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n"
        chunked += (b"10000\r\n" + b" " * 65536 + b"\r\n") * 20 + b"0\r\n\r\n"
        self.assertIn(b" 413 ", self.raw(chunked, 5).split(b"\r\n")[0])
        headers = b"GET /healthz HTTP/1.1\r\n" + host + b"X-Long: " + b"a" * 100000 + b"\r\n\r\n"
        try:
            self.assertNotIn(b" 200 ", self.raw(headers, 5).split(b"\r\n")[0])
        except ConnectionError:
            pass  # the server may close before it has read everything
        for junk in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET /healthz\r\n\r\n", b"\r\n" * 100, b"GET / HTTP/9.9\r\n\r\n"):
            self.raw(junk, 1)
        self.assertEqual(self.request("GET", "/healthz", role=None).status, 200)
        deep = "[" * 100000 + "]" * 100000
        self.problem(400, "deep", "POST", "/v1/messages", f'{{"messages":{deep}}}',
                     headers={"Content-Type": "application/json"})
        if not self.sanitized(process):
            self.assertLess(self.memory(process), MEMORY_BYTES_MAX)

    def test_slow_clients_and_those_who_leave_hold_up_nobody(self):
        self.start_server()
        host, port = self.address.rsplit(":", 1)
        slow = [socket.create_connection((host, int(port)), timeout=SECONDS_MAX) for _ in range(20)]
        self.addCleanup(lambda: [one.close() for one in slow])
        for one in slow:
            one.sendall(b"GET /v1/status HTTP/1.1\r\n")
        began = time.monotonic()
        closed_after = None
        while time.monotonic() - began < 20 and closed_after is None:
            time.sleep(0.5)
            self.assertEqual(self.request("GET", "/readyz", role=None).status, 200)
            try:
                slow[0].sendall(b"X: y\r\n")
                slow[0].setblocking(False)
                if slow[0].recv(10) == b"":
                    closed_after = time.monotonic() - began
            except BlockingIOError:
                slow[0].setblocking(True)
            except OSError:
                closed_after = time.monotonic() - began
        self.assertIsNotNone(closed_after, "a client that sends a byte now and then is kept for ever")
        self.assertLess(closed_after, 15)
        for _ in range(50):  # those who ask and do not wait for the answer
            with socket.create_connection((host, int(port)), timeout=SECONDS_MAX) as one:
                one.sendall(f"GET /v1/partitions HTTP/1.1\r\nHost: {self.address}\r\nAuthorization: Bearer "
                            f"{self.tokens['viewer']}\r\n\r\n".encode())
        self.assertEqual(self.request("GET", "/readyz", role=None).status, 200)

    def test_hostile_strings_are_only_text(self):
        self.start_server()
        texts = hostile_strings()
        self.assertEqual(len(texts), 200)
        for start in range(0, len(texts), 50):
            part = texts[start:start + 50]
            body = {"messages": [{"type": "hostile", "stream": f"h{start + i}", "payload": {text: [text]}, "headers": {text: text}}
                                 for i, text in enumerate(part)]}
            self.post("/v1/messages", body)
        rows, page = [], {"next": ""}
        while page["next"] is not None:
            answer = self.request("GET", "/v1/messages?limit=100" + (f"&cursor={page['next']}" if page["next"] else ""))
            self.assertEqual(answer.headers["Content-Type"], "application/json")
            self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
            page = answer.json()
            rows += page["items"]
        by_stream = {row["stream"]: row for row in rows}
        for i, text in enumerate(texts):
            row = by_stream[f"h{i}"]
            self.assertEqual(row["payload"], {text: [text]})
            self.assertEqual(row["headers"], {text: text})
            name = urllib.parse.quote(text, safe="")
            answer = self.request("GET", f"/v1/streams/{name}")
            self.assertIn(answer.status, (200, 400), answer)
            if answer.status == 200:
                self.assertEqual(answer.json()["stream"], text)
            for wrong in (f"/v1/tasks/{name}", f"/v1/schedules/{name}"):
                answer = self.request("GET", wrong)
                self.assertIn(answer.status, (400, 404), answer)
                self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
                answer.json()
        self.assertEqual(self.run_pawl("check").code, 0)

    def secrets(self):
        """Something of everything that carries a payload or an error; the values that fill paths."""
        self.post("/v1/messages", {"messages": [{"type": "a", "stream": "s", "payload": {"a": "SECRET"}, "headers": {"h": "SECRET"}}]})
        self.post("/v1/jobs", {"type": "j", "payload": {"a": "SECRET"}})
        self.post("/v1/streams/s/events", {"events": [{"type": "e", "payload": {"a": "SECRET"}, "metadata": {"m": "SECRET"}}]})
        worker = self.post("/v1/leases", {"service": "w", "kinds": ["jobs", "outbox"]}, role="worker")["id"]
        for kind in ("jobs", "outbox"):
            for item in self.post(f"/v1/leases/{worker}/claim", {"kind": kind, "max": 10}, role="worker")["items"]:
                report = {"id": item["id"], "token": item["token"], "error": "SECRET", "permanent": True}
                self.post(f"/v1/leases/{worker}/fail", {"kind": kind, "items": [report]}, role="worker")
        return {"/v1/messages/{id}": self.get("/v1/messages")["items"][0]["id"], "/v1/jobs/{id}": self.get("/v1/jobs")["items"][0]["id"],
                "/v1/streams/{name}": "s"}

    def test_a_viewer_sees_nothing_of_what_work_carries(self):
        self.start_server("--lease-api")
        paths, seen = self.secrets(), set()
        for path, methods in self.get("/v1/openapi.json")["paths"].items():
            begin = path[:path.find("}") + 1]
            whole = path.replace(path[path.find("{"):path.find("}") + 1], str(paths[begin])) if begin in paths else path
            if "get" not in methods or "{" in whole or path == "/v1/stream":
                continue
            self.assertNotIn(b"SECRET", self.request("GET", whole, role="viewer").body, path)
            if b"SECRET" in self.request("GET", whole).body:
                seen.add(path)
        self.assertLessEqual({"/v1/messages", "/v1/messages/{id}", "/v1/messages/failures", "/v1/jobs", "/v1/jobs/{id}", "/v1/jobs/failures",
                              "/v1/events"}, seen)
        for word in (paths["/v1/messages/{id}"], paths["/v1/jobs/{id}"]):
            self.assertNotIn(b"SECRET", self.request("GET", f"/v1/why?id={word}", role="viewer").body)
            self.assertIn(b"SECRET", self.request("GET", f"/v1/why?id={word}").body)
        self.assertTrue(self.get("/v1/session", role="viewer")["redacted"])
        if server_support.Setup.dialect == "postgres":  # on PostgreSQL the command line of the view role agrees
            self.command_line_agrees(paths)

    def command_line_agrees(self, paths):
        looks = f"{self.schema}_looks"
        self.sql(f"CREATE ROLE {looks} IN ROLE {self.schema}_view, {self.schema}_program")
        self.addCleanup(self.sql, f"DROP ROLE {looks}")
        role = {"PGOPTIONS": f"-c role={looks}"}
        for words in (["message", "list"], ["message", "show", paths["/v1/messages/{id}"]], ["why", paths["/v1/messages/{id}"]],
                      ["message", "list", "--state", "dead"], ["message", "failures"], ["job", "list"], ["job", "show", str(paths["/v1/jobs/{id}"])],
                      ["why", str(paths["/v1/jobs/{id}"])], ["run", "list"], ["schedule", "list"],
                      ["task", "list"], ["perspective", "list"], ["perspective", "errors"], ["alert", "list"], ["status"]):
            seen = self.run_pawl(*words, "-o", "json", env=role)
            self.assertEqual(seen.code, 0, seen)
            self.assertNotIn("SECRET", seen.out, words)
        rows = [json.loads(line) for line in self.run_pawl("message", "list", "-o", "ndjson", env=role).out.splitlines()]
        for mine, shown in zip(rows, self.get("/v1/messages", role="viewer")["items"], strict=True):
            self.assertEqual({key: value for key, value in mine.items() if key in shown}, shown)

    def test_redaction_of_everything_shows_an_operator_what_a_viewer_sees(self):
        self.start_server("--lease-api", "--redact", "*")
        message = self.secrets()["/v1/messages/{id}"]
        for path in ("/v1/messages", f"/v1/messages/{message}/why", "/v1/messages/failures", "/v1/jobs", "/v1/events"):
            self.assertNotIn(b"SECRET", self.request("GET", path).body, path)

    def test_redaction_hides_what_it_names_at_any_depth(self):
        self.start_server("--redact", "password, Card")
        payload = {"a": [{"PASSWORD": "p1"}], "card": {"number": "p2"}, "b": "kept"}
        self.post("/v1/messages", {"messages": [{"type": "a", "payload": payload}]})
        answer = self.request("GET", "/v1/messages")
        self.assertEqual(answer.json()["items"][0]["payload"], {"a": [{"PASSWORD": "***"}], "card": "***", "b": "kept"})
        self.assertNotIn(b"p1", answer.body)
        self.assertNotIn(b"p2", self.request("GET", "/v1/actions").body)

    def test_the_same_key_does_nothing_twice(self):
        process = self.start_server()
        body = {"messages": [{"type": "once"}]}
        key = {"Idempotency-Key": "k-1"}
        first = self.request("POST", "/v1/messages", body, headers=key)
        again = self.request("POST", "/v1/messages", body, headers=key)
        self.assertEqual((first.status, first.body), (again.status, again.body))
        self.assertEqual(again.headers["Idempotent-Replayed"], "true")
        self.problem(422, "another request", "POST", "/v1/messages", {"messages": [{"type": "twice"}]}, headers=key)
        self.problem(400, "1 to 200", "POST", "/v1/messages", body, headers={"Idempotency-Key": "x" * 201})
        self.stop_server(process)
        self.start_server(migrate=False)  # the store remembers what the server forgot
        self.post("/v1/messages", body, headers=key)
        self.assertEqual(len(self.get("/v1/messages?type=once")["items"]), 1)
        jobs = [self.post("/v1/jobs", {"type": "j"}, headers={"Idempotency-Key": "j-1"}) for _ in range(2)]
        self.assertEqual(jobs[0], jobs[1])
        for _ in range(2):
            self.post("/v1/streams/e/events", {"events": [{"type": "e"}]}, headers={"Idempotency-Key": "e-1"})
        self.assertEqual(len(self.get("/v1/events?stream=e")["items"]), 1)
        # By the ids of its events: the versions of the first call; with other content: refused.
        named = {"id": self.get("/v1/events?stream=e")["items"][0]["id"], "type": "e"}
        self.post("/v1/streams/e/events", {"events": [{"type": "f"}]})
        again = self.post("/v1/streams/e/events", {"events": [named]})
        self.assertEqual((again["answer"], again["first_version"], again["version"]), ("duplicate", 1, 1))
        self.problem(409, "an id of the call is known", "POST", "/v1/streams/e/events", {"events": [{**named, "type": "g"}]})

    def open_stream(self, last=None):
        connection = http.client.HTTPConnection(self.address, timeout=SECONDS_MAX)
        self.addCleanup(connection.close)
        headers = {"Authorization": "Bearer " + self.tokens["viewer"]}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        connection.request("GET", "/v1/stream", headers=headers)
        response = connection.getresponse()
        return response

    def next_event(self, response):
        event = {}
        while True:
            line = response.readline().decode().rstrip("\n")
            if line == "" and "data" in event:
                return event
            if ": " in line and not line.startswith(":"):
                name, value = line.split(": ", 1)
                event[name] = value

    # covers: J39
    def test_the_stream_tells_what_changes_and_goes_on_after_a_break(self):
        process = self.start_server()
        response = self.open_stream()
        self.assertEqual(response.status, 200)
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        first = self.next_event(response)
        self.assertEqual(first["event"], "overview")
        self.post("/v1/messages", {"messages": [{"type": "a"}, {"type": "b"}]})
        changed = set()
        for _ in range(10):
            event = self.next_event(response)
            data = json.loads(event["data"])
            changed |= set(data["changes"])
            if data["kinds"][0]["ready"] == 2:
                break
        self.assertEqual(data["kinds"][0]["ready"], 2)
        self.assertIn("messages", changed)
        later = self.open_stream(last=int(first["id"]))
        self.assertEqual(int(self.next_event(later)["id"]), int(first["id"]) + 1)
        series = self.get("/v1/overview")["series"]
        for name in ("ready", "handle_p95_ms", "wait_p95_ms"):
            self.assertEqual(len(series["at_ms"]), len(series[name]))
        many = [self.open_stream() for _ in range(62)]
        self.assertTrue(all(one.status == 200 for one in many))
        self.assertEqual(self.open_stream().status, 503)
        self.stop_server(process)  # with everybody listening
        self.assertEqual(response.read().count(b"\x00"), 0)

    def test_tls_needs_no_proxy(self):
        import ssl
        import subprocess
        cert, key = self.dir / "cert.pem", self.dir / "key.pem"
        done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                               "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out",
                               str(cert)], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.start_server("--tls-cert", str(cert), "--tls-key", str(key))
        context = ssl.create_default_context(cafile=str(cert))
        connection = http.client.HTTPSConnection(self.address, timeout=SECONDS_MAX, context=context)
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        self.assertEqual((response.status, response.read()), (200, b"ok\n"))
        self.assertIn("max-age", response.headers["Strict-Transport-Security"])
        connection.close()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(server_support.main(sys.modules[__name__]))
