#!/usr/bin/env python3
"""The client that the MCP conformance runner starts: pawl, told by the scenario what to do with the server's address.

Usage: conformance_client.py PAWL URL (the scenario is in MCP_CONFORMANCE_SCENARIO)
"""
import json
import os
import subprocess
import sys
import tempfile

CALLS = {"initialize": ["tool", "list"],
         "tools_call": ["tool", "call", "server.add_numbers", '{"a":5,"b":3}'],
         "sse-retry": ["tool", "call", "server.test_reconnection", "{}"]}

pawl, url = sys.argv[1], sys.argv[-1]
with tempfile.NamedTemporaryFile("w", suffix=".json") as tools:
    json.dump({"servers": {"server": {"url": url, "allow_private": True}}}, tools)
    tools.flush()
    words = CALLS[os.environ["MCP_CONFORMANCE_SCENARIO"]]
    sys.exit(subprocess.run([pawl, *words, "--tools", tools.name, "--timeout", "20s"], check=False).returncode)
