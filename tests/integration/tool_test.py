#!/usr/bin/env python3
"""Tools from outside: calls whose tool died, servers that print beside their messages, servers asked side by side."""
import json
import sys

import cli_support
from cli_support import CliTest

# A server that speaks MCP: it is slow to start or ends at once, says things beside its messages, or dies in a call, as its words say.
SERVER = """#!/usr/bin/env python3
import json, os, sys, time
how = sys.argv[1:]
if "ends" in how:
    sys.exit(1)
if "slow" in how:
    time.sleep(3)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    out = None
    if asked["method"] == "initialize":
        out = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif asked["method"] == "tools/list":
        out = {"tools": [{"name": "say", "description": "", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        if "dies" in how:
            os.kill(os.getpid(), 9)
        out = {"content": [{"type": "text", "text": "said"}]}
    for i in range(1000 if "floods" in how else 1 if "noisy" in how else 0):
        print("[INFO] starting up, 100%", flush=True)
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    answer.update({"result": out} if out is not None else {"error": {"code": -32601, "message": "what?"}})
    print(json.dumps(answer), flush=True)
"""


class ToolTest(CliTest):
    def setUp(self):
        super().setUp()
        self.migrate()
        self.server = self.dir / "server.py"
        self.server.write_text(SERVER)
        self.server.chmod(0o755)
        self.env["PAWL_TOOLS"] = str(self.dir / "tools.json")

    def tools(self, *servers, **programs):
        """Servers by the words that say how they are; "a-slow" is one more that is slow."""
        known = {name: {"command": [str(self.server), *name.split("-")]} for name in servers}
        (self.dir / "tools.json").write_text(json.dumps(
            {"servers": known, "tools": {name: {"exec": command} for name, command in programs.items()}}))

    def pipeline(self, *uses):
        path = self.dir / "pipeline.json"
        path.write_text(json.dumps({"steps": [{"id": f"s{i}", "uses": name} for i, name in enumerate(uses)]}))
        return str(path)

    def work(self):
        done = self.run_pawl("worker", "--kinds", "jobs", "--poll", "50ms", "--until-idle")
        self.assertEqual(done.code, 0, done)

    def test_a_call_whose_tool_died_may_have_happened(self):
        self.tools("dies", "fine", "ends", killed="sh -c 'kill -9 $$'", late="sleep 60", failed="sh -c 'exit 75'")
        for name in ("dies.say", "killed", "late"):
            self.refused(76, "may have happened", "tool", "call", name, "{}", "--timeout", "3s")
        self.assertEqual(self.ok("tool", "call", "fine.say", "{}")["text"], "said")
        # It was never asked, or it has answered.
        for name in ("ends.say", "failed"):
            said = self.refused(69, "", "tool", "call", name, "{}")
            self.assertNotIn("may have happened", said.err)
        # A step is tried again all the same.
        self.ok("job", "enqueue", "--max-attempts", "2", "--pipeline", self.pipeline("dies.say"))
        self.work()
        self.assertEqual(self.ok("audit", "list")[-1]["outcome"], "failed")

    def test_what_a_server_prints_beside_its_messages_is_left_out(self):
        self.tools("noisy", "floods")
        done = self.run_pawl("tool", "call", "noisy.say", "{}")
        self.assertEqual((done.code, json.loads(done.out)["text"]), (0, "said"), done)
        self.assertIn("event=mcp_noise", done.err)
        self.assertIn("starting up, 100%", done.err)
        done = self.run_pawl("tool", "call", "floods.say", "{}")
        self.assertEqual(done.code, 69, done)
        self.assertIn("are no messages", done.err)
        self.run_pawl("job", "enqueue", "--pipeline", self.pipeline("noisy.say"))
        self.work()
        self.assertTrue(self.ok("audit", "list")[0]["success"])

    def test_the_servers_of_a_pipeline_are_asked_side_by_side(self):
        names = ["a-slow", "b-slow", "c-slow", "d-slow"]
        self.tools(*names)
        path = self.pipeline(*[name + ".say" for name in names])
        self.refused(69, "cannot be looked up", "pipeline", "check", path, "--tools-timeout", "200ms")
        # One after the other they take 12 s; each asks for 3.
        self.ok("pipeline", "check", path, "--tools-timeout", "9s")
        self.ok("job", "enqueue", "--pipeline", path, "--tools-timeout", "9s")
        self.env["PAWL_TOOLS_TIMEOUT"] = "9s"
        self.work()
        self.assertTrue(self.ok("audit", "list")[0]["success"])


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
