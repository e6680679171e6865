#!/usr/bin/env python3
"""What the conformance runner lacks: it can neither show a token nor start a program. This listens on a free port, which it prints,
and passes each message on, to a server with its token (headers and answers as they are) or to `pawl mcp` (one line each).

Usage: bridge.py http ADDRESS TOKEN | bridge.py stdio PAWL [WORD…]
"""
import http.client
import http.server
import json
import subprocess
import sys
import threading


class Program:
    """A server on standard input and output that several clients share: ids are replaced on the way."""

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        self.count = 0
        self.waiting = {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") in self.waiting:
                self.waiting[message["id"]].append(message)
                self.waiting[message["id"]][0].set()

    def ask(self, message):
        came = [threading.Event()]
        with self.lock:
            own, self.count = message.get("id"), self.count + 1
            number = self.count
            if own is not None:
                self.waiting[number] = came
                message["id"] = number
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        if own is None:
            return None
        came[0].wait(30)
        return dict(came[1], id=own)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    program = target = token = None

    def log_message(self, *_):
        pass

    def give(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.program is not None:
            answer = self.program.ask(json.loads(body)) if body else None
            status = 202 if body and answer is None else 200 if body else 405
            return self.give(status, [("Content-Type", "application/json")], json.dumps(answer).encode() if answer else b"")
        own = "%s:%d" % self.server.server_address
        headers = {name: value.replace(own, self.target).replace(own.replace("127.0.0.1", "localhost"), self.target)
                   for name, value in self.headers.items()}
        link = http.client.HTTPConnection(self.target)
        link.request(self.command, self.path, body, dict(headers, Authorization="Bearer " + self.token))
        came = link.getresponse()
        kept = [(name, value) for name, value in came.getheaders() if name.lower() not in ("transfer-encoding", "content-length", "connection")]
        if came.headers.get("Content-Type") != "text/event-stream":
            return self.give(came.status, kept, came.read())
        self.send_response(came.status)
        for name, value in kept + [("Connection", "close")]:
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        while piece := came.read1(65536):
            self.wfile.write(piece)
            self.wfile.flush()
        return None

    do_GET = do_POST = do_DELETE = pass_on


if sys.argv[1] == "stdio":
    Handler.program = Program([sys.argv[2], "mcp", *sys.argv[3:]])
else:
    Handler.target, Handler.token = sys.argv[2:]
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.handle_error = lambda *_: None  # a client that has left
print(server.server_address[1], flush=True)
server.serve_forever()
