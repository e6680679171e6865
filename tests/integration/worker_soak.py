#!/usr/bin/env python3
"""Workers that are killed and stopped while they work, judged by an effect log that the engine does not write.

Usage: worker_soak.py --pawl PROGRAM --worker PROGRAM [--dialect sqlite|postgres] [--workers N] [--messages N]
       [--streams N] [--kills N] [--stops N] [--restarts N] [--outage SECONDS] [--seed N]

Handlers append "stream number token" lines. An entry with a token below the highest seen before it in its stream was
written by a zombie and is set aside; what remains must be in order and without holes: a number may only follow its
predecessor, and may only be repeated under a higher token. Nothing may be lost, nothing may become a dead letter.
Prints TAP.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LEASE_MS = 1500
DRAIN_SECONDS_MAX = 120
PAUSED_AFTER_SECONDS = 20  # ten checks, the last ones 2 s and more apart, have failed by then


def judge(path, streams, per_stream):
    """Returns (violations, zombies, reruns) of an effect log."""
    violations, zombies, reruns = [], 0, 0
    highest = {}  # stream -> highest token seen
    last = {}  # stream -> last number that counts
    most = {}  # stream -> highest number that counts
    with open(path, encoding="ascii") as log:
        for line in log:
            stream, number, token = line.split()[:3]
            number, token = int(number), int(token)
            if token < highest.get(stream, 0):
                zombies += 1
                continue
            if number > most.get(stream, 0) + 1:
                violations.append(f"hole: {stream} goes from {most.get(stream, 0)} to {number}")
            if number <= last.get(stream, 0):
                reruns += 1
                if token == highest.get(stream, 0):
                    violations.append(f"repeated under one token: {stream} {number} after {last[stream]}")
            elif number != last.get(stream, 0) + 1:
                violations.append(f"reordered: {stream} {number} after {last.get(stream, 0)}")
            highest[stream] = token
            last[stream] = number
            most[stream] = max(most.get(stream, 0), number)
    for stream in range(streams):
        found = most.get(f"s{stream}", 0)
        if found != per_stream:
            violations.append(f"lost: s{stream} ends at {found} of {per_stream}")
    return violations, zombies, reruns


def judge_outage(path, workers):
    """Returns (violations, checks, pauses): what the workers say while the server is away. Every failed check is counted,
    one by one; at the tenth in a row a warning says that the worker is paused; then it is ready again, and the count
    starts over. covers: P31 P32 P33 P34 P35"""
    violations, row, checks, paused, ready = [], {}, 0, set(), set()
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            pid, _, text = line.partition(" ")
            numbers = dict(word.split("=", 1) for word in text.split() if "=" in word)
            event = numbers.get("event")
            if event == "database_not_ready":
                checks += 1
                row[pid] = row.get(pid, 0) + 1
                if int(numbers["checks"]) != row[pid]:
                    violations.append(f"the counter says {numbers['checks']} after {row[pid]} checks")
            elif event == "worker_paused":
                paused.add(pid)
                if row.get(pid) not in (10, 100):
                    violations.append(f"paused after {row.get(pid)} checks")
            elif event == "database_ready":
                ready.add(pid)
                if int(numbers["after_checks"]) != row.get(pid, 0):
                    violations.append(f"ready after {numbers['after_checks']} checks, not {row.get(pid, 0)}")
                row[pid] = 0
    if len(paused) != workers or not paused <= ready:
        violations.append(f"{len(paused)} of {workers} workers said that they are paused, {len(ready)} that they go on")
    return violations, checks, len(paused)


class Soak:
    def __init__(self, args, url, directory, postgres=None):
        self.args, self.url, self.directory, self.postgres = args, url, directory, postgres
        self.random = random.Random(args.seed)
        self.log = os.path.join(directory, "effects")
        self.workers = []
        self.stopped = {}  # process -> when to continue it
        self.env = dict(os.environ, DATABASE_URL=url, EFFECT_US=str(args.effect_us), EFFECT_LEASE_MS=str(LEASE_MS),
                        EFFECT_INSTANCE_LEASE_MS=str(LEASE_MS), EFFECT_LOG_LEVEL="1" if args.outage else "2")
        self.errors = open(os.path.join(directory, "stderr"), "w+", encoding="utf-8")

    def pawl(self, *words, **kwargs):
        return subprocess.run([self.args.pawl, *words], env=self.env, capture_output=True, text=True, **kwargs)

    def start_worker(self):
        self.workers.append(subprocess.Popen([self.args.worker, self.url, self.log], env=self.env,
                                             stderr=self.errors))

    def send(self):
        per_stream = self.args.messages // self.args.streams
        lines = "".join(json.dumps({"type": "effect", "stream": f"s{s}", "payload": {"n": n}}) + "\n"
                        for n in range(1, per_stream + 1) for s in range(self.args.streams))
        done = self.pawl("send", "--ndjson", "-", input=lines)
        if done.returncode != 0:
            raise RuntimeError("send: " + done.stderr)
        return per_stream

    def left(self):
        done = self.pawl("status", "-o", "json")
        if done.returncode != 0:
            return None
        kinds = json.loads(done.stdout)["kinds"]
        outbox = next(kind for kind in kinds if kind["kind"] == "outbox")
        return outbox["ready"] + outbox["leased"] + outbox["aside"], outbox

    def wake(self, all_of_them=False):
        now = time.monotonic()
        for process, until in list(self.stopped.items()):
            if all_of_them or now >= until:
                del self.stopped[process]
                process.send_signal(signal.SIGCONT)

    def fault(self, kind):
        awake = [process for process in self.workers if process not in self.stopped]
        if kind == "restart":
            self.postgres.restart()
            return
        if kind == "outage":
            self.postgres.stop()
            time.sleep(self.args.outage)
            self.postgres.start()
            return
        if not awake:
            return
        victim = self.random.choice(awake)
        if kind == "kill":
            victim.kill()
            victim.wait()
            self.workers.remove(victim)
            self.start_worker()
        else:
            victim.send_signal(signal.SIGSTOP)
            self.stopped[victim] = time.monotonic() + LEASE_MS / 1000 + self.random.uniform(0.1, 0.8)

    def run_faults(self):
        faults = (["kill"] * self.args.kills + ["stop"] * self.args.stops + ["restart"] * self.args.restarts +
                  ["outage"] * (self.args.outage > 0))
        self.random.shuffle(faults)
        for kind in faults:
            self.fault(kind)
            until = time.monotonic() + self.random.uniform(self.args.pace / 6, self.args.pace)
            while time.monotonic() < until:
                self.wake()
                time.sleep(0.02)

    def drain(self):
        deadline = time.monotonic() + DRAIN_SECONDS_MAX
        while time.monotonic() < deadline:
            self.wake()
            answer = self.left()
            if answer is not None and answer[0] == 0:
                return answer[1]
            time.sleep(0.2)
        raise RuntimeError(f"not drained within {DRAIN_SECONDS_MAX} s: {self.left()}")

    def stop_workers(self):
        self.wake(all_of_them=True)
        for process in self.workers:
            if process.poll() is None:
                process.terminate()
        codes = [process.wait(60) for process in self.workers]
        self.workers = []
        return codes

    def close(self):
        for process in self.workers:
            process.kill()
            process.wait()
        self.errors.close()

    def tail(self):
        self.errors.flush()
        with open(self.errors.name, encoding="utf-8", errors="replace") as text:
            return "".join(text.readlines()[-30:])


class Postgres:
    """A schema of its own in the shared server, or a server of its own when that is to be ended and started again."""

    def __init__(self, own_server):
        self.dir, self.server, self.schema = None, None, "pawl"
        if not own_server and os.environ.get("PAWL_TEST_PG_URL"):
            self.url = os.environ["PAWL_TEST_PG_URL"]
            self.schema = "soak" + str(os.getpid())
            return
        path = str(ROOT / "tools" / "pg-throwaway")
        spec = importlib.util.spec_from_loader("pg_throwaway", importlib.machinery.SourceFileLoader("pg_throwaway", path))
        self.tool = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode = True
        spec.loader.exec_module(self.tool)
        try:
            self.bindir = self.tool.find_bindir()
            self.user, entry = self.tool.server_user()
        except self.tool.NoServer as problem:
            print(f"1..0 # SKIP {problem}")
            sys.exit(77)
        self.settings = argparse.Namespace(fsync=True, set=[])
        self.dir = self.tool.make_directory(entry)
        self.tool.init_data(self.bindir, self.dir, self.user)
        self.port = self.tool.free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self.start()

    def start(self):
        self.server = self.tool.launch(self.bindir, self.dir, self.user, self.settings, self.port)
        if not self.tool.wait_ready(self.bindir, self.dir, self.port, self.server):
            raise RuntimeError("the server does not start")

    def stop(self, how=signal.SIGQUIT):
        """SIGQUIT is -m immediate: every backend is gone at once, the next start recovers."""
        self.server.send_signal(how)
        self.server.wait(30)

    def restart(self):
        self.stop()
        self.start()

    def close(self):
        if self.server:
            self.stop()
        if self.dir:
            shutil.rmtree(self.dir, ignore_errors=True)


def soak(args, url, directory, postgres):
    test = Soak(args, url, directory, postgres)
    try:
        migrated = test.pawl("migrate")
        if migrated.returncode != 0:
            raise RuntimeError("migrate: " + migrated.stderr)
        per_stream = test.send()
        for _ in range(args.workers):
            test.start_worker()
        began = time.monotonic()
        test.run_faults()
        outbox = test.drain()
        seconds = time.monotonic() - began
        codes = test.stop_workers()
        violations, zombies, reruns = judge(test.log, args.streams, per_stream)
        if args.outage >= PAUSED_AFTER_SECONDS:
            test.errors.flush()
            said, checks, paused = judge_outage(test.errors.name, args.workers)
            violations += said
            print(f"# while it was away: {checks} failed checks, {paused} of {args.workers} workers warned that they are paused")
        for violation in violations[:20]:
            print("# " + violation)
        total = per_stream * args.streams
        if outbox["done"] != total or outbox["dead"] != 0:
            violations.append(f"done {outbox['done']} and dead {outbox['dead']} of {total}")
            print("# " + violations[-1])
        if any(codes):
            violations.append(f"exit codes {codes}")
            print("# " + violations[-1])
        check = test.pawl("check")
        if check.returncode != 0:
            violations.append("pawl check: " + check.stdout)
            print("# " + violations[-1])
        print(f"# {args.dialect}: {total} messages, {args.streams} streams, {args.workers} workers, {args.kills} kills, "
              f"{args.stops} stops, {args.restarts} server crashes, {args.outage:.0f} s outage in {seconds:.1f} s: {len(violations)} violations, {zombies} zombie entries, "
              f"{reruns} repeated, stale refused {outbox['stale']}")
        print("figures: " + json.dumps({"messages": total, f"kills_{args.dialect}": args.kills, f"stops_{args.dialect}": args.stops,
                                        "server_crashes": args.restarts, "stale_refused": outbox["stale"],
                                        "late_effects": zombies, "violations": len(violations)}))
        if violations:
            print("# " + test.tail().replace("\n", "\n# "))
        return not violations
    finally:
        test.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--dialect", default="sqlite", choices=["sqlite", "postgres"])
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--stops", type=int, default=5)
    parser.add_argument("--restarts", type=int, default=0)
    parser.add_argument("--outage", type=float, default=0, help="seconds without a server in the middle")
    parser.add_argument("--effect-us", type=int, default=5000)
    parser.add_argument("--pace", type=float, default=0.6)
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    if args.seed is None:
        args.seed = int.from_bytes(os.urandom(4), "little")
    print("1..1")
    directory = tempfile.mkdtemp(prefix="pawl-soak-")
    postgres = None
    try:
        url = os.path.join(directory, "soak.db")
        if args.dialect == "postgres":
            postgres = Postgres(args.restarts > 0 or args.outage > 0)
            url = postgres.url
            os.environ["PAWL_SCHEMA"] = postgres.schema
        good = soak(args, url, directory, postgres)
    except (RuntimeError, OSError, subprocess.SubprocessError) as problem:
        print(f"# {problem}")
        good = False
    finally:
        if postgres:
            postgres.close()
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{'ok' if good else 'not ok'} 1 - worker soak on {args.dialect}, seed {args.seed}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
