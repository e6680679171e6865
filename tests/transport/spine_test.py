#!/usr/bin/env python3
"""What happened to jobs, passed on to a real Redis (and to a file): fields, length, order, kills of worker and broker.

Usage: spine_test.py PAWL_PROGRAM SOURCE_ROOT sqlite|postgres
Prints TAP; exit code 77 when Redis is not installed.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

import brokers
import transport_test

WAIT_SECONDS_MAX = 60
STREAM = "orchestrator:events"


class Fleet:
    """A store, its transports file, and the workers that use both."""

    def __init__(self, pawl, dialect):
        self.program, self.dir = pawl, pathlib.Path(tempfile.mkdtemp(prefix="pawl-spine-"))
        self.settings, self.log = self.dir / "transports.ini", open(self.dir / "log", "a", encoding="utf-8")
        self.env = dict(os.environ, PAWL_OUTPUT="json", DATABASE_URL=str(self.dir / "pawl.db"))
        self.schema, self.workers = f"spine_{uuid.uuid4().hex[:10]}", []
        if dialect == "postgres":
            self.env.update(DATABASE_URL=os.environ["PAWL_TEST_PG_URL"], PAWL_SCHEMA=self.schema)
        self.dialect = dialect
        self.pawl("migrate")
        (self.dir / "pipeline.json").write_text(json.dumps({"steps": [{"id": "a", "uses": "echo", "with": {"n": "${params.n}"}}]}))
        (self.dir / "broken.json").write_text(json.dumps({"steps": [{"id": "a", "uses": "broken"}]}))
        tools = {"tools": {"echo": {"exec": "/bin/cat"}, "broken": {"exec": "sh -c 'echo no >&2; exit 65'"}}}
        (self.dir / "tools.json").write_text(json.dumps(tools))
        self.env["PAWL_TOOLS"] = str(self.dir / "tools.json")

    def pawl(self, *words):
        done = subprocess.run([self.program, *words], env=self.env, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout.startswith(("[", "{")) else done.stdout

    def start(self, *more):
        self.workers.append(subprocess.Popen(
            [self.program, "worker", "--kinds", "jobs", "--poll", "100ms", "--heartbeat", "250ms", "--instance-lease", "2s",
             "--job-lease", "2s", "--transports", str(self.settings), "--on", "note=exec:/bin/true", *more],
            env=self.env, stderr=self.log, preexec_fn=brokers.die_with_parent))
        return self.workers[-1]

    def stop(self):
        for worker in self.workers:
            worker.terminate()
        codes = [worker.wait(40) for worker in self.workers]
        self.workers = []
        return codes

    def close(self):
        for worker in self.workers:
            worker.kill()
            worker.wait()
        self.log.close()
        if self.dialect == "postgres":
            subprocess.run(["psql", "-q", "-d", self.env["DATABASE_URL"], "-c", "SET client_min_messages = error; "
                            f'DROP SCHEMA IF EXISTS "{self.schema}", "{self.schema}_internal" CASCADE'], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)


def until(what):
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not what() and time.monotonic() < deadline:
        time.sleep(0.1)
    return what()


def entries(redis, stream=STREAM):
    """As redis-cli shows them: a list of dictionaries."""
    said = subprocess.run(["redis-cli", "-p", str(redis.port), "--json", "XRANGE", stream, "-", "+"], capture_output=True, text=True,
                          check=True).stdout
    return [dict(zip(fields[::2], fields[1::2])) for _, fields in json.loads(said)]


def added(redis, stream):
    """How many entries there ever were, those included that were cut off."""
    said = subprocess.run(["redis-cli", "-p", str(redis.port), "--json", "XINFO", "STREAM", stream], capture_output=True, text=True,
                          check=True).stdout
    return json.loads(said)["entries-added"] if said.startswith("{") else 0  # not there yet: an error in plain text


def payloads(redis):
    return [json.loads(entry["payload"]) for entry in entries(redis)]


def fields(tap, fleet, redis):
    """covers: J47"""
    fleet.settings.write_text(f"[transport events]\nurl = redis://127.0.0.1:{redis.port}\n[spine]\ntransport = events\n")
    fleet.pawl("task", "create", "report", "--pipeline", str(fleet.dir / "pipeline.json"))
    fleet.pawl("task", "run", "report", "--params", '{"n":7}')
    job = fleet.pawl("job", "enqueue", "--pipeline", str(fleet.dir / "broken.json"))["id"]
    fleet.start()
    until(lambda: len(entries(redis)) >= 2)
    found = {entry["event_type"]: entry for entry in entries(redis)}
    tap.case(all(list(entry) == ["task_id", "worker_id", "event_type", "timestamp", "payload"] for entry in found.values()),
             "an entry has the five fields", found)
    good, bad = found.get("job.succeeded", {}), found.get("job.dead", {})
    said, failed = json.loads(good.get("payload", "{}")), json.loads(bad.get("payload", "{}"))
    tap.case(good.get("task_id") == "report" and said.get("output") == {"a": {"n": 7}} and said.get("attempt") == 1 and said["error"] is None,
             "a job that succeeded: its task, its output", good)
    tap.case(bad.get("task_id") == str(job) and failed.get("job") == job and "no" in (failed.get("error") or "") and failed["output"] is None,
             "a job without a task that failed: its number, its error", bad)
    ids = {row["id"] for row in fleet.pawl("instance", "list")}
    tap.case({good.get("worker_id"), bad.get("worker_id")} == ids, "the worker's id", (good, ids))
    tap.case(abs(time.time() - time.mktime(time.strptime(good["timestamp"][:19], "%Y-%m-%dT%H:%M:%S")) + time.timezone) < 120,
             "the time", good["timestamp"])
    tap.case(fleet.stop() == [0], "the worker stops")


def kills(tap, fleet, redis):
    """Workers and the broker die meanwhile: every event arrives, in order but for what comes twice."""
    count = 200
    fleet.pawl("job", "enqueue", "note", "{}", "--count", str(count))
    first = max(entry["id"] for entry in payloads(redis)) + 1
    fleet.start()
    fleet.start()
    for turn in range(4):
        time.sleep(0.4)
        victim = fleet.workers.pop(0)
        victim.kill()
        victim.wait()
        fleet.start()
        if turn == 1:
            redis.crash()
    jobs = lambda: {p["job"] for p in payloads(redis) if p["id"] >= first}
    until(lambda: len(jobs()) >= count)
    codes = fleet.stop()
    rows = [p for p in payloads(redis) if p["id"] >= first]
    numbers = [p["id"] for p in rows]
    tap.case(len(jobs()) == count, f"{len(jobs())} of {count} jobs were told of, in {len(numbers)} entries; 4 workers and the broker were killed", codes)
    firsts = sorted(set(numbers), key=numbers.index)
    tap.case(len(set(numbers)) == len({json.dumps(p) for p in rows}), "what comes twice has the same id")
    # A number is drawn before its transaction commits, so neighbours may change places; nothing is passed over.
    tap.case(all(firsts[i] - max(firsts[:i + 1]) > -200 for i in range(len(firsts))), "about in the order of their numbers", firsts)


def length(tap, fleet, redis):
    """covers: J47"""
    fleet.settings.write_text(f"[transport events]\nurl = redis://127.0.0.1:{redis.port}\n"
                              "[spine other:events]\ntransport = events\nmax-length = 100\n")
    fleet.pawl("job", "enqueue", "note", "{}", "--count", "500")
    fleet.start("--concurrency", "64")
    until(lambda: added(redis, "other:events") >= 500)
    fleet.stop()
    found = entries(redis, "other:events")
    tap.case(100 <= len(found) < 400, f"another name, and about 100 entries are kept: {len(found)}")
    tap.case(len({json.loads(entry["payload"])["id"] for entry in found}) == len(found), "the latest, each once")


def elsewhere(tap, fleet):
    """A broker whose messages have no fields gets CloudEvents."""
    target = fleet.dir / "events.jsonl"
    fleet.settings.write_text(f"[transport log]\nurl = file:{target}\n[spine]\ntransport = log\n")
    fleet.pawl("job", "enqueue", "note", "{}", "--count", "3")
    worker = fleet.start("--until-idle")
    code = worker.wait(40)
    fleet.workers.clear()
    events = [json.loads(line) for line in target.read_text().splitlines()] if target.exists() else []
    tap.case(code == 0 and len(events) == 3 and all(e["type"] == "job.succeeded" and e["data"]["payload"]["type"] == "note" for e in events),
             "a file gets CloudEvents; what is there is passed on before the worker ends", events)


def wrong(tap, fleet):
    """covers: J22"""
    broker = "[transport events]\nurl = redis://127.0.0.1:1\n"
    for text, reason in (("[spine]\n", "names no transport"), ("[spine]\ntransport = nobody\n", "needs the name of a [transport NAME]"),
                         ("[spine]\ntransport = events\nmax-length = none\n", "max-length needs a number"),
                         ("[spine]\ntransport = events\n[spine x]\ntransport = events\n", "too many sections of this kind")):
        fleet.settings.write_text(broker + text)
        done = subprocess.run([fleet.program, "worker", "--kinds", "jobs", "--transports", str(fleet.settings)], env=fleet.env,
                              capture_output=True, text=True, check=False, timeout=30)
        tap.case(done.returncode == 65 and reason in done.stderr, f"refused: {reason}", f"{done.returncode} {done.stderr}")


def main():
    pawl, root, dialect = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    if dialect == "postgres" and "PAWL_TEST_PG_URL" not in os.environ:
        os.execv(f"{root}/tools/pg-throwaway", ["pg-throwaway", "run", "--", sys.executable, *sys.argv])
    tap, fleet = transport_test.Tap(), Fleet(pawl, dialect)
    try:
        with brokers.Redis() as redis:
            fields(tap, fleet, redis)
            kills(tap, fleet, redis)
            length(tap, fleet, redis)
        elsewhere(tap, fleet)
        wrong(tap, fleet)
    except brokers.Missing as problem:
        print(f"1..0 # SKIP {problem}")
        return brokers.SKIP_CODE
    except (RuntimeError, OSError, subprocess.SubprocessError) as problem:
        tap.case(False, "the test itself", f"{problem}\n{(fleet.dir / 'log').read_text()[-2000:]}")
    finally:
        fleet.close()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
