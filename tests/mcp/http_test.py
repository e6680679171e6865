#!/usr/bin/env python3
"""MCP over HTTP, with plain requests.

Usage: http_test.py PAWL WORKER_HELPER SOURCE_ROOT sqlite|postgres
"""
import http.client
import json
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
import server_support  # noqa: E402
from server_support import SECONDS_MAX, ServerTest  # noqa: E402

VERSION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
BOTH = "application/json, text/event-stream"


class Http(ServerTest):
    def setUp(self):
        super().setUp()
        self.process = self.start_server()

    def open(self, message, role="operator", headers=None, method="POST"):
        """A connection whose answer has begun."""
        link = http.client.HTTPConnection(self.address, timeout=SECONDS_MAX)
        self.addCleanup(link.close)
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        all_headers = {"Content-Type": "application/json", "Accept": BOTH}
        if role is not None:
            all_headers["Authorization"] = f"Bearer {self.tokens[role]}"
        all_headers.update(headers or {})
        link.request(method, "/mcp", body, all_headers)
        return link.getresponse()

    def send(self, message, **more):
        answer = self.open(message, **more)
        text = answer.read()
        return answer, json.loads(text) if text else None

    def older(self, method, params=None, **more):
        """A request of 2025-11-25."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self.send(message, headers={"MCP-Protocol-Version": "2025-11-25", **more.pop("headers", {})}, **more)[1]

    def newer(self, method, params=None, headers=None, **more):
        """A request of 2026-07-28, with its headers; None as a value removes one."""
        params = dict(params or {}, _meta=dict(META, **(params or {}).get("_meta", {})))
        own = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        if "name" in params or "uri" in params:
            own["Mcp-Name"] = params.get("name") or params.get("uri")
        own.update(headers or {})
        return self.send({"jsonrpc": "2.0", "id": "a", "method": method, "params": params},
                         headers={key: value for key, value in own.items() if value is not None}, **more)

    def call(self, tool, role="operator", headers=None, **arguments):
        return self.older("tools/call", {"name": tool, "arguments": arguments}, role=role, headers=headers or {})["result"]

    def test_the_older_protocol_needs_no_session(self):
        answer, greeting = self.send({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                                      "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}})
        self.assertEqual((answer.status, answer.headers["Content-Type"], answer.headers["Mcp-Session-Id"]),
                         (200, "application/json", None))
        self.assertEqual(greeting["result"]["protocolVersion"], "2025-11-25")
        answer, body = self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.assertEqual((answer.status, body), (202, None))
        self.assertTrue(self.older("tools/list")["result"]["tools"])
        self.assertEqual(self.older("no/such")["error"]["code"], -32601)
        for method in ("GET", "DELETE"):
            answer, _ = self.send(b"", method=method)
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, "POST"))

    def test_the_newer_protocol_checks_its_headers(self):
        answer, found = self.newer("server/discover")
        self.assertEqual((answer.status, found["id"], found["result"]["resultType"]), (200, "a", "complete"))
        answer, said = self.newer("tools/call", {"name": "job_list", "arguments": {}})
        self.assertEqual((answer.status, said["result"]["structuredContent"]["items"]), (200, []))
        encoded = {"Mcp-Name": "=?base64?am9iX2xpc3Q=?="}
        self.assertEqual(self.newer("tools/call", {"name": "job_list"}, headers=encoded)[0].status, 200)
        for headers in ({"Mcp-Method": None}, {"Mcp-Method": "tools/list"}, {"Mcp-Name": None}, {"Mcp-Name": "job_show"},
                        {"MCP-Protocol-Version": None}, {"MCP-Protocol-Version": "2025-11-25"}, {"Mcp-Name": "=?base64?!!?="}):
            answer, said = self.newer("tools/call", {"name": "job_list", "arguments": {}}, headers=headers)
            self.assertEqual((answer.status, said["error"]["code"]), (400, -32020), headers)
        answer, said = self.newer("ping")
        self.assertEqual((answer.status, said["error"]["code"]), (404, -32601))
        answer, said = self.newer("server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "v9"}},
                                  headers={"MCP-Protocol-Version": "v9"})
        self.assertEqual((answer.status, said["error"]["code"], said["error"]["data"]["requested"]), (400, -32022, "v9"))
        answer, said = self.send({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {}},
                                 headers={"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list"})
        self.assertEqual((answer.status, said["error"]["code"]), (400, -32602))
        for text, code in ((b"{", -32700), (b"[]", -32600)):
            answer, said = self.send(text)
            self.assertEqual((answer.status, said["error"]["code"]), (400, code))

    def test_the_role_of_the_token_decides(self):
        self.assertEqual(self.send({}, role=None)[0].status, 401)
        self.assertEqual(self.send({}, role="worker")[0].status, 403)
        self.assertEqual(self.send({}, headers={"Origin": "http://evil.example"})[0].status, 403)
        self.assertEqual(self.send({}, headers={"Host": "evil.example"})[0].status, 421)
        text = self.call("job_enqueue", role="viewer", type="x")["content"][0]["text"]
        self.assertIn("operator's token", text)
        job = self.call("job_enqueue", type="x", payload={"secret": 1})["structuredContent"]["id"]
        for role, payload in (("operator", {"secret": 1}), ("viewer", None)):
            self.assertEqual(self.call("job_show", role=role, id=job)["structuredContent"]["payload"], payload)
        self.assertEqual([(row["actor"], row["action"]) for row in self.call("action_list")["structuredContent"]["items"]],
                         [("http operator", "job.enqueue")])

    def test_an_agent_is_held_to_its_scopes(self):
        self.call("agent_set", name="planner", scopes=["operation:job.enqueue", "job:x"])
        as_agent = {"Pawl-Agent": "planner"}
        self.assertNotIn("isError", self.call("job_enqueue", headers=as_agent, type="x"))
        refused = self.call("job_cancel", headers=as_agent, id=1)
        self.assertIn("operation:job.cancel", refused["content"][0]["text"])
        self.assertIn("operation:job.cancel", json.dumps(self.call("agent_refusals")["structuredContent"]))

    def test_every_tool_needs_its_own_scope_and_no_other(self):
        """covers: J48; PAWL_TEST_FULL=1: every tool with every scope."""
        changing = sorted(name for name, tool in self.tools().items() if not tool["annotations"]["readOnlyHint"])
        self.assertGreater(len(changing), 40)
        operations = {name: name.replace("_", ".", 1) for name in changing}
        full = os.environ.get("PAWL_TEST_FULL") == "1"
        for at, mine in enumerate(changing):
            self.call("agent_set", name="one", scopes=[f"operation:{operations[mine]}", "tool:*", "job:*"])
            headers = {"Pawl-Agent": "one"}
            listed = {name for name, tool in self.tools(headers=headers).items() if not tool["annotations"]["readOnlyHint"]}
            self.assertEqual(listed, {mine})
            for other in changing if full else {mine, *(changing[(at + step) % len(changing)] for step in (1, 7))}:
                answer = self.older("tools/call", {"name": other, "arguments": {"no such": 1}}, headers=headers)["result"]
                missing = f"lacks the scope 'operation:{operations[other]}'"
                self.assertTrue(answer["isError"])
                self.assertEqual(missing in answer["content"][0]["text"], other != mine, (mine, other, answer))
        for scopes, expected in ((["*"], set(changing)), (["operation:*"], set(changing)), (["tool:*"], set()), ([], set()),
                                 (["operation:job.*"], {name for name in changing if name.startswith("job_")})):
            self.call("agent_set", name="one", scopes=scopes)
            listed = {name for name, tool in self.tools(headers=headers).items() if not tool["annotations"]["readOnlyHint"]}
            self.assertEqual(listed, expected, scopes)

    def tools(self, role="operator", headers=None):
        found, params = {}, {}
        while params is not None:
            page = self.older("tools/list", params, role=role, headers=headers or {})["result"]
            found.update({tool["name"]: tool for tool in page["tools"]})
            params = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        return found

    def test_every_operation_is_a_tool_with_the_same_inputs_and_role(self):
        """The OpenAPI document and the list of tools come from one table; tests/server/walk_test.py compares the answers."""
        tools, viewed, routes = self.tools(), self.tools("viewer"), {}
        for path, item in self.get("/v1/openapi.json")["paths"].items():
            routes.update({operation["operationId"]: operation for operation in item.values()})
        self.assertLessEqual(set(tools), set(routes))
        own = {name for name in set(routes) - set(tools)
               if not name.startswith(("server_", "session_", "lease_", "operation_", "doctor_")) and not name.endswith("_many")}
        self.assertEqual(own, {"mcp"})
        for name, tool in tools.items():
            operation = routes[name]
            with self.subTest(name):
                inputs = {parameter["name"] for parameter in operation["parameters"] if "name" in parameter}
                inputs |= set(operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
                              .get("properties", {}))
                self.assertEqual(set(tool["inputSchema"]["properties"]), inputs)
                self.assertEqual(name in viewed, operation["x-role"] == "viewer")

    def frames(self, answer):
        """The messages of an event stream, until it ends."""
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])

    def wait_for(self, job, token="p", seconds=15, accept=BOTH):
        params = {"name": "job_wait", "arguments": {"id": job, "timeout_ms": seconds * 1000}, "_meta": {"progressToken": token}}
        return self.open({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}, headers={"Accept": accept})

    def test_a_long_wait_reports_progress_as_a_stream(self):
        job = self.call("job_enqueue", type="x")["structuredContent"]["id"]
        answer = self.wait_for(job)
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/event-stream"))
        frames = self.frames(answer)
        first = next(frames)
        self.assertEqual((first["method"], first["params"]["progressToken"], first["params"]["message"]),
                         ("notifications/progress", "p", "ready"))
        self.call("job_cancel", id=job)
        last = list(frames)[-1]
        self.assertEqual(last["id"], 7)
        self.assertEqual(last["result"]["structuredContent"]["state"], "cancelled")

    def test_a_wait_ends_with_its_time_also_without_a_stream(self):
        job = self.call("job_enqueue", type="x")["structuredContent"]["id"]
        for accept in (BOTH, "application/json"):
            answer = self.wait_for(job, seconds=1, accept=accept)
            said = list(self.frames(answer))[-1] if accept == BOTH else json.loads(answer.read())
            self.assertIs(said["result"]["structuredContent"]["ended"], False)

    def test_clients_that_leave_and_many_that_wait_do_no_harm(self):
        job = self.call("job_enqueue", type="x")["structuredContent"]["id"]
        for _ in range(30):
            self.wait_for(job).close()
        answers = [None] * 20

        def one(index):
            answers[index] = list(self.frames(self.wait_for(job, token=index)))[-1]

        threads = [threading.Thread(target=one, args=(index,)) for index in range(len(answers))]
        for thread in threads:
            thread.start()
        time.sleep(1)
        self.assertEqual(self.call("job_why", id=job)["structuredContent"]["state"], "ready")  # nothing is held up
        self.call("job_cancel", id=job)
        for thread in threads:
            thread.join(SECONDS_MAX)
        self.assertEqual({answer["id"] for answer in answers}, {7})

    def test_the_server_stops_while_clients_wait(self):
        job = self.call("job_enqueue", type="x")["structuredContent"]["id"]
        answer = self.wait_for(job)
        frames = self.frames(answer)
        next(frames)
        began = time.monotonic()
        self.stop_server(self.process)
        self.assertLess(time.monotonic() - began, 10)
        for frame in frames:
            self.assertIn("stopping", frame.get("error", {}).get("message", "stopping"))


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
