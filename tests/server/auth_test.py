"""Access control: every route, method, credential, host and origin, computed from the table of routes.

Usage: auth_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import itertools
import json
import os
import re
import socket
import sys
import uuid

import server_support
from server_support import SECONDS_MAX, ServerTest

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
CREDENTIALS = ("none", "bad", "viewer", "operator", "worker", "viewer cookie", "operator cookie",
               "operator cookie with header", "forged cookie")
HOSTS = ("own", "localhost", "foreign", "none")
ORIGINS = ("none", "own", "foreign", "null")
SHORT_CREDENTIALS = ("none", "viewer", "operator", "worker", "operator cookie")
FULL = os.environ.get("PAWL_TEST_FULL") == "1"
SITES = ("none", "same-origin", "same-site", "cross-site")


class Wire:
    """One connection that is kept while the server keeps it."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.place = (host, int(port))
        self.socket = None

    def send(self, text):
        """The status, the headers as one text, and whether the connection stays."""
        for again in (True, False):
            if self.socket is None:
                self.socket = socket.create_connection(self.place, timeout=SECONDS_MAX)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                self.socket.sendall(text)
                return self.read(text.startswith(b"HEAD"))
            except (ConnectionError, EOFError):
                self.close()
                if not again:
                    raise
        raise AssertionError("not reached")

    def read(self, head):
        data = b""
        while b"\r\n\r\n" not in data:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError
            data += part
        headers, body = data.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?i)content-length: (\d+)", headers)
        if length is None or b"text/event-stream" in headers:
            self.close()
        else:
            while not head and len(body) < int(length.group(1)):
                part = self.socket.recv(65536)
                if not part:
                    raise EOFError
                body += part
            if b"onnection: close" in headers:
                self.close()
        return int(headers.split(b" ", 2)[1]), headers

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None


class AuthTest(ServerTest):

    def prepare(self):
        self.start_server("--lease-api")
        self.document = self.get("/v1/openapi.json")
        self.cookies = {}
        for role in ("viewer", "operator"):
            made = self.request("POST", "/v1/session", role=role)
            self.assertEqual(made.status, 200, made)
            text = made.headers["Set-Cookie"]
            for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
                self.assertIn(part, text)
            self.cookies[role] = text.split(";")[0]
        self.wire = Wire(self.address)
        self.addCleanup(self.wire.close)

    def headers(self, credential, host, origin, site):
        port = self.address.rsplit(":", 1)[1]
        lines = []
        if host != "none":
            lines.append("Host: " + {"own": self.address, "localhost": "localhost:" + port, "foreign": "evil.example:" + port}[host])
        if origin != "none":
            lines.append("Origin: " + {"own": "http://" + self.address, "foreign": "http://evil.example:" + port,
                                       "null": "null"}[origin])
        if site != "none":
            lines.append("Sec-Fetch-Site: " + site)
        if credential in self.tokens:
            lines.append("Authorization: Bearer " + self.tokens[credential])
        elif credential == "bad":
            lines.append("Authorization: Bearer " + "0" * 64)
        elif credential == "forged cookie":
            lines.append("Cookie: " + self.cookies["operator"].split("=")[0] + "=" + "0" * 64)
        elif credential != "none":
            lines.append("Cookie: other=1; " + self.cookies[credential.split()[0]])
            if credential.endswith("with header"):
                lines.append("Pawl-Request: 1")
        return lines

    @staticmethod
    def expected(operations, method, credential, host, origin, site):
        """0 for whatever the handler says, else the status that must come."""
        reads = method in ("GET", "HEAD")
        if host == "none":
            return 400
        if host == "foreign":
            return 421
        if origin in ("foreign", "null") or site in ("same-site", "cross-site"):
            return 403
        operation = operations.get("get" if method == "HEAD" else method.lower())
        if operation is None:
            return 405
        needs = operation["x-role"]
        role = {"viewer cookie": "viewer", "operator cookie": "operator",
                "operator cookie with header": "operator"}.get(credential, credential)
        if needs == "none":
            return 0
        if role not in ("viewer", "operator", "worker"):
            return 401
        if role != needs and not (needs == "viewer" and role == "operator"):
            return 403
        if "cookie" in credential and not reads and not credential.endswith("with header"):
            return 403
        return 0

    def cell(self, path, operations, method, credential, host, origin, site):
        url = re.sub(r"\{(\w+)\}", lambda m: {"id": str(uuid.UUID(int=1)), "number": "999999"}.get(m.group(1), "nothing"),
                     path)
        if path.startswith("/v1/jobs/"):
            url = url.replace(str(uuid.UUID(int=1)), "999999")
        if path.endswith("/tail"):
            url += "?timeout_ms=1"
        lines = self.headers(credential, host, origin, site)
        body = b""
        if method not in ("GET", "HEAD"):
            body = b"!"  # no JSON: what is let in goes no further
            lines.append("Content-Length: 1")
        request = f"{method} {url} HTTP/1.1\r\n" + "".join(line + "\r\n" for line in lines) + "\r\n"
        status, headers = self.wire.send(request.encode() + body)
        wanted = self.expected(operations, method, credential, host, origin, site)
        if wanted == 0:
            right = status not in (401, 403, 405, 421)
        else:
            right = status == wanted
        if wanted == 405 and right:
            right = b"Allow: " in headers
        if status == 401:
            right = right and b"WWW-Authenticate: Bearer" in headers
        if b"Content-Security-Policy: default-src 'none'" not in headers and not (host == "none" and status == 400):
            right = False  # without a host libmicrohttpd itself refuses
        return right, f"{method} {path} as {credential}, host {host}, origin {origin}, site {site}: {status}, not {wanted}"

    def test_matrix(self):
        """Every route x method x credential x Host x Origin, all of it with PAWL_TEST_FULL=1 (make prove)."""
        self.prepare()
        wrong, cells = [], 0
        for path, operations in self.document["paths"].items():
            # In short: every route with every method and credential, some with every host and origin as well.
            whole = FULL or path in ("/v1/messages", "/v1/settings")
            for method, credential in itertools.product(METHODS, CREDENTIALS if whole else SHORT_CREDENTIALS):
                places = itertools.product(HOSTS if whole else HOSTS[:1], ORIGINS if whole else ORIGINS[:1])
                if not whole and credential == "operator":
                    places = (("own", "none"), ("foreign", "none"), ("own", "foreign"))
                for host, origin in places:
                    right, text = self.cell(path, operations, method, credential, host, origin, "none")
                    cells += 1
                    if not right:
                        wrong.append(text)
                if path in ("/v1/messages", "/v1/settings", "/healthz"):
                    for site in SITES[1:]:
                        right, text = self.cell(path, operations, method, credential, "own", "none", site)
                        cells += 1
                        if not right:
                            wrong.append(text)
        print(f"# {cells} cells, {len(wrong)} wrong", flush=True)
        print("figures: " + json.dumps({"cells": cells, "violations": len(wrong)}), flush=True)
        self.assertEqual(wrong[:20], [])

    def test_a_link_opens_the_page_but_nothing_else(self):
        self.prepare()
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        self.assertEqual(self.request("GET", "/", role=None, headers=headers).status, 200)
        self.problem(403, "another site", "GET", "/v1/status", headers=headers)
        self.problem(403, "another site", "GET", "/app.js", role=None, headers={"Sec-Fetch-Site": "cross-site"})

    def test_lease_routes_are_absent_unless_asked_for(self):
        self.start_server()
        self.problem(404, "no such route", "POST", "/v1/leases", {}, role="worker")

    def test_a_session_ends_on_the_server_at_sign_out(self):
        self.prepare()
        mine, other = ({"Cookie": self.cookies[role], "Pawl-Request": "1"} for role in ("operator", "viewer"))
        self.assertEqual(self.get("/v1/session", role=None, headers=mine)["role"], "operator")
        stream = socket.create_connection(self.wire.place, timeout=SECONDS_MAX)
        self.addCleanup(stream.close)
        stream.sendall(f"GET /v1/stream HTTP/1.1\r\nHost: {self.address}\r\nCookie: {mine['Cookie']}\r\n\r\n".encode())
        self.assertIn(b"200 OK", stream.recv(65536))
        out = self.request("DELETE", "/v1/session", role=None, headers=mine)
        self.assertEqual(out.status, 204, out)
        self.assertIn("Max-Age=0", out.headers["Set-Cookie"])
        self.problem(401, "token is needed", "GET", "/v1/status", role=None, headers=mine)  # a copy of the cookie
        self.get("/v1/status", role=None, headers=other)
        while not (part := stream.recv(65536)).endswith(b"0\r\n\r\n"):  # what listened with the session is ended: the last chunk
            self.assertTrue(part)

    def test_the_cookie_is_this_port_s_and_secure_where_browsers_use_tls(self):
        def cookie(*args):
            process = self.start_server(*args)
            made = self.request("POST", "/v1/session")
            self.stop_server(process)
            return made, made.headers["Set-Cookie"]
        made, text = cookie()
        port = self.address.rsplit(":", 1)[1]
        self.assertTrue(text.startswith(f"pawl_session_{port}="), text)
        self.assertNotIn("Secure", text)
        self.assertIsNone(made.headers["Strict-Transport-Security"])
        for url, seen in (("https://pawl.example.org", 443), ("https://pawl.example.org:8443", 8443)):
            made, text = cookie("--public-url", url)
            self.assertTrue(text.startswith(f"__Host-pawl_session_{seen}="), text)
            self.assertIn("; Path=/;", text)
            self.assertIn("; Secure", text)
            self.assertNotIn("Domain", text)
            self.assertEqual(made.headers["Strict-Transport-Security"], "max-age=31536000")

    def test_a_request_that_two_readers_would_end_at_two_places_is_refused(self):
        self.prepare()
        host, auth = f"Host: {self.address}\r\n", f"Authorization: Bearer {self.tokens['operator']}\r\n"
        hidden = f"GET /healthz HTTP/1.1\r\n{host}\r\n"
        chunked = "Transfer-Encoding: chunked\r\n"
        cases = {
            "two lengths": f"Content-Length: {len(hidden)}\r\nContent-Length: 0\r\n",
            "two lengths, the other first": f"Content-Length: 0\r\nContent-Length: {len(hidden)}\r\n",
            "a list of lengths": f"Content-Length: 0, {len(hidden)}\r\n",
            "a length beside chunks": "Content-Length: 5\r\n" + chunked,
            "chunks beside a length": chunked + "Content-Length: 5\r\n",
            "another coding": "Transfer-Encoding: gzip, chunked\r\n",
            "a coding that only looks like chunked": "Transfer-Encoding: xchunked\r\n",
            "two codings": chunked + "Transfer-Encoding: identity\r\n",
            "a blank after the name": f"Content-Length : {len(hidden)}\r\n",
            "two hosts": "Host: evil.example\r\n",
        }
        for method, path in (("GET", "/healthz"), ("POST", "/v1/session"), ("GET", "/"), ("DELETE", "/v1/session")):
            for name, lines in cases.items():
                body = "0\r\n\r\n" if chunked in lines else ""
                with socket.create_connection(self.wire.place, timeout=SECONDS_MAX) as wire:
                    wire.sendall(f"{method} {path} HTTP/1.1\r\n{host}{auth}{lines}\r\n{body}{hidden}".encode())
                    answer = b""
                    while part := wire.recv(65536):  # until the server closes it
                        answer += part
                self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), (method, path, name, answer))
                if name != "a list of lengths":  # libmicrohttpd's own answer
                    self.assertIn(b"application/problem+json", answer, (method, path, name))
                    self.assertEqual(answer.count(b"HTTP/1.1"), 1, (method, path, name, answer))
                self.assertNotIn(b"ok\n", answer, (method, path, name))

    def test_no_secret_is_shown(self):
        self.prepare()
        for path in ("/v1/status", "/v1/openapi.json", "/metrics", "/v1/session", "/v1/settings", "/"):
            body = self.request("GET", path).body.decode()
            for token in self.tokens.values():
                self.assertNotIn(token, body)
        log = self.server_log()
        for token in self.tokens.values():
            self.assertNotIn(token, log)


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
