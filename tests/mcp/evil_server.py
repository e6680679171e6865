#!/usr/bin/env python3
"""An MCP server that misbehaves in one chosen way; where it is not told to, it behaves.

Usage: evil_server.py BEHAVIOUR        over stdin and stdout
       evil_server.py --http           over HTTP; prints its port; the behaviour is the path
"""
import http.server
import json
import os
import signal
import sys
import threading
import time

TOOL = {"name": "tool", "description": "does nothing", "inputSchema": {"type": "object"}}
VERSION = "2025-11-25"


def write(text):
    data = text if isinstance(text, bytes) else text.encode()
    while data:
        data = data[os.write(1, data):]


def say(message):
    write(json.dumps(message) + "\n")


def answer(request, result):
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})


def hang():
    while True:
        time.sleep(60)


def done(text="fine"):
    return {"content": [{"type": "text", "text": text}]}


class Server:
    """Behaves. Each misbehaviour is a subclass or a replaced method below."""

    def __init__(self):
        self.calls = 0

    def start(self):
        pass

    def discover(self, request):
        say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "what?"}})

    def initialize(self, request):
        answer(request, {"protocolVersion": VERSION, "capabilities": {"tools": {}},
                         "serverInfo": {"name": "evil", "version": "1"}})

    def list(self, request):
        answer(request, {"tools": [TOOL]})

    def call(self, request):
        self.calls += 1
        answer(request, done())

    def ping(self, request):
        answer(request, {})

    def run(self):
        self.start()
        stages = {"server/discover": "discover", "initialize": "initialize", "tools/list": "list", "tools/call": "call",
                  "ping": "ping"}
        for line in iter(sys.stdin.buffer.readline, b""):
            request = json.loads(line)
            if "id" in request and request.get("method") in stages:
                getattr(self, stages[request["method"]])(request)


def on(stage):
    """Registers a function as the behaviour of its name: it replaces that stage."""
    def register(function):
        BEHAVIOURS[function.__name__] = type(function.__name__, (Server,), {stage: function})
        return function
    return register


BEHAVIOURS = {"behaves": Server}


@on("start")
def exit_at_once(self):
    sys.exit(1)


@on("start")
def complains_and_exits(self):
    sys.stderr.write("no configuration\n" * 10000)
    sys.exit(78)


@on("discover")
def exit_on_discover(self, request):
    """A server of the older era that cannot stand questions before the handshake."""
    os._exit(1)


@on("discover")
def silent_on_discover(self, request):
    pass


@on("discover")
def claims_the_new_era(self, request):
    answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete"})
    self.__class__.list = lambda s, r: say({"jsonrpc": "2.0", "id": r["id"], "error": {"code": -32601, "message": "no"}})


@on("discover")
def knows_another_version_only(self, request):
    say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32022, "message": "unsupported", "data": {"supported": ["2099-01-01"]}}})


@on("start")
def never_reads(self):
    hang()


@on("initialize")
def hang_on_initialize(self, request):
    hang()


@on("initialize")
def wants_unknown_version(self, request):
    answer(request, {"protocolVersion": "1066-10-14", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}})


@on("initialize")
def initialize_without_version(self, request):
    answer(request, {})


@on("list")
def hang_on_list(self, request):
    hang()


@on("list")
def list_is_no_list(self, request):
    answer(request, {"tools": "many"})


@on("list")
def list_in_a_circle(self, request):
    answer(request, {"tools": [], "nextCursor": "again"})


@on("list")
def list_without_end(self, request):
    self.page = getattr(self, "page", 0) + 1
    answer(request, {"tools": [dict(TOOL, name=f"tool{self.page}")], "nextCursor": str(self.page)})


@on("list")
def list_of_twins(self, request):
    answer(request, {"tools": [TOOL, TOOL]})


@on("list")
def list_of_thousands(self, request):
    answer(request, {"tools": [dict(TOOL, name=f"tool{i}") for i in range(5000)]})


@on("list")
def tool_without_schema(self, request):
    answer(request, {"tools": [{"name": "tool"}]})


@on("list")
def tool_without_name(self, request):
    answer(request, {"tools": [{"inputSchema": {}}]})


@on("list")
def tool_with_impossible_name(self, request):
    answer(request, {"tools": [dict(TOOL, name="to\nol\u001b[2J")]})


@on("list")
def tool_with_endless_description(self, request):
    answer(request, {"tools": [dict(TOOL, description="x" * 1000000)]})


@on("list")
def tool_with_wrong_schema(self, request):
    answer(request, {"tools": [dict(TOOL, inputSchema={"type": 5})]})


@on("list")
def tool_with_costly_schema(self, request):
    answer(request, {"tools": [dict(TOOL, inputSchema={"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 2}}, "$ref": "#/$defs/a"})]})


@on("list")
def lists_the_tool_on_the_second_page(self, request):
    if request["params"].get("cursor") == "two":
        answer(request, {"tools": [TOOL]})
    else:
        answer(request, {"tools": [dict(TOOL, name="other")], "nextCursor": "two"})


@on("list")
def changes_the_tool(self, request):
    """Pinned by the test to another hash."""
    answer(request, {"tools": [dict(TOOL, description="does something else now")]})


@on("call")
def changes_its_tools_all_the_time(self, request):
    self.__class__.list = lambda s, r: answer(r, {"tools": [dict(TOOL, description=str(time.time()))]})
    say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    answer(request, done())


@on("call")
def hang_on_call(self, request):
    hang()


@on("call")
def hang_for_good(self, request):
    """Does not leave when its stdin closes or when it is asked to."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    hang()


@on("call")
def leaves_a_descendant(self, request):
    """Its child holds the pipes open and ignores everything."""
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        hang()
    os._exit(0)


@on("call")
def exit_on_call(self, request):
    os._exit(3)


@on("call")
def crash_on_call(self, request):
    os.kill(os.getpid(), signal.SIGSEGV)


@on("call")
def close_stdout_on_call(self, request):
    os.close(1)
    hang()


@on("call")
def close_stdin_on_call(self, request):
    os.close(0)
    hang()


@on("start")
def flood_from_the_start(self):
    while True:
        write(b"x" * 65536)


@on("call")
def flood_of_notifications(self, request):
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 100}}) + "\n"
    while True:
        write(line * 1000)


@on("call")
def flood_of_big_notifications(self, request):
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 1000000}}) + "\n"
    while True:
        write(line)


@on("call")
def flood_of_requests(self, request):
    for i in range(100000):
        say({"jsonrpc": "2.0", "id": f"s{i}", "method": "sampling/createMessage", "params": {}})
    hang()


@on("call")
def flood_of_complaints(self, request):
    for _ in range(200):
        os.write(2, b"oh no\n" * 10000)
    answer(request, done())


@on("call")
def endless_line(self, request):
    while True:
        write(b"[" + b"1," * 32768)


@on("call")
def line_of_nine_mebibytes(self, request):
    answer(request, done("x" * 9437184))


@on("call")
def trickle(self, request):
    while True:
        write(b" ")
        time.sleep(0.05)


@on("call")
def one_byte_at_a_time(self, request):
    for byte in (json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": done()}) + "\n").encode():
        write(bytes([byte]))


@on("call")
def not_json(self, request):
    write("Listening on port 3000\n")
    hang()


@on("call")
def half_of_json(self, request):
    write('{"jsonrpc":"2.0","id":\n')
    hang()


@on("call")
def two_messages_on_a_line(self, request):
    write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": done()}) * 2 + "\n")
    hang()


@on("call")
def a_batch(self, request):
    write(json.dumps([{"jsonrpc": "2.0", "id": request["id"], "result": done()}]) + "\n")
    hang()


@on("call")
def another_json_rpc(self, request):
    say({"jsonrpc": "1.0", "id": request["id"], "result": done()})
    hang()


@on("call")
def no_json_rpc(self, request):
    say({"id": request["id"], "result": done()})
    hang()


@on("call")
def wrong_id(self, request):
    say({"jsonrpc": "2.0", "id": request["id"] + 1000, "result": done("not yours")})
    hang()


@on("call")
def id_as_text(self, request):
    say({"jsonrpc": "2.0", "id": str(request["id"]), "result": done("not yours")})
    hang()


@on("call")
def id_is_null(self, request):
    say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "what?"}})
    hang()


@on("call")
def no_id(self, request):
    say({"jsonrpc": "2.0", "result": done()})
    hang()


@on("call")
def result_and_error(self, request):
    say({"jsonrpc": "2.0", "id": request["id"], "result": done(), "error": {"code": 1, "message": "x"}})
    hang()


@on("call")
def neither_result_nor_error(self, request):
    say({"jsonrpc": "2.0", "id": request["id"]})
    hang()


@on("call")
def result_is_a_number(self, request):
    say({"jsonrpc": "2.0", "id": request["id"], "result": 7})
    hang()


@on("call")
def error_is_text(self, request):
    say({"jsonrpc": "2.0", "id": request["id"], "error": "no"})
    hang()


@on("call")
def error_without_anything(self, request):
    say({"jsonrpc": "2.0", "id": request["id"], "error": {}})


@on("call")
def error_with_escape_codes(self, request):
    say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "\u001b[2J\r\nevent=fake"}})


@on("call")
def error_of_a_megabyte(self, request):
    say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "x" * 1000000}})


@on("call")
def method_is_a_number(self, request):
    say({"jsonrpc": "2.0", "method": 7})
    hang()


@on("call")
def request_with_an_object_as_id(self, request):
    say({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"})
    hang()


@on("call")
def not_utf8(self, request):
    write(b'{"jsonrpc":"2.0","id":' + str(request["id"]).encode() + b',"result":{"content":[{"type":"text","text":"\xff\xfe"}]}}\n')
    hang()


@on("call")
def nul_bytes(self, request):
    write(b"\0\0\0\0\n")
    hang()


@on("call")
def escaped_nul(self, request):
    write('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\\u0000b"}]}}\n' % request["id"])
    hang()


@on("call")
def nested_too_deep(self, request):
    write('{"jsonrpc":"2.0","id":%d,"result":{"content":%s%s}}\n' % (request["id"], "[" * 100000, "]" * 100000))
    hang()


@on("call")
def a_million_values(self, request):
    write('{"jsonrpc":"2.0","id":%d,"result":{"content":[%s1]}}\n' % (request["id"], "1," * 1000000))
    hang()


@on("call")
def the_same_key_twice(self, request):
    write('{"jsonrpc":"2.0","id":%d,"result":{"isError":true,"isError":false,"content":[]}}\n' % request["id"])
    hang()


@on("call")
def answers_twice(self, request):
    answer(request, done("first"))
    answer(request, done("second"))


@on("call")
def chatty_before_the_answer(self, request):
    say({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}})
    say({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    say({"jsonrpc": "2.0", "id": "a", "method": "roots/list"})
    say({"jsonrpc": "2.0", "id": "b", "method": "elicitation/create", "params": {}})
    refused = [json.loads(sys.stdin.buffer.readline()) for _ in range(3)]
    good = "result" in refused[0] and all(r["error"]["code"] == -32601 for r in refused[1:])
    write("\r\n\n   \n")
    write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": done("fine" if good else "not refused")}) + "\r\n")


@on("call")
def tool_failed(self, request):
    answer(request, {"isError": True, "content": [{"type": "text", "text": "no such file"}]})


@on("call")
def wants_input(self, request):
    answer(request, {"resultType": "input_required", "inputRequests": {}})


@on("call")
def content_is_text(self, request):
    answer(request, {"content": "just text"})


@on("call")
def content_of_nonsense(self, request):
    answer(request, {"content": [1, None, {"text": 5}, [], {"type": "text", "text": "fine"}]})


@on("call")
def late_by_a_second(self, request):
    """Answers when nobody waits any more; the next call must not get that answer."""
    self.calls += 1
    if self.calls == 2:
        time.sleep(1.0)
        answer(request, done("late"))
    else:
        answer(request, done("fine"))


# HTTP: the behaviour is the path.

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"", kind="application/json", extra=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in extra:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def result(self, request, result, extra=()):
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode(), extra=extra)

    def do_DELETE(self):
        self.reply(200)

    def do_GET(self):
        name = self.path.strip("/")
        if name == "resumes_for_ever":
            self.stream()
            self.wfile.write(b"id: 8\nretry: 10\ndata:\n\n")
        else:
            self.reply(405)

    def do_POST(self):
        try:
            self.post(self.path.strip("/"))
        except (BrokenPipeError, ConnectionResetError):
            pass

    def post(self, name):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = request.get("method")
        if name == "answers_404":
            self.reply(404)
        elif name == "answers_500":
            self.reply(500)
        elif name == "wants_a_password":
            self.reply(401, b'{"error":"who are you?"}')
        elif name == "sends_elsewhere":
            self.reply(307, extra=[("Location", "/behaves")])
        elif "id" not in request:
            self.reply(202)
        elif method == "server/discover":
            self.reply(400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Server not initialized"}}')
        elif method == "initialize":
            session = "x" * 5000 if name == "session_too_long" else "s1"
            self.result(request, {"protocolVersion": VERSION, "capabilities": {},
                                  "serverInfo": {"name": "evil", "version": "1"}}, [("Mcp-Session-Id", session)])
        elif method == "tools/list":
            self.result(request, {"tools": [TOOL]})
        else:
            getattr(self, "http_" + name, self.http_behaves)(request)

    def http_behaves(self, request):
        self.result(request, done())

    def http_forgets_the_session(self, request):
        STATE["calls"] = STATE.get("calls", 0) + 1
        if STATE["calls"] == 1:
            self.reply(404)
        else:
            self.result(request, done())

    def http_hangs(self, request):
        time.sleep(60)

    def http_slow_headers(self, request):
        for byte in b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1000:
            self.wfile.write(bytes([byte]))
            time.sleep(0.05)

    def http_says_html(self, request):
        self.reply(200, b"<html>", "text/html")

    def http_says_nothing(self, request):
        self.reply(200)

    def http_not_json(self, request):
        self.reply(200, b"not json")

    def http_body_without_end(self, request):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while True:
            self.wfile.write(b" " * 65536)

    def http_body_cut_off(self, request):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"{")
        self.close_connection = True

    def http_stream_answers(self, request):
        self.stream()
        self.wfile.write(b": hello\n\nid: 1\ndata:\n\ndata: " + json.dumps({"jsonrpc": "2.0", "method": "notifications/progress"}).encode() +
                         b"\n\nevent: message\r\ndata: " + json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": done()}).encode() + b"\r\n\r\n")

    def http_stream_stays_open(self, request):
        self.http_stream_answers(request)
        time.sleep(60)

    def http_stream_without_answer(self, request):
        self.stream()
        self.wfile.write(b"data: " + json.dumps({"jsonrpc": "2.0", "method": "notifications/progress"}).encode() + b"\n\n")

    def http_stream_of_comments(self, request):
        self.stream()
        while True:
            self.wfile.write(b": still here\n" * 1000)

    def http_event_without_end(self, request):
        self.stream()
        self.wfile.write(b"data: ")
        while True:
            self.wfile.write(b"x" * 65536)

    def http_stream_of_nonsense(self, request):
        self.stream()
        self.wfile.write(b"data: nonsense\n\n")

    def http_resumes_for_ever(self, request):
        self.stream()
        self.wfile.write(b"id: 7\nretry: 10\ndata:\n\n")

    def http_retries_in_a_year(self, request):
        self.stream()
        self.wfile.write(b"id: 7\nretry: 2000000000\ndata:\n\n")

    def http_answers_somebody_else(self, request):
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": request["id"] + 77, "result": done()}).encode())


STATE = {}


def serve_http():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()  # until whoever started us leaves
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "--http":
        serve_http()
    elif sys.argv[1] == "--list":
        print("\n".join(BEHAVIOURS))
    else:
        BEHAVIOURS[sys.argv[1]]().run()
