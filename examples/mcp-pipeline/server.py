#!/usr/bin/env python3
"""A small MCP server over standard input and output, with two tools: the stock of an article, and an order for more of it."""
import json
import sys

STOCK = {"bolt": 3, "nut": 120}
ARTICLE = {"article": {"type": "string"}}
TOOLS = [
    {"name": "stock", "description": "How many of an article are there.",
     "inputSchema": {"type": "object", "properties": ARTICLE, "required": ["article"]}},
    {"name": "order", "description": "Orders an article.",
     "inputSchema": {"type": "object", "properties": {**ARTICLE, "count": {"type": "integer"}}, "required": ["article", "count"]}},
]


def call(name, arguments):
    if name == "stock":
        found = {"left": STOCK[arguments["article"]]}
    else:
        found = {"ordered": arguments["count"]}
    return {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    answer, params = {"jsonrpc": "2.0", "id": request["id"]}, request.get("params", {})
    if request["method"] == "initialize":
        answer["result"] = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "store", "version": "1"}}
    elif request["method"] == "tools/list":
        answer["result"] = {"tools": TOOLS}
    elif request["method"] == "tools/call":
        answer["result"] = call(params["name"], params["arguments"])
    elif request["method"] == "ping":
        answer["result"] = {}
    else:
        answer["error"] = {"code": -32601, "message": "method not found"}
    print(json.dumps(answer), flush=True)
