#!/usr/bin/env python3
"""An agent that looks at what waits and decides when to look again. pawl runs it, as the tool `agent.think`; it talks to pawl over `pawl mcp`.

Usage: agent.py start     creates the task and runs it for the first time
       agent.py think     one turn: what a worker runs
"""
import datetime
import json
import subprocess
import sys

ME = "planner"
PIPELINE = {"steps": [{"id": "think", "uses": "agent.think", "timeout": "60s"}]}


class Pawl:
    """A connection to `pawl mcp` over standard input and output."""

    def __init__(self):
        self.process = subprocess.Popen(["pawl", "mcp", "--role", "operator", "--agent", ME, "--tools", "tools.json"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.number = 0
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": ME, "version": "1"})

    def ask(self, method, **params):
        self.number += 1
        print(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise SystemExit(result["content"][0]["text"])
        return result["structuredContent"]


def think(pawl):
    """A language model would decide here. This one waits a second longer each time, and stops when nothing is dead any more."""
    turn = len(pawl.call("event_list", stream="thoughts")["items"]) + 1
    dead = [message["id"] for message in pawl.call("message_list", state="dead")["items"]]
    for message in dead:
        pawl.call("message_retry", id=message)
    if dead:
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=turn)
        pawl.call("schedule_set", name="agent", task="agent", at=at.strftime("%Y-%m-%dT%H:%M:%SZ"))
    pawl.call("event_append", stream="thoughts", events=[{"type": "thought", "payload": {"turn": turn, "retried": len(dead)}}])
    print(json.dumps({"turn": turn, "retried": len(dead)}))


if sys.argv[1:] == ["start"]:
    here = Pawl()
    here.call("task_create", name="agent", pipeline=PIPELINE)
    print(here.call("task_run", name="agent")["answer"])
else:
    think(Pawl())
