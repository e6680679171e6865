"""Carries out clients/scenario.json with the Python client, sync or asyncio. Prints TAP.

Usage: runner.py sync|async SCENARIO sql|http   with URL, SCHEMA, TOKEN, TOKEN_WORKER, CUT, CLOSED, PAWL in the environment
"""
import asyncio
import dataclasses
import json
import logging
import os
import re
import socket
import subprocess
import sys
import threading
import time
import traceback

import pawl

MODE, FILE, SURFACE = sys.argv[1:4]
ENV = os.environ
SAVED = {}
ASYNC = MODE == "async"


def client_of(url=None, **options):
    if SURFACE == "sql":
        return (pawl.AsyncSqlClient if ASYNC else pawl.SqlClient)(url or ENV["URL"], **(options or {"schema": ENV["SCHEMA"]}))
    tokens = {"token": ENV["TOKEN"], "worker_token": ENV["TOKEN_WORKER"]}
    return (pawl.AsyncHttpClient if ASYNC else pawl.HttpClient)(url or ENV["URL"], **tokens)


def snake(name):
    return re.sub(r"([A-Z])", lambda found: "_" + found.group(1).lower(), name)


def options_of(options):
    """The scenario's names and milliseconds as this client has them."""
    named = {snake(name): value for name, value in fill(options or {}).items()}
    return {name.removesuffix("_ms"): value / 1000 if name.endswith("_ms") else value for name, value in named.items()}


def fill(value):
    if isinstance(value, str) and re.fullmatch(r"\$\w+", value):
        return SAVED[value[1:]]
    if isinstance(value, list):
        return [fill(one) for one in value]
    return {key: fill(one) for key, one in value.items()} if isinstance(value, dict) else value


def differs(expected, got, path="it"):
    """Members that are not expected may be anything."""
    if dataclasses.is_dataclass(got):
        got = vars(got)
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return f"{path} is {got!r}, not {len(expected)} rows"
        return next(filter(None, (differs(one, got[n], f"{path}[{n}]") for n, one in enumerate(expected))), None)
    if isinstance(expected, dict):
        return next(filter(None, (differs(one, (got or {}).get(key, (got or {}).get(snake(key))), f"{path}.{key}")
                                  for key, one in expected.items())), None)
    return None if expected == got or (str(expected) == str(got) and not isinstance(expected, bool)) else f"{path} is {got!r}, not {expected!r}"


def cut_next():
    with socket.create_connection(("127.0.0.1", int(ENV["CUT"]))) as control:
        control.recv(1)  # it closes when it has heard


class Work:
    """One worker of the scenario and what its handlers were called with."""

    def __init__(self, client, step, loop):
        self.step, self.loop, self.calls, self.left, self.during = step, loop, [], step["calls"], None
        self.worker = client.worker("scenario", **{"concurrency": 4, "wait": 2.0, **options_of(step.get("options"))})
        self.client, self.lock = client, threading.Lock()
        for row in step["handlers"]:
            script = list(row["script"])
            decorate = self.worker.job(row["job"]) if "job" in row else self.worker.message(row["message"], kind=row.get("kind", "outbox"))
            decorate(self.coroutine_of(script) if ASYNC else self.function_of(script))

    def begin(self, item):
        with self.lock:
            SAVED["instance"] = self.worker._leases.instance
            call = {**vars(item), "aborted": False}
            self.calls.append(call)
            if self.during is None:
                self.during = asyncio.run_coroutine_threadsafe(steps(self.step.get("during", []), self.client, self.worker), self.loop)
            return call

    def end(self, call, context):
        call["aborted"] = context.signal.aborted
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.worker.stop()

    @staticmethod
    def verdict(step):
        if "throw" in step:
            raise RuntimeError(step["throw"])
        if "retry" in step:
            raise pawl.Retry(step["retry"], step["afterMs"] / 1000)
        if "reject" in step:
            raise pawl.Reject(step["reject"])
        if "snooze" in step:
            raise pawl.Snooze(step["snooze"] / 1000)
        return step.get("output")

    def function_of(self, script):
        def run(item, context):
            call = self.begin(item)
            try:
                step = script.pop(0)
                step = {} if step == "done" else step
                if step == "until aborted":
                    context.signal.wait(30)
                    raise RuntimeError("it was aborted")
                if "progress" in step:
                    context.progress(step["progress"])
                time.sleep(step.get("sleep", 0) / 1000)
                if "finish" in step:
                    import psycopg
                    with psycopg.connect(ENV["URL"]) as own:
                        context.finish(own, step["finish"])
                return self.verdict(step)
            finally:
                self.end(call, context)
        return run

    def coroutine_of(self, script):
        async def run(item, context):
            call = self.begin(item)
            try:
                step = script.pop(0)
                step = {} if step == "done" else step
                if step == "until aborted":
                    await asyncio.sleep(30)
                if "progress" in step:
                    await context.progress(step["progress"])
                await asyncio.sleep(step.get("sleep", 0) / 1000)
                if "finish" in step:
                    import psycopg
                    async with await psycopg.AsyncConnection.connect(ENV["URL"]) as own:
                        await context.finish(own, step["finish"])
                return self.verdict(step)
            finally:
                self.end(call, context)
        return run

    async def run(self):
        late = threading.Timer(30, self.worker.stop)
        late.start()
        if ASYNC:
            await self.worker.run_async(signals=False)
        else:
            await asyncio.to_thread(self.worker.run, signals=False)
        late.cancel()
        if self.during is not None:
            await asyncio.wrap_future(self.during)
        return self.calls


async def call(on, name, args, options):
    if name == "append":
        args = [args[0], [pawl.Event(**event) for event in args[1]]]
    if ASYNC:
        return await getattr(on, name)(*args, **options)
    return await asyncio.to_thread(getattr(on, name), *args, **options)


async def transaction(step):
    import psycopg
    if ASYNC:
        async with await psycopg.AsyncConnection.connect(ENV["URL"]) as own:
            await steps(step["steps"], pawl.AsyncSqlClient(own, schema=ENV["SCHEMA"]))
            await (own.rollback() if step["end"] == "ROLLBACK" else own.commit())
    else:
        with psycopg.connect(ENV["URL"]) as own:
            await steps(step["steps"], pawl.SqlClient(own, schema=ENV["SCHEMA"]))
            (own.rollback if step["end"] == "ROLLBACK" else own.commit)()


async def run_pawl(args):
    command = [ENV["PAWL"], *map(str, fill(args)), *([] if args[0] == "worker" else ["-o", "json"])]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60, check=True)
    text = done.stdout.strip()
    return [json.loads(line) for line in text.split("\n")] if "\n" in text and text[0] != "[" else json.loads(text) if text else None


async def act(step, on, worker):
    name = step["do"]
    if name == "worker":
        return await Work(on, step, asyncio.get_running_loop()).run()
    if name == "stop":
        return worker.stop()
    if name == "cut":
        return await asyncio.to_thread(cut_next)
    if name == "terminate":  # every connection of this run but the one that does it
        import psycopg
        async with await psycopg.AsyncConnection.connect(ENV["URL"]) as own:
            await own.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s AND pid <> pg_backend_pid()", [ENV["SCHEMA"]])
        return None
    if name == "file":
        with open(step["name"], "w", encoding="utf-8") as file:
            return file.write(step["text"])
    if name == "elsewhere":
        scheme = "postgres://nobody@" if SURFACE == "sql" else "http://"
        return await call(client_of(scheme + "127.0.0.1:" + ENV["CLOSED"]), "send", ["t"], {})
    if name == "pawl":
        return await run_pawl(step["args"])
    if name == "transaction":
        return await transaction(step)
    return await call(on, snake(name), fill(step["args"]), options_of(step.get("options")))


async def steps(rows, on, worker=None):
    for step in rows:
        if step.get("surface", SURFACE) != SURFACE:
            continue
        try:
            got = await act(step, on, worker)
        except pawl.PawlError as error:
            if error.code == step.get("error"):
                continue
            raise AssertionError(f"{str(step)[:200]}: {error!r}") from error
        assert "error" not in step, f"{step}: no error, but {got!r}"
        if "save" in step:
            SAVED[step["save"]] = got
        if step.get("any order"):
            got.sort(key=lambda row: row["type"], reverse=True)
        wrong = differs(fill(step["expect"]), got) if "expect" in step else None
        assert wrong is None, f"{str(step)[:200]}: {wrong}; all of it: {got!r}"


async def main():
    with open(FILE, encoding="utf-8") as file:
        cases = [case for case in json.load(file)["cases"] if case.get("surface", SURFACE) == SURFACE and ENV.get("CASE", "") in case["name"]]
    client, failed = client_of(), 0
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        try:
            await steps(case["steps"], client)
            print(f"ok {number} - {case['name']}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok {number} - {case['name']}", flush=True)
            print("\n".join("# " + line for line in traceback.format_exc().splitlines()), flush=True)
    return 1 if failed else 0


logging.getLogger("pawl").setLevel(logging.CRITICAL)
sys.exit(asyncio.run(main()))
