#!/usr/bin/env python3
"""Traces from outside: what is exported, who is whose child, and that a collector that is away or slow changes nothing
but the counters. The collector is a fake; its requests are read by OpenTelemetry's own types (read_otlp.mjs).

Usage: traces_test.py PAWL HELPER ROOT sqlite|postgres [NAME]"""
import http.server
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "integration")]

import cli_support  # noqa: E402 (found by the line above)
from cli_support import Setup  # noqa: E402
from fake_collector import FakeCollector  # noqa: E402
from server_support import ServerTest  # noqa: E402

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = PARENT.split("-")[1]
INTERNAL, PRODUCER, CONSUMER = 1, 4, 5
SECONDS_MAX = 60

PAGE = """#!/usr/bin/env python3
import json, os, sys
told = json.load(sys.stdin)
part = told["partition"]
open(os.environ["NOTES"], "a").write("page " + os.environ["TRACEPARENT"] + "\\n")
at = told["cursor"] if told["cursor"] is not None else part["from"]
stop = min(at + told["limit"], part["to"])
print(json.dumps({"items": [{"key": str(n)} for n in range(at, stop)], "next": stop if stop < part["to"] else None}))
"""


def only(**kwargs):
    def mark(method):
        method.only = kwargs["dialect"]
        return method
    return mark


class Traces(ServerTest):
    def setUp(self):
        super().setUp()
        for key in [key for key in self.env if key.startswith("OTEL_") or key == "TRACEPARENT"]:
            del self.env[key]
        self.migrate()

    def collector(self, *answers, **more):
        collector = FakeCollector(*answers)
        self.addCleanup(collector.close)
        self.trace(collector.url, **more)
        return collector

    def trace(self, url, **more):
        self.env.update({"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "100", **more})

    def work(self, *args, env=None):
        """A worker until there is nothing to do; its log."""
        done = self.run_pawl("worker", "--poll", "50ms", "--until-idle", *args, env=env)
        self.assertEqual(done.code, 0, done)
        return done.err

    def program(self, name, text):
        path = self.dir / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def notes(self):
        return dict(line.split(" ", 1) for line in (self.dir / "notes").read_text().splitlines())

    def one(self, spans, name, **attributes):
        """The span of this name with these attributes."""
        wanted = {key.replace("__", "."): value for key, value in attributes.items()}
        found = [span for span in spans if span["name"] == name and wanted.items() <= span["attributes"].items()]
        self.assertEqual(len(found), 1, (name, wanted, [(span["name"], span["attributes"]) for span in spans]))
        return found[0]

    def child(self, span, parent):
        self.assertEqual((span["traceId"], span.get("parentSpanId")), (parent["traceId"], parent["spanId"]), (span, parent))
        self.assertGreaterEqual(int(span["startTimeUnixNano"]), int(parent["startTimeUnixNano"]))

    def read_by_opentelemetry(self, collector):
        """OpenTelemetry's types read every request, and lose nothing of it."""
        here = Setup.root / "tests" / "traces"
        if shutil.which("node") is None or not (here / "node_modules").is_dir():
            return False
        text = "".join(json.dumps(body) + "\n" for body in collector.bodies())
        done = subprocess.run(["node", str(here / "read_otlp.mjs")], input=text, capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False)
        self.assertEqual((done.returncode, done.stderr, done.stdout.strip()), (0, "", str(len(collector.spans()))))
        return True

    def test_a_c_program_makes_spans_when_it_asks_for_them(self):
        collector = self.collector()

        def send(how):
            """What the program printed and logged."""
            done = subprocess.run([Setup.helper, self.url, self.schema, "send", PARENT, how], capture_output=True, text=True, env=self.env,
                                  cwd=self.dir, timeout=SECONDS_MAX, check=False)
            self.assertEqual(done.returncode, 0, done)
            return done.stdout.strip(), done.stderr

        def traceparents():
            return [row["traceparent"] for row in self.ok("message", "list", "--type", "c.sent") + self.ok("event", "list", "--stream", "c/1")]

        self.assertEqual(send("plain"), ("plain", ""))
        self.assertEqual(collector.spans(), [])
        self.assertEqual(traceparents(), [PARENT, PARENT])
        said, log = send("traced")
        self.assertEqual(said, "traced")
        self.assertIn("event=traces_ended", log)
        spans = {name: self.one(collector.spans(), "put " + name, messaging__operation__type="send") for name in ("c.sent", "c", "c.appended")}
        for span in spans.values():
            self.assertEqual((span["kind"], span["traceId"], span["parentSpanId"]), (PRODUCER, TRACE, PARENT.split("-")[2]))
        own = [f"00-{TRACE}-{spans[name]['spanId']}-01" for name in ("c.sent", "c.appended")]
        self.assertEqual(sorted(traceparents()), sorted([PARENT, PARENT, *own]))
        for key in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_BSP_SCHEDULE_DELAY"):
            del self.env[key]
        self.assertEqual(send("traced"), ("plain", ""))  # tracing is off

    def test_a_trace_goes_through_everything(self):
        collector = self.collector(OTEL_SERVICE_NAME="shop", OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=te%20st,a=b",
                                   OTEL_EXPORTER_OTLP_HEADERS="api-key=s%3Dcret,x=y")
        began = time.time_ns()
        notes = {"NOTES": str(self.dir / "notes")}
        handler = self.program("handle.sh", f"#!/bin/sh\necho handle $TRACEPARENT >> {notes['NOTES']}\n")
        mirror = self.program("mirror.sh", f"#!/bin/sh\necho mirror $TRACEPARENT >> {notes['NOTES']}\n")
        tool = self.program("tool.sh", f"#!/bin/sh\necho step $TRACEPARENT >> {notes['NOTES']}; cat\n")
        broken = self.program("broken.sh", "#!/bin/sh\necho it broke >&2; exit 65\n")
        page = self.program("page.py", PAGE)
        (self.dir / "tools.json").write_text(json.dumps({"tools": {"tool": {"exec": tool}, "page": {"exec": page, "env": notes}}}))
        (self.dir / "out.ini").write_text("[transport out]\nurl = file:out.jsonl\n[route bus]\ntransport = out\nto = {topic}\n")
        (self.dir / "mirror.yaml").write_text(json.dumps({"name": "mirror", "on": ["stock.*"], "exec": mirror}))
        (self.dir / "flow.json").write_text(json.dumps({"steps": [{"id": "first", "uses": "tool", "with": {"a": 1}}]}))
        (self.dir / "run.json").write_text(json.dumps({"name": "numbers", "partitions": {"range": {"from": 0, "to": 2, "parts": 1}},
                                                       "page": {"uses": "page", "size": 5}}))
        self.env["PGOPTIONS"] = f"-c search_path={self.schema}"
        self.sql("CREATE TABLE event_count (type TEXT PRIMARY KEY, count BIGINT NOT NULL)")
        self.ok("perspective", "set", str(self.dir / "mirror.yaml"))
        self.ok("perspective", "set", str(Setup.root / "examples" / "perspectives" / "event_count.yaml"))
        sent = self.ok("send", "order.placed", '{"n": 1}', "--stream", "o-1", "--traceparent", PARENT)
        self.ok("send", "order.broken", "{}", "--traceparent", PARENT)
        self.ok("send", "order.told", "{}", "--topic", "bus", "--traceparent", PARENT)
        self.ok("job", "enqueue", "--pipeline", str(self.dir / "flow.json"), env={"PAWL_TOOLS": str(self.dir / "tools.json")})
        self.ok("event", "append", "s-1", "stock.moved", "{}", "--traceparent", PARENT)
        self.ok("run", "start", str(self.dir / "run.json"), "--traceparent", PARENT, env={"PAWL_TOOLS": str(self.dir / "tools.json")})
        self.work("--kinds", "outbox,inbox,jobs,perspectives", "--perspectives-outside", "--tools", str(self.dir / "tools.json"),
                  "--on", f"order.broken=exec:{broken}", "--on", f"order.*=exec:{handler}", "--transports", str(self.dir / "out.ini"))
        ended = time.time_ns()
        spans = collector.spans()
        put = self.one(spans, "put order.placed", messaging__message__id=sent["id"], messaging__operation__type="send")
        self.assertEqual((put["kind"], put["traceId"], put["parentSpanId"]), (PRODUCER, TRACE, PARENT.split("-")[2]))
        handled = self.one(spans, "handle order.placed", messaging__system="pawl", messaging__message__id=sent["id"],
                           messaging__operation__type="process", messaging__destination__name="order.placed",
                           pawl__message__stream="o-1", pawl__attempt="1", pawl__result="done")
        self.assertEqual(handled["kind"], CONSUMER)
        self.child(handled, put)
        failed = self.one(spans, "handle order.broken", pawl__result="permanent", error__type="permanent")
        self.assertEqual(failed["status"]["code"], 2)
        self.assertIn("it broke", failed["status"]["message"])
        told = self.one(spans, "publish bus", messaging__system="file", messaging__operation__type="send")
        self.assertEqual(told["kind"], PRODUCER)
        self.child(told, self.one(spans, "put bus"))
        job = self.one(spans, "run default", pawl__kind="job")
        self.child(job, self.one(spans, "put default"))
        step = self.one(spans, "step first", pawl__step__uses="tool")
        self.assertEqual(step["kind"], INTERNAL)
        self.child(step, job)
        applied = self.one(spans, "apply mirror@1", messaging__batch__message_count="1")
        self.child(applied, self.one(spans, "put stock.moved"))
        counted = self.one(spans, "apply event_count@1", messaging__batch__message_count="1", pawl__perspective__streams="1")
        self.assertNotIn("parentSpanId", counted)
        moved = self.one(spans, "put stock.moved")  # the event itself stays in the database
        self.assertEqual([(link["traceId"], link["spanId"]) for link in counted["links"]], [(moved["traceId"], moved["spanId"])])
        paged = self.one(spans, "page", pawl__run__page="0")
        self.child(paged, self.one(spans, "run default", pawl__kind="page"))
        self.assertEqual(paged["traceId"], TRACE)
        self.assertEqual([one["state"] for one in self.ok("run", "list")], ["completed"])
        notes = self.notes()
        for name, span in (("handle", handled), ("mirror", applied), ("step", step), ("page", paged)):
            self.assertEqual(notes[name], f"00-{span['traceId']}-{span['spanId']}-01")
        event = json.loads((self.dir / "out.jsonl").read_text())
        self.assertEqual(event["traceparent"], f"00-{told['traceId']}-{told['spanId']}-01")
        for span in spans:
            self.assertTrue(began <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) <= ended, span)
        self.assertEqual(len({span["spanId"] for span in spans}), len(spans))
        path, headers, body, _ = collector.requests[-1]
        self.assertEqual((path, headers["Content-Type"], headers["api-key"], headers["x"]),
                         ("/v1/traces", "application/json", "s=cret", "y"))
        resource = {one["key"]: one["value"] for one in body["resourceSpans"][0]["resource"]["attributes"]}
        self.assertEqual(resource["service.name"], {"stringValue": "shop"})
        self.assertEqual(resource["deployment.environment.name"], {"stringValue": "te st"})
        self.collector_is_read(collector)

    def collector_is_read(self, collector):
        for body in collector.bodies():  # "a" is no name of any convention
            attributes = body["resourceSpans"][0]["resource"]["attributes"]
            attributes[:] = [one for one in attributes if one["key"] != "a"]
        if not self.read_by_opentelemetry(collector):
            self.skipTest("OpenTelemetry's types are missing; run tools/npm-ci tests/traces")

    def test_an_endpoint_and_the_api_are_in_the_trace(self):
        collector = self.collector()
        asked = []

        class Endpoint(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append((self.headers["traceparent"], self.headers["tracestate"]))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self.addCleanup(endpoint.server_close)
        self.addCleanup(endpoint.shutdown)
        threading.Thread(target=endpoint.serve_forever, daemon=True).start()
        server = self.start_server(migrate=False)
        put = self.request("POST", "/v1/messages", {"kind": "inbox", "consumer": "pawl", "messages": [{"type": "a.b"}]},
                           headers={"traceparent": PARENT, "tracestate": "congo=t61,rojo=1"})
        self.assertEqual(put.status, 200, put)
        self.stop_server(server)
        (self.dir / "handlers.ini").write_text(f"[*]\nhttp = http://127.0.0.1:{endpoint.server_address[1]}/\nallow-private = true\n")
        self.work("--handlers", str(self.dir / "handlers.ini"))
        spans = collector.spans()
        made = self.one(spans, "put a.b", pawl__kind="inbox")
        self.assertEqual((made["traceId"], made["parentSpanId"]), (TRACE, PARENT.split("-")[2]))
        handled = self.one(spans, "handle a.b")
        self.child(handled, made)
        self.assertEqual(asked, [(f"00-{TRACE}-{handled['spanId']}-01", "congo=t61,rojo=1")])

    def test_a_tracestate_goes_with_its_traceparent(self):
        handler = self.program("handle.sh", f"#!/bin/sh\necho $PAWL_TYPE $TRACEPARENT ${{TRACESTATE:-none}} >> {self.dir}/notes\n")
        (self.dir / "out.ini").write_text("[transport out]\nurl = file:out.jsonl\n[route bus]\ntransport = out\nto = {topic}\n")
        for name, headers in (("good", {"tracestate": "congo=t61"}), ("bad", {"tracestate": "Congo"}), ("long", {"tracestate": "a=" + "1" * 511}),
                              ("without", {})):
            pairs = [word for key, value in headers.items() for word in ("--header", f"{key}={value}")]
            self.ok("send", name, "{}", "--traceparent", PARENT, *pairs)
        self.ok("send", "parentless", "{}", "--header", "tracestate=congo=t61")
        self.ok("send", "told", "{}", "--topic", "bus", "--traceparent", PARENT, "--header", "tracestate=congo=t61")
        self.ok("receptor", "set", "seen", "stock.*")
        (self.dir / "events").write_text(json.dumps({"type": "stock.moved", "payload": {}, "traceparent": PARENT, "headers": {"tracestate": "rojo=2"}}))
        self.ok("event", "append", "s-1", "--ndjson", str(self.dir / "events"))
        self.work("--kinds", "outbox,inbox", "--on", f"*=exec:{handler}", "--on", f"seen@event:=exec:{handler}", "--transports", str(self.dir / "out.ini"))
        self.assertEqual(self.notes(), {"good": PARENT + " congo=t61", "bad": PARENT + " none", "long": PARENT + " none", "without": PARENT + " none",
                                        "parentless": "none", "stock.moved": PARENT + " rojo=2"})
        event = json.loads((self.dir / "out.jsonl").read_text())
        self.assertEqual((event["traceparent"], event["tracestate"]), (PARENT, "congo=t61"))
        self.collector()  # traced: what the environment has goes with what is sent
        self.ok("send", "own", "{}", env={"TRACEPARENT": PARENT, "TRACESTATE": "rojo=3"})
        self.assertEqual(self.ok("message", "list", "--type", "own")[0]["headers"], {"tracestate": "rojo=3"})

    @only(dialect="sqlite")
    def test_nothing_without_otel(self):
        handler = self.program("handle.sh", f"#!/bin/sh\necho handle $TRACEPARENT >> {self.dir}/notes\n")
        self.ok("send", "a", "{}", "--traceparent", PARENT)
        log = self.work("--on", f"*=exec:{handler}")
        self.assertNotIn("event=traces", log)
        self.assertEqual(self.notes()["handle"], PARENT)
        for more in ({"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}):
            self.trace("http://127.0.0.1:1")
            self.ok("send", "a", "{}", "--traceparent", PARENT, env=more)
            self.assertNotIn("event=traces", self.work("--on", f"*=exec:{handler}", env=more))
            self.assertEqual(self.notes()["handle"], PARENT)

    @only(dialect="sqlite")
    def test_samplers(self):
        handler = self.program("handle.sh", f"#!/bin/sh\necho handle $TRACEPARENT >> {self.dir}/notes\n")
        unsampled = PARENT[:-2] + "00"
        for sampler, share, parent, recorded in (
                ("always_off", None, PARENT, False), ("parentbased_always_on", None, unsampled, False),
                ("always_on", None, unsampled, True), ("parentbased_always_off", None, PARENT, True),
                ("traceidratio", "0", PARENT, False), ("traceidratio", "1", unsampled, True)):
            with self.subTest(sampler=sampler, share=share):
                collector = self.collector(OTEL_TRACES_SAMPLER=sampler, OTEL_TRACES_SAMPLER_ARG=share or "")
                self.ok("send", "a", "{}", "--traceparent", parent)
                self.work("--on", f"*=exec:{handler}")
                self.assertEqual(len(collector.spans()), 2 if recorded else 0)
                self.assertRegex(self.notes()["handle"], f"^00-{TRACE}-[0-9a-f]{{16}}-0{int(recorded)}$")

    @only(dialect="sqlite")
    def test_half_of_the_traces(self):
        collector = self.collector(OTEL_TRACES_SAMPLER="traceidratio", OTEL_TRACES_SAMPLER_ARG="0.5")
        self.ok("send", "a", "{}", "--count", "400", "-o", "json")
        put = {span["traceId"] for span in collector.spans()}
        self.assertTrue(140 < len(put) < 260, len(put))
        self.work("--on", "a=exec:/bin/true", "--concurrency", "16")
        handled = {span["traceId"] for span in collector.spans() if span["name"] == "handle a"}
        self.assertEqual(handled, put)  # the same share, and whole traces

    def ended(self, log):
        match = re.search(r"event=traces_ended exported=(\d+) dropped=(\d+) failed=(\d+)", log)
        self.assertIsNotNone(match, log)
        return tuple(map(int, match.groups()))

    @only(dialect="sqlite")
    def test_a_collector_that_asks_for_patience(self):
        collector = self.collector((503, {"Retry-After": "1"}, b"", 0), (429, {}, b"", 0), (200, {}, b"{}", 0))
        self.ok("send", "a", "{}", env={"OTEL_SDK_DISABLED": "true"})
        process = subprocess.Popen([Setup.pawl, "worker", "--poll", "50ms", "--on", "*=exec:/bin/true"], env=self.env,
                                   cwd=self.dir, stderr=subprocess.PIPE)
        deadline = time.monotonic() + SECONDS_MAX
        while len(collector.requests) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        process.terminate()
        log = process.communicate(timeout=SECONDS_MAX)[1].decode()
        self.assertEqual(self.ended(log), (1, 0, 0))
        times = [request[3] for request in collector.requests]
        self.assertEqual(len(times), 3, log)
        self.assertGreaterEqual(times[1] - times[0], 1.0)
        self.assertGreaterEqual(times[2] - times[1], 0.2)  # half a second or a second with jitter
        self.assertEqual(len({json.dumps(body) for body in collector.bodies()}), 1)

    @only(dialect="sqlite")
    def test_what_a_collector_refuses_is_counted(self):
        for answer, counts in (((400, {}, b"", 0), (0, 0, 3)), ((200, {}, b'{"partialSuccess":{"rejectedSpans":"2"}}', 0), (1, 0, 2))):
            self.collector(answer, OTEL_BSP_SCHEDULE_DELAY="600000")
            self.ok("send", "a", "{}", "--count", "3", "-o", "json", env={"OTEL_SDK_DISABLED": "true"})
            self.assertEqual(self.ended(self.work("--on", "*=exec:/bin/true")), counts)

    @only(dialect="sqlite")
    def test_a_dead_or_slow_collector_changes_nothing_but_the_counters(self):
        count = 300
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            dead = f"http://127.0.0.1:{taken.getsockname()[1]}"
        slow = FakeCollector((200, {}, b"{}", 30))
        self.addCleanup(slow.close)
        took = {}
        for name, url in (("none", None), ("dead", dead), ("slow", slow.url)):
            self.ok("send", "a", "{}", "--count", str(count), "-o", "json", env={"OTEL_EXPORTER_OTLP_ENDPOINT": None})
            if url:
                self.trace(url, OTEL_BSP_MAX_QUEUE_SIZE="50", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="10", OTEL_BSP_EXPORT_TIMEOUT="60000",
                           OTEL_EXPORTER_OTLP_TIMEOUT="60000")
            began = time.monotonic()
            log = self.work("--on", "*=exec:/bin/true", "--concurrency", "8", "--heartbeat", "200ms")
            took[name] = time.monotonic() - began
            self.assertIn(f"completed={count} failed=0", log)
            if url:
                exported, dropped, failed = self.ended(log)
                self.assertEqual((exported, exported + dropped + failed), (0, count), log)
                self.assertGreaterEqual(dropped, count - 70)
                self.assertGreater(failed, 0)
        # The end waits for the collector for two seconds at most.
        self.assertLess(took["dead"], took["none"] * 2 + 3, took)
        self.assertLess(took["slow"], took["none"] * 2 + 4, took)
        began = time.monotonic()
        self.assertEqual(self.run_pawl("send", "a", "{}").code, 0)
        self.assertLess(time.monotonic() - began, 5)
        del self.env["OTEL_EXPORTER_OTLP_ENDPOINT"]
        self.start_server(migrate=False)
        text = self.request("GET", "/metrics").body.decode()
        dropped = int(re.search(r'^pawl_trace_spans_total\{result="dropped"\} (\d+)$', text, re.M).group(1))
        self.assertGreaterEqual(dropped, count - 70)
        self.assertIn('pawl_trace_spans_total{result="exported"} 0\n', text)

    @only(dialect="sqlite")
    def test_options_that_make_no_sense(self):
        for more, word in (({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "http/json only"),
                           ({"OTEL_TRACES_EXPORTER": "zipkin"}, "otlp or none"),
                           ({"OTEL_EXPORTER_OTLP_ENDPOINT": "ftp://x"}, "only http: and https:"),
                           ({"OTEL_TRACES_SAMPLER": "sometimes"}, "always_on"),
                           ({"OTEL_BSP_MAX_QUEUE_SIZE": "0"}, "OTEL_BSP_MAX_QUEUE_SIZE"),
                           ({"OTEL_EXPORTER_OTLP_HEADERS": "just-this"}, "KEY=VALUE")):
            with self.subTest(more=more):
                self.trace("http://127.0.0.1:1")
                done = self.run_pawl("send", "a", "{}", env=more)
                self.assertEqual(done.code, 0, done)
                self.assertIn("event=trace_option_refused", done.err)
                self.assertIn(word, done.err)


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
