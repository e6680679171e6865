"""Every operation, by HTTP, by command and as a tool of MCP over both transports, with the same input: the same answer or the
same refusal, and the same roles.

The OpenAPI document, the help and the tools are made from one table; this walks them, so an operation that a front cannot do is noticed.
"""
import json
import pathlib
import re
import sys
import urllib.parse

import server_support
from server_support import ServerTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"))

from stdio_test import Client  # noqa: E402 (found by the line above)

ABSENT = server_support.cli_support.ABSENT
PIPELINE = {"steps": [{"id": "one", "uses": "pawl.send", "with": {"type": "a"}}]}
RUN = {"name": "shop", "partitions": ["a", "b"], "page": {"uses": "echo", "size": 10}}

# What only one of the fronts is for.
ONLY_HTTP = re.compile(r"(server|session|lease|operation)\.|doctor\.(show|run|findings)|\w+\.\w+_many$|mcp$")
ONLY_TERMINAL = {"up", "server", "worker", "migrate", "monitor", "doctor", "version", "help", "mcp", "message.archive", "tool.call", "tool.ping"}
# Inputs that an operation needs to find something, by name; the rest are the examples of the document.
GIVEN = {"message.show": {"id": "message"}, "message.why": {"id": "message"}, "message.receptors": {"id": "message"}, "why": {"id": "message"},
         "message.cancel": {"id": "message"}, "message.list": {"state": "ready"}, "event.list": {"stream": "e-1"}, "stream.show": {"stream": "s-1"},
         "partition.show": {"stream": "s-1"}, "job.show": {"id": "job"}, "job.why": {"id": "job"}, "job.steps": {"id": "job"}, "job.wait": {"id": "job", "timeout_ms": 10}, "task.show": {"name": "t"},
         "task.steps": {"name": "t"}, "schedule.show": {"name": "t"}, "schedule.preview": {"name": "t", "every": None}, "run.show": {"run": "shop"},
         "run.partitions": {"run": "shop"}, "run.items": {"run": "shop"}, "alert.show": {"name": "worker-lost"}, "perspective.show": {"name": "p"},
         "perspective.wait": {"name": "p", "stream": "e-1", "at_version": 1, "timeout_ms": 10},
         "receptor.show": {"name": "r"}, "agent.set": {"name": "robot", "scopes": ["tool:a"]}, "task.run": {"name": "t"}, "schedule.run": {"name": "t"},
         "schedule.pause": {"name": "t"}, "schedule.resume": {"name": "t"}, "task.pause": {"name": "t"}, "task.resume": {"name": "t"},
         "alert.silence": {"name": "worker-lost"}, "alert.unsilence": {"name": "worker-lost"}, "alert.pause": {"name": "worker-lost"},
         "alert.resume": {"name": "worker-lost"}, "alert.test": {"name": "worker-lost"}, "receptor.set": {"name": "r", "on": ["a.*"]},
         "agent.disable": {"name": "robot"}, "perspective.pause": {"name": "p@1"}, "perspective.resume": {"name": "p@1"}, "run.pause": {"run": "shop"},
         "run.resume": {"run": "shop"}, "run.start": {"document": RUN, "key": "other"}, "limit.set": {"key": "k", "concurrency": 2},
         "setting.set": {"max_attempts": 7, "history_ms": 3600000}, "job.signal": {"wait_key": "w"}, "pause": {"scope": "topic", "name": "t"},
         "resume": {"scope": "topic", "name": "t"}, "task.create": {"name": "made", "pipeline": PIPELINE, "every": "15m"},
         "event.tail": {"stream": "e-1", "timeout_ms": 10, "limit": 1}, "snapshot.show": {"stream": "e-1", "name": "sum"},
         "snapshot.set": {"stream": "e-1", "name": "sum", "version": 9, "state": {"n": 1}}, "instance.show": {"id": "worker"},
         "perspective.wait": {"name": "p", "stream": "e-1", "at_version": 1, "position": None, "timeout_ms": 10},
         "perspective.set": {"definition": {"name": "q", "version": 1, "on": ["a"], "function": True}}}
# Differ between two looks.
VOLATILE = re.compile(r"now_(ms|at)$|clock_ahead|seconds_since|last_seen|beat|age|lag_ms$|eta|updated_|version$|id$|number|made_|since_|until_|next_|silence_|explanation")
STATUS = {400: (64, 65), 404: (66,), 409: (73, 74)}


class WalkTest(ServerTest):

    def commands(self):
        """Of each command, its inputs in order: (label, value) of what the help lists."""
        parts = re.split(r"^### pawl (.+)$", self.run_pawl("help", "markdown").out, flags=re.MULTILINE)[1:]
        return {parts[i].replace(" ", ".", 1).replace("-", "_"): re.findall(r"^- `(\S+?)(?: ([^`]+))?`: ", parts[i + 1], re.MULTILINE)
                for i in range(0, len(parts), 2)}

    def operations(self):
        for path, item in self.document["paths"].items():
            for method, row in item.items():
                name = row["operationId"].replace("_", ".", 1) if row["tags"] != ["system"] else row["operationId"]
                yield name, method.upper(), path, row

    def inputs(self, name, row):
        """(name, where, value) of everything that is given."""
        given = GIVEN.get(name, {})
        body = row.get("requestBody", {}).get("content", {}).get("application/json", {})
        for one in (part for part in row["parameters"] if "$ref" not in part):
            value = given.get(one["name"], 100 if one["name"] == "limit" else one.get("example"))
            yield one["name"], one["in"], self.known.get((name, one["name"]), value)
        for key in body.get("schema", {}).get("properties", {}):
            yield key, "body", given.get(key, body["example"].get(key))

    def http(self, method, path, given, role="operator"):
        parts = {key: value for key, where, value in given if where == "path"}
        path = re.sub(r"\{(\w+)\}", lambda m: urllib.parse.quote(str(parts[m.group(1)]), safe=""), path)
        query = {key: value for key, where, value in given if where == "query" and value is not None}
        body = {key: value for key, where, value in given if where == "body" and value is not None}
        return self.request(method, path + ("?" + urllib.parse.urlencode(query) if query else ""), None if method == "GET" else body, role=role)

    def command(self, name, takes, given):
        """The same as words and flags."""
        flags = {label[2:].replace("-", "_"): value for label, value in takes if label.startswith("--")}
        words, args = [], []
        for key, _, value in given:
            flag = key if key in flags else key.removesuffix("_ms") if key.removesuffix("_ms") in flags else None
            if value is None:
                continue
            if flag is None:
                words += [str(one) for one in value] if isinstance(value, list) else [value]
            elif value is not False:
                args.append("--" + flag.replace("_", "-"))
                args += [] if value is True else [f"{value}ms" if flags[flag] == "DURATION" and key != "every" else value]
        files = any(value == "FILE" for _, value in takes) or any(label == "FILE" for label, _ in takes)
        def text(value):
            if files and isinstance(value, dict) and value in (PIPELINE, RUN) or files and value == "SELECT 1":
                path = self.dir / "input.json"
                path.write_text(value if isinstance(value, str) else json.dumps(value))
                return str(path)
            return value if isinstance(value, str) else json.dumps(value)
        args += ["--yes"] if "yes" in flags else []
        return self.run_pawl(*name.replace(".", " ", 1).replace("_", "-").split(), *map(text, words), *map(text, args), "-o", "json")

    def alike(self, value):
        """Without what two looks differ in."""
        if isinstance(value, dict):
            return {key: self.alike(one) for key, one in value.items() if not VOLATILE.search(key)}
        return [self.alike(one) for one in value] if isinstance(value, list) else value

    def prepare(self):
        self.migrate()
        message = self.ok("send", "order.created", '{"n": 1}', "--stream", "s-1")["id"]
        job = self.ok("job", "enqueue", "report.make", '{"day": 1}')["id"]
        self.ok("event", "append", "e-1", "OrderCreated", "{}")
        (self.dir / "t.json").write_text(json.dumps(PIPELINE))
        self.ok("task", "create", "t", "--pipeline", str(self.dir / "t.json"), "--every", "15m")
        (self.dir / "run.json").write_text(json.dumps(RUN))
        self.ok("run", "start", str(self.dir / "run.json"), "--key", "shop")
        (self.dir / "p.json").write_text(json.dumps({"name": "p", "version": 1, "on": ["*"], "exec": "true"}))
        self.ok("perspective", "set", str(self.dir / "p.json"))
        self.ok("receptor", "set", "r", "a.*")
        self.ok("agent", "set", "robot", "tool:a")
        self.ok("snapshot", "set", "e-1", "sum", "1", '{"n": 0}')
        made = {"message": message, "job": job, "worker": self.register("outbox", 600000)}
        self.known = {(name, key): made[value] for name, row in GIVEN.items() for key, value in row.items()
                      if isinstance(value, str) and value in made}

    def tool(self, name, given, role):
        """The result of the same as a tool over HTTP, and over standard input and output."""
        params = {"name": name.replace(".", "_"), "arguments": {key: value for key, _, value in given if value is not None}}
        answer = self.request("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, role=role,
                              headers={"MCP-Protocol-Version": "2025-11-25", "Accept": "application/json"})
        return answer.json()["result"], self.clients[role].ask("tools/call", params)["result"]

    def compare(self, mine, theirs, method):
        """What a front said, and HTTP: all of it when they only looked, the names of the members otherwise."""
        if set(theirs) == {"items", "next", "more"} and not (isinstance(mine, dict) and "items" in mine):
            theirs = theirs["items"]
        mine = mine[0] if isinstance(mine, list) and isinstance(theirs, dict) else mine  # a command does it to several
        theirs = theirs[0] if isinstance(theirs, list) and isinstance(mine, dict) else theirs
        if method == "GET":
            self.assertEqual(self.alike(mine), self.alike(theirs))
        elif isinstance(mine, dict):
            self.assertEqual(set(mine), set(theirs))

    def said_refusal(self, said, detail, status):
        self.assertIn(said.code, STATUS[status], (detail, said))
        text = json.loads(said.err)["error"] if said.err else said.json()[0]["answer"]  # of several, each has an answer
        self.assertIn(text.replace("--", "").replace("-", "_"), (detail.replace("-", "_"), "not found"), said)

    def test_every_operation_is_the_same_on_all_fronts(self):
        self.prepare()
        self.start_server("--lease-api")
        self.clients = {role: Client(self, "--role", role) for role in ("viewer", "operator")}
        self.document = self.get("/v1/openapi.json")
        commands, seen, compared = self.commands(), set(), 0
        for name, method, path, row in self.operations():
            if ONLY_HTTP.match(name):
                continue
            seen.add(name)
            with self.subTest(operation=name):
                self.assertIn(name, commands)
                given = list(self.inputs(name, row))
                if row["x-role"] == "operator":
                    self.assertEqual(self.http(method, path, given, role="viewer").status, 403)
                    for result in self.tool(name, given, "viewer"):
                        self.assertIn("refused: this connection may only look", result["content"][0]["text"])
                answer, said = self.http(method, path, given), self.command(name, commands[name], given)
                tools = self.tool(name, given, "operator")
                gone = method == "DELETE" and said.code == STATUS[404][0]  # the first has done it
                if answer.status >= 300:
                    detail = answer.json()["detail"]
                    self.said_refusal(said, detail, answer.status)
                    for result in tools:
                        self.assertTrue(result.get("isError"), result)
                        self.assertIn(detail.replace("pawl ", ""), result["content"][0]["text"].replace("pawl ", ""))
                elif not gone:
                    # A wait that was too short says so by its exit code.
                    self.assertEqual(said.code, 75 if name.endswith(".wait") else 0, f"{answer.body} {said}")
                    mine = [json.loads(line) for line in said.out.splitlines()] if name == "event.tail" else said.json()
                    self.compare(mine, answer.json(), method)
                    for result in tools:
                        self.assertNotIn("isError", result, result)
                        self.compare(result["structuredContent"], answer.json(), method)
                compared += 1
        self.assertEqual(set(commands) - seen, ONLY_TERMINAL & set(commands))
        self.assertGreater(compared, 90)


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
