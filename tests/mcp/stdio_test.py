#!/usr/bin/env python3
"""pawl mcp from outside, with plain JSON-RPC on its standard streams.

Usage: stdio_test.py PAWL WORKER_HELPER SOURCE_ROOT sqlite|postgres
"""
import json
import pathlib
import select
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))
from cli_support import CliTest, SECONDS_MAX, Setup, main  # noqa: E402

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
PIPELINE = {"steps": [{"id": "note", "uses": "pawl.append",
                       "with": {"stream": "notes", "events": [{"type": "noted", "payload": {"n": 1}}]}}]}


class Client:
    """One `pawl mcp`; answers come by id, everything else is a notification."""

    def __init__(self, test, *words, greet=True):
        self.test = test
        self.process = subprocess.Popen([Setup.pawl, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=test.env, cwd=test.dir)
        self.last_id = 0
        self.notes = []
        self.rest = b""
        test.addCleanup(self.close)
        if greet:
            self.greeting = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                                    "clientInfo": {"name": "test", "version": "1"}})["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.test.assertEqual(self.process.wait(SECONDS_MAX), 0)
        self.process.stdout.close()

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def line(self, seconds=SECONDS_MAX):
        until = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            piece = self.process.stdout.read1(65536)
            self.test.assertTrue(piece, "pawl mcp has ended")
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def answer(self, number):
        while True:
            message = self.line()
            self.test.assertIsNotNone(message, f"no answer to {number}")
            self.test.assertEqual(message["jsonrpc"], "2.0")
            if message.get("id") == number:
                return message
            self.notes.append(message)

    def start(self, method, params=None):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, **({"params": params} if params is not None else {})})
        return self.last_id

    def ask(self, method, params=None):
        return self.answer(self.start(method, params))

    def call(self, tool, **arguments):
        """A call that must succeed; its structured content, which its text repeats."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        self.test.assertNotIn("isError", result, result)
        self.test.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
        return result["structuredContent"]

    def fails(self, tool, **arguments):
        """A call that must be answered with an error of the tool; its text."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        self.test.assertIs(result.get("isError"), True, result)
        self.test.assertNotIn("structuredContent", result)
        return result["content"][0]["text"]

    def tools(self):
        found, cursor = {}, None
        while True:
            page = self.ask("tools/list", {"cursor": cursor} if cursor else {})["result"]
            found.update({tool["name"]: tool for tool in page["tools"]})
            cursor = page.get("nextCursor")
            if cursor is None:
                return found


class Protocol(CliTest):
    def setUp(self):
        super().setUp()
        self.migrate()

    def test_a_client_that_introduces_itself_is_greeted(self):
        client = Client(self)
        self.assertEqual(client.greeting["protocolVersion"], "2025-11-25")
        self.assertEqual(client.greeting["serverInfo"]["name"], "pawl")
        self.assertEqual(set(client.greeting["capabilities"]), {"tools", "resources", "prompts"})
        self.assertEqual(client.ask("ping")["result"], {})
        older = Client(self, greet=False)
        for version, said in {"2025-06-18": "2025-06-18", "1999-01-01": "2025-11-25"}.items():
            self.assertEqual(older.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})
                             ["result"]["protocolVersion"], said)

    def test_the_newer_protocol_needs_no_introduction(self):
        client = Client(self, greet=False)
        found = client.ask("server/discover", {"_meta": META})["result"]
        self.assertEqual((found["resultType"], found["supportedVersions"][:2], found["cacheScope"]),
                         ("complete", ["2026-07-28", "2025-11-25"], "private"))
        self.assertEqual(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "pawl")
        answer = client.ask("tools/call", {"name": "job_list", "arguments": {}, "_meta": META})["result"]
        self.assertEqual((answer["resultType"], answer["structuredContent"]["items"]), ("complete", []))
        for gone in ("ping", "initialize", "logging/setLevel"):
            self.assertEqual(client.ask(gone, {"_meta": META})["error"]["code"], -32601)
        self.assertEqual(client.ask("server/discover", {})["error"]["code"], -32602)
        other = dict(META, **{"io.modelcontextprotocol/protocolVersion": "1999-01-01"})
        error = client.ask("tools/list", {"_meta": other})["error"]
        self.assertEqual((error["code"], error["data"]["requested"]), (-32022, "1999-01-01"))
        self.assertIn("2026-07-28", error["data"]["supported"])

    def test_what_is_no_message_is_answered_and_does_no_harm(self):
        client = Client(self, greet=False)
        self.assertEqual(client.ask("tools/list")["error"]["code"], -32600)
        for text, code in ((b"{", -32700), (b"[]", -32600), (b"[{}]", -32600), (b"\"x\"", -32600), (b"{\"id\":1}", -32600),
                           (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":9,"method":7}', -32600),
                           (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}', -32602),
                           (b"x" * 1100000, -32600), (b'"' + b"\xff" * 10 + b'"', -32700)):
            client.send(text)
            self.assertEqual(client.line()["error"]["code"], code, text[:60])
        for quiet in (b"", b"  ", b'{"jsonrpc":"2.0","id":5,"result":{}}', b'{"jsonrpc":"2.0","method":"notifications/none"}'):
            client.send(quiet)
        self.assertEqual(client.ask("ping")["result"], {})
        self.assertEqual(client.notes, [])
        client.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}})
        self.assertEqual(client.ask("no/such")["error"]["code"], -32601)
        self.assertEqual(client.ask("tools/call", {"name": "job_fly"})["error"]["code"], -32602)
        self.assertEqual(client.ask("tools/call", {})["error"]["code"], -32602)
        self.assertEqual(client.ask("tools/list", {"cursor": "x"})["error"]["code"], -32602)

    def test_a_viewer_has_only_tools_that_look(self):
        tools = Client(self).tools()
        self.assertLess({"job_list", "job_why", "job_wait", "message_list", "message_why", "run_wait", "schedule_list"}, set(tools))
        for name, tool in tools.items():
            self.assertIs(tool["annotations"]["readOnlyHint"], True, name)
            self.assertEqual((tool["inputSchema"]["type"], tool["outputSchema"]["type"]), ("object", "object"))
        client = Client(self)
        self.assertIn("--role operator", client.fails("job_enqueue", type="x"))
        self.assertEqual(client.call("job_list")["items"], [])

    def test_an_operator_has_those_that_change_something(self):
        tools = Client(self, "--role", "operator").tools()
        acts = {name: tool["annotations"] for name, tool in tools.items() if not tool["annotations"]["readOnlyHint"]}
        self.assertLess({"send", "event_append", "job_enqueue", "job_retry", "job_cancel", "task_create", "task_run",
                         "schedule_set", "run_start", "run_cancel", "pause"}, set(acts))
        self.assertEqual((acts["schedule_delete"]["destructiveHint"], acts["schedule_set"]["idempotentHint"],
                          acts["send"]["idempotentHint"]), (True, True, False))
        self.assertEqual(tools["job_show"]["inputSchema"]["required"], ["id"])
        self.assertEqual(tools["job_show"]["inputSchema"]["properties"]["id"]["type"], "integer")


class Use(CliTest):
    def setUp(self):
        super().setUp()
        self.migrate()

    def start_worker(self):
        process = subprocess.Popen([Setup.pawl, "worker", "--kinds", "jobs", "--poll", "100ms"], env=self.env, cwd=self.dir,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, SECONDS_MAX)
        self.addCleanup(process.terminate)
        return process

    def test_lists_are_pages_of_limited_size(self):
        client = Client(self, "--role", "operator")
        for _ in range(5):
            client.call("job_enqueue", type="thing", payload={"text": "x" * 20000})
        first = client.call("job_list", limit=2)
        self.assertEqual(([job["id"] for job in first["items"]], first["more"]), ([1, 2], True))
        second = client.call("job_list", limit=2, cursor=first["next"])
        self.assertEqual([job["id"] for job in second["items"]], [3, 4])
        self.assertIn("cursor", client.fails("job_list", limit=2, cursor=first["next"], type="other"))
        self.assertIn("limit", client.fails("job_list", limit=0))
        self.assertIn("no argument", client.fails("job_list", colour="red"))

    def test_big_rows_make_a_page_shorter_and_none_is_lost(self):
        client = Client(self, "--role", "operator")
        for number in range(20):
            client.call("event_append", stream="big", events=[{"type": "t", "payload": {"number": number, "text": "x" * 9000}}])
        seen, cursor = [], None
        while True:
            page = client.ask("tools/call", {"name": "event_list", "arguments": {"stream": "big", **({"cursor": cursor} if cursor else {})}})
            content = page["result"]["structuredContent"]
            self.assertLessEqual(len(page["result"]["content"][0]["text"]), 65536)
            seen += [event["payload"]["number"] for event in content["items"]]
            cursor = content["next"]
            if cursor is None:
                break
        self.assertEqual(seen, list(range(20)))

    def test_an_agent_plans_runs_and_waits_within_its_scopes(self):
        self.ok("agent", "set", "planner", "tool:pawl.append", "operation:task.*", "operation:schedule.set")
        client = Client(self, "--role", "operator", "--agent", "planner")
        changing = {name for name, tool in client.tools().items() if not tool["annotations"]["readOnlyHint"]}
        self.assertEqual(changing, {"task_create", "task_run", "task_delete", "task_pause", "task_resume", "schedule_set"})
        self.assertEqual(client.call("task_create", name="notes", pipeline=PIPELINE)["agent"], "planner")
        self.assertEqual(client.call("schedule_set", name="nightly", task="notes", cron="0 3 * * *")["task"], "notes")
        job = client.call("task_run", name="notes")["id"]
        waits = client.start("tools/call", {"name": "job_wait", "arguments": {"id": job, "timeout_ms": 50000},
                                            "_meta": {"progressToken": "mine"}})
        self.assertEqual(client.call("job_why", id=job)["state"], "ready")  # what waits holds nothing up
        self.start_worker()
        result = client.answer(waits)["result"]["structuredContent"]
        self.assertEqual((result["ended"], result["state"], result["error"]), (True, "succeeded", None))
        self.assertTrue(any(note["params"]["progressToken"] == "mine" for note in client.notes
                            if note["method"] == "notifications/progress"), client.notes)
        self.assertEqual(client.call("job_wait", id=job)["state"], "succeeded")
        self.assertEqual(len(client.call("event_list", stream="notes")["items"]), 1)
        text = client.fails("job_cancel", id=job)
        self.assertIn("operation:job.cancel", text)
        self.assertIn("pawl agent set planner", text)
        self.assertEqual([(row["agent"], row["missing"]) for row in client.call("agent_refusals")["items"]],
                         [("planner", "operation:job.cancel")])
        done = [(row["actor"], row["action"]) for row in client.call("action_list")["items"] if row["action"] != "deploy"]
        self.assertEqual(done[:3], [("agent planner", "task.run"), ("agent planner", "schedule.set"),
                                    ("agent planner", "task.create")])

    def test_an_agent_cannot_reach_further_than_its_scopes(self):
        self.ok("agent", "set", "planner", "operation:*")
        self.ok("agent", "set", "other", "*")
        operator, client = Client(self, "--role", "operator"), Client(self, "--role", "operator", "--agent", "planner")
        text = client.fails("task_create", name="notes", pipeline=PIPELINE)
        self.assertIn("tool:pawl.append", text)
        self.assertIn("cannot act for", client.fails("task_create", name="notes", pipeline=PIPELINE, agent="other"))
        operator.call("task_create", name="theirs", pipeline=PIPELINE)
        operator.call("schedule_set", name="theirs", task="theirs", every="1h")
        for tool, arguments in (("task_create", {"name": "theirs", "pipeline": PIPELINE}), ("task_delete", {"name": "theirs"}),
                                ("schedule_set", {"name": "mine", "task": "theirs", "every": "1h"}),
                                ("schedule_pause", {"name": "theirs"}), ("schedule_delete", {"name": "theirs"})):
            self.assertIn("only its own", client.fails(tool, **arguments), tool)
        self.assertIn("lacks a scope", client.fails("task_run", name="theirs"))
        self.ok("agent", "disable", "planner")
        self.assertIn("disabled", client.fails("job_enqueue", type="x"))
        self.assertEqual(Client(self, "--agent", "nobody").call("job_list")["items"], [])

    def test_a_wait_ends_with_its_time_or_when_it_is_cancelled(self):
        client = Client(self, "--role", "operator")
        job = client.call("job_enqueue", type="thing")["id"]
        result = client.call("job_wait", id=job, timeout_ms=300)
        self.assertEqual((result["ended"], result["state"]), (False, "ready"))
        self.assertIn("no worker", result["explanation"])
        waits = client.start("tools/call", {"name": "job_wait", "arguments": {"id": job}})
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waits, "reason": "enough"}})
        self.assertEqual(client.ask("ping")["result"], {})
        client.call("job_cancel", id=job)
        self.assertIsNone(client.line(1), "a cancelled request is not answered")
        self.assertIn("there is no job 99", client.fails("job_wait", id=99))
        self.assertEqual(self.run_pawl("job", "wait", "99").code, 66)

    def test_runs_jobs_and_streams_are_resources(self):
        client = Client(self, "--role", "operator")
        templates = {row["uriTemplate"] for row in client.ask("resources/templates/list")["result"]["resourceTemplates"]}
        self.assertEqual(templates, {"pawl://job/{id}", "pawl://run/{id}", "pawl://stream/{name}"})
        self.assertEqual(client.ask("resources/list")["result"]["resources"], [])
        job = client.call("job_enqueue", type="thing", payload={"a": 1})["id"]
        client.call("event_append", stream="order 1/2", events=[{"type": "t", "payload": {}}])
        for uri, key, value in ((f"pawl://job/{job}", "type", "thing"), ("pawl://stream/order%201%2F2", "more", False)):
            content = client.ask("resources/read", {"uri": uri})["result"]["contents"][0]
            self.assertEqual((content["uri"], json.loads(content["text"])[key]), (uri, value))
        for uri in ("pawl://job/99", "pawl://job/x", "pawl://job/", "pawl://run/7", "pawl://stream/%zz", "file:///etc/passwd"):
            self.assertEqual(client.ask("resources/read", {"uri": uri})["error"]["code"], -32002, uri)
            self.assertEqual(client.ask("resources/read", {"uri": uri, "_meta": META})["error"]["code"], -32602, uri)
        self.assertEqual(client.ask("resources/read", {})["error"]["code"], -32602)


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
