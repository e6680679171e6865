#!/usr/bin/env python3
"""Workers in a world that is against them: cut connections, a full disk, stopped process groups, clocks that jump.

Each test sends messages, lets workers handle them while the world misbehaves, and judges by an effect log that the engine
does not write (worker_soak.judge): nothing lost, nothing reordered, nothing repeated under one token; then the counters,
the invariants and the exit codes. covers: J17 J53 J56 B3.8
"""
import contextlib
import json
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import uuid

import cli_support
import worker_soak
from cli_support import EXIT_CODES, CliTest, Setup

LEASE_MS = 1500


class Proxy:
    """Between a client and PostgreSQL: passes everything on, and cuts connections at the worst moments."""

    def __init__(self, url, seed):
        host, port = url.split("@")[1].split("/")[0].rsplit(":", 1)
        self.server = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = url.replace(f"{host}:{port}", f"127.0.0.1:{self.listener.getsockname()[1]}")
        self.random = random.Random(seed)
        self.share = 0.0  # of what the client says, so much is cut
        self.passes = threading.Event()  # cleared: nothing comes through any more, and nobody is told
        self.passes.set()
        self.cuts = {"request lost": 0, "half a request": 0, "answer lost": 0}
        self.lock = threading.Lock()
        self.closing = False
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while not self.closing:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.relay, args=(client,), daemon=True).start()

    def choose(self):
        with self.lock:
            if self.random.random() >= self.share:
                return None
            how = self.random.choice(list(self.cuts))
            self.cuts[how] += 1
            return how

    def relay(self, client):
        try:
            self.passes.wait()
            with client, socket.create_connection(self.server) as server:
                said = 0
                while True:
                    for ready in select.select([client, server], [], [])[0]:
                        self.passes.wait()
                        data = ready.recv(1 << 16)
                        if not data:
                            return
                        if ready is server:
                            client.sendall(data)
                            continue
                        said += 1
                        how = self.choose() if said > 3 else None  # a connection that is made may be used a little
                        if how == "request lost":
                            return
                        if how == "half a request":
                            server.sendall(data[:len(data) // 2])
                            return
                        server.sendall(data)
                        if how == "answer lost":
                            server.recv(1 << 16)  # it has answered: what it was asked for has happened
                            return
        except OSError:
            pass

    def close(self):
        self.closing = True
        self.passes.set()
        self.listener.close()


class AdversityTest(CliTest):
    """Workers, an effect log, and a judge."""

    streams, per_stream, effect_us = 24, 25, 2000

    def setUp(self):
        super().setUp()
        self.log = self.dir / "effects"
        self.errors = open(self.dir / "stderr", "w+", encoding="utf-8")
        self.addCleanup(self.errors.close)
        self.workers = []
        self.addCleanup(self.end)

    def end(self):
        for process in self.workers:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()

    def start(self, program=None, url=None, lease_ms=LEASE_MS, instance_lease_ms=LEASE_MS):
        env = dict(self.env, EFFECT_US=str(self.effect_us), EFFECT_LEASE_MS=str(lease_ms),
                   EFFECT_INSTANCE_LEASE_MS=str(instance_lease_ms))
        process = subprocess.Popen([program or Setup.helper, url or self.env["DATABASE_URL"], str(self.log)], env=env,
                                   stderr=self.errors)
        self.workers.append(process)
        return process

    def lines(self):
        return "".join(json.dumps({"type": "effect", "stream": f"s{s}", "payload": {"n": n}}) + "\n"
                       for n in range(1, self.per_stream + 1) for s in range(self.streams))

    def send(self):
        self.migrate()
        self.ok("send", "--ndjson", "-", stdin=self.lines())

    def total(self):
        return self.streams * self.per_stream

    def outbox(self):
        return self.ok("status")["kinds"][0]

    def wait(self, condition, seconds, what):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.05)
        self.errors.flush()
        self.fail(f"{what} did not happen within {seconds} s\n" + self.tail())

    def tail(self):
        self.errors.flush()
        with open(self.errors.name, encoding="utf-8", errors="replace") as text:
            return "".join(text.readlines()[-30:])

    def effects(self):
        return self.log.read_text(encoding="ascii").count("\n") if self.log.exists() else 0

    def judged(self, seconds=60):
        """Waits for the end of the work, stops the workers, and judges."""
        self.wait(lambda: self.outbox()["done"] >= self.total(), seconds, "the end of the work")
        for process in self.workers:
            process.terminate()
        codes = [process.wait(30) for process in self.workers]
        self.assertEqual(codes, [0] * len(codes), self.tail())
        counts = self.outbox()
        self.assertEqual((counts["done"], counts["dead"], counts["leased"]), (self.total(), 0, 0))
        violations, zombies, reruns = worker_soak.judge(self.log, self.streams, self.per_stream)
        self.assertEqual(violations, [], self.tail())
        checked = self.run_pawl("check")
        self.assertEqual(checked.code, 0, checked)
        return zombies, reruns


class CutTest(AdversityTest):
    """The connection dies before, in the middle of, and after what was asked for."""

    def test_connections_are_cut(self):
        proxy = Proxy(self.url, 7)
        self.addCleanup(proxy.close)
        self.send()
        proxy.share = 0.1
        for _ in range(3):
            self.start(url=proxy.url)
        self.wait(lambda: self.effects() >= self.total() * 3 // 4, 60, "three quarters of the work")
        proxy.share = 0.0
        self.judged()
        self.assertGreater(min(proxy.cuts.values()), 2, proxy.cuts)

    def test_a_send_whose_outcome_is_unknown(self):
        """The answer never comes; the same key decides: sent once, whatever happened the first time."""
        proxy = Proxy(self.url, 11)
        self.addCleanup(proxy.close)
        self.migrate()
        codes = {}
        proxy.share = 0.5
        for n in range(1, 41):
            key = str(uuid.uuid4())
            for _ in range(50):
                result = self.run_pawl("send", "effect", json.dumps({"n": n}), "--stream", "s0", "--request", key,
                                       env={"DATABASE_URL": proxy.url})
                codes[result.code] = codes.get(result.code, 0) + 1
                if result.code == 0:
                    break
                self.assertIn(result.code, (EXIT_CODES["unavailable"], EXIT_CODES["unknown"]), result)
        self.assertGreater(codes.get(EXIT_CODES["unknown"], 0), 0, codes)
        self.streams, self.per_stream = 1, 40
        self.assertEqual(self.outbox()["put"], 40)
        self.start()
        self.judged()

    def test_a_connection_over_which_nothing_comes(self):
        """Packets vanish: that is noticed long before a statement could time out, and the work continues afterwards."""
        proxy = Proxy(self.url, 13)
        self.addCleanup(proxy.close)
        self.send()
        self.start(url=proxy.url)
        self.wait(lambda: self.effects() > 20, 30, "some work")
        proxy.passes.clear()
        began = time.monotonic()
        self.wait(lambda: "failed status=" in self.tail(), 30, "a call that was given up")
        noticed_s = time.monotonic() - began
        proxy.passes.set()
        self.assertLess(noticed_s, 15, self.tail())
        self.judged()

    test_a_connection_over_which_nothing_comes.only = "postgres"
    test_connections_are_cut.only = test_a_send_whose_outcome_is_unknown.only = "postgres"


class ServerTest(AdversityTest):
    """A server of one's own, which is then ill-treated."""

    per_stream, effect_us = 60, 20000  # a few seconds of work

    def setUp(self):
        super().setUp()
        if Setup.dialect != "postgres":
            return
        self.server = worker_soak.Postgres(True)
        self.addCleanup(self.server.close)
        self.env.update(DATABASE_URL=self.server.url, PAWL_SCHEMA="pawl")

    def psql(self, text):
        subprocess.run(["psql", "-q", "-d", self.server.url, "-c", text], check=True, stdout=subprocess.DEVNULL, timeout=60)

    def lose_commits(self, promoted):
        """The server goes back to where it was a while ago. Its workers live on; their leases are far longer than the test."""
        data = pathlib.Path(self.server.dir) / "data"
        self.send()
        for _ in range(2):
            self.start(lease_ms=300000, instance_lease_ms=15000)
        epoch = self.ok("setting", "list")["epoch"]
        self.wait(lambda: self.effects() > 20, 30, "some work")
        self.halt(data, data.with_name("before"))
        seen = self.effects()
        self.wait(lambda: self.effects() > seen + 100, 60, "more work")
        self.halt(data.with_name("before"), data, promoted)
        self.wait(lambda: self.outbox()["done"] >= self.total(), 90, "the end of the work")
        for process in self.workers:
            process.terminate()
        self.assertEqual([process.wait(30) for process in self.workers], [0, 0], self.tail())
        counts = self.outbox()
        self.assertEqual((counts["done"], counts["dead"], counts["leased"]), (self.total(), 0, 0))
        settings = self.ok("setting", "list")
        self.assertGreater(settings["epoch"], epoch)
        self.assertIn("event=epoch_raised", self.whole_log())
        checked = self.run_pawl("check")
        self.assertEqual(checked.code, 0, checked)
        self.assertIn("epoch_raised", self.run_pawl("doctor", "-o", "json").out)
        return settings["epoch_cause"]

    def halt(self, source, target, promoted=False):
        """Copies the data of the stopped server; nobody notices that time has passed."""
        for process in self.workers:
            process.send_signal(signal.SIGSTOP)
        self.server.stop(signal.SIGINT)
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", str(source), str(target)], check=True)  # with its owner
        if promoted:
            (target / "standby.signal").touch()
        self.server.start()
        if promoted:
            self.psql("SELECT pg_promote()")
        for process in self.workers:
            process.send_signal(signal.SIGCONT)

    def whole_log(self):
        self.errors.flush()
        return pathlib.Path(self.errors.name).read_text(encoding="utf-8", errors="replace")

    def test_a_failover_loses_commits(self):
        """covers: BX.7. What was claimed before and completed in what was lost is claimed again at once."""
        self.assertEqual(self.lose_commits(True), "timeline")

    def test_a_backup_is_started_without_a_recovery_target(self):
        """The timeline stays and the tokens go back: the workers have seen higher ones."""
        self.assertEqual(self.lose_commits(False), "went_back")

    def test_a_standby_is_promoted(self):
        """The server comes back as a standby that takes no writes, and is promoted a little later: no worker ends, and
        nothing is lost."""
        self.send()
        self.start()
        self.start()
        self.wait(lambda: self.effects() > 20, 20, "some work")
        epoch = self.ok("setting", "list")["epoch"]
        self.server.stop(signal.SIGINT)
        (pathlib.Path(self.server.dir) / "data" / "standby.signal").touch()
        self.server.start()
        time.sleep(2.5)
        self.assertEqual([process.poll() for process in self.workers], [None, None], self.tail())
        self.assertIn("the server takes no writes", self.tail())
        self.psql("SELECT pg_promote()")
        self.judged()
        self.assertEqual(self.ok("setting", "list")["epoch"], epoch + 8)

    def test_tables_are_locked(self):
        """A transaction holds what every call needs for longer than the leases last."""
        self.send()
        self.start()
        self.start()
        self.wait(lambda: self.effects() > 20, 20, "some work")
        # One lock that needs no other: with three the session sometimes was the victim of a deadlock itself.
        self.psql("BEGIN; LOCK TABLE pawl_internal.instance IN ACCESS EXCLUSIVE MODE; "
                  f"SELECT pg_sleep({2 * LEASE_MS / 1000}); COMMIT")
        self.judged()

    def test_backends_are_ended(self):
        """An administrator ends every session, thirty times."""
        self.send()
        self.start()
        self.start()
        for _ in range(30):
            self.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                      "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
            time.sleep(0.1)
        self.judged()

    for test in (test_a_failover_loses_commits, test_a_backup_is_started_without_a_recovery_target,
                 test_a_standby_is_promoted, test_tables_are_locked, test_backends_are_ended):
        test.only = "postgres"
    del test


class DiskTest(AdversityTest):
    """An SQLite file on a disk that fills up while messages are completed."""

    per_stream, effect_us = 60, 20000

    def setUp(self):
        super().setUp()
        self.mount = self.dir / "disk"
        self.mount.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(self.mount)], check=False,
                              stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            self.skipTest("a file system of one's own needs root")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.mount)], check=False)
        self.env["DATABASE_URL"] = str(self.mount / "pawl.db")

    def fill(self):
        """Takes every byte that is left; returns the file."""
        ballast = self.mount / "ballast"
        with open(ballast, "ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1 << 9):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass
        return ballast

    def test_the_disk_is_full(self):
        self.send()
        self.start()
        self.start()
        for _ in range(3):
            before = self.effects()
            self.wait(lambda seen=before: self.effects() > seen + 20, 20, "some work")
            ballast = self.fill()
            time.sleep(1.5)
            self.assertTrue(all(process.poll() is None for process in self.workers), self.tail())
            ballast.unlink()
        self.assertIn("full", self.tail())
        self.judged()

    test_the_disk_is_full.only = "sqlite"


class TimeTest(AdversityTest):
    """Time that is lost, and time that lies."""

    def test_wall_clocks_jump(self):
        """By hours, days and years, ten times a second; one of the workers dies as well."""
        jumping = str(pathlib.Path(Setup.helper).with_name("clock_jump_worker"))
        self.send()
        victim = self.start(jumping)
        self.start(jumping)
        self.start()
        self.wait(lambda: self.effects() > 50, 20, "some work")
        victim.kill()
        victim.wait()
        self.workers.remove(victim)
        self.judged()

    def test_a_whole_process_group_is_stopped(self):
        """Worker and handlers, as by a debugger, a container that is frozen or a laptop's lid: their work is done elsewhere,
        and what they still do when they wake up has no effect on it."""
        mark = "m" + uuid.uuid4().hex
        handler = self.dir / f"{mark}.sh"
        handler.write_text("#!/bin/sh\n"
                           "n=$(sed 's/.*\"n\": *\\([0-9]*\\).*/\\1/')\n"
                           f"sleep 0.03\necho \"$PAWL_STREAM $n $PAWL_TOKEN\" >> {self.log}\n", encoding="utf-8")
        handler.chmod(0o755)
        self.streams, self.per_stream = 6, 120
        self.send()
        lease = f"{LEASE_MS}ms"
        for _ in range(2):
            self.workers.append(subprocess.Popen(
                [Setup.pawl, "worker", "--on", f"*=exec:{handler}", "--lease", lease, "--instance-lease", lease, "--heartbeat",
                 "300ms", "--poll", "50ms", "--max-attempts", "1000", "--log-level", "warn"], env=self.env,
                stderr=self.errors, start_new_session=True))
        for turn in range(2):
            before = self.effects()
            self.wait(lambda seen=before: self.effects() > seen + 5, 20, "some work")
            stopped = self.family(self.workers[turn % 2].pid)
            self.signal_all(stopped, signal.SIGSTOP)
            time.sleep(LEASE_MS / 1000 + 0.7)
            self.signal_all(stopped, signal.SIGCONT)
        self.judged()

    @staticmethod
    def signal_all(pids, number):
        """A handler may have ended since it was seen."""
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    @staticmethod
    def family(pid):
        """The process and whatever it has started, the parents first."""
        children = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                except (OSError, IndexError):
                    continue
                children.setdefault(parent, []).append(int(entry.name))
        found = [pid]
        for one in found:
            found += children.get(one, [])
        return found


class DamageTest(AdversityTest):
    """An SQLite file that is damaged or removed under its worker: it is reported, and no process continues as if nothing had happened."""

    per_stream, effect_us = 60, 20000

    def ended(self, *words):
        code = self.workers[0].wait(60)
        self.assertNotEqual(code, 0, self.tail())
        self.assertIn("event=database_damaged", self.tail())
        for word in words:
            self.assertIn(word, self.tail())

    def path(self):
        return pathlib.Path(self.env["DATABASE_URL"].removeprefix("sqlite:"))

    def test_a_page_is_damaged(self):
        self.send()
        with contextlib.closing(sqlite3.connect(self.path())) as base:
            page = base.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'pawl_message'").fetchone()[0]
            size = base.execute("PRAGMA page_size").fetchone()[0]
            base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with open(self.path(), "r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)
        self.start()
        self.ended(f"age {page}", "restore a backup")
        for command in ("check", "doctor"):
            result = self.run_pawl(command)
            self.assertEqual(result.code, EXIT_CODES["damaged"], result)
            self.assertIn(f"age {page}", result.err)
            self.assertNotIn("defect", result.err)

    def test_its_log_is_removed(self):
        self.send()
        self.start()
        self.wait(lambda: self.effects() > 20, 30, "some work")
        os.unlink(str(self.path()) + "-wal")
        self.ended("-wal was removed", "may be lost")

    def test_what_is_sent_after_the_removal_stays(self):
        """A process that was cut off never writes to the file again: what others were told is done is still there at the end."""
        for n in range(5):
            self.env["DATABASE_URL"] = f"sqlite:{self.dir}/round{n}.db"
            self.log = self.dir / f"effects{n}"
            self.send()
            worker = self.start()
            self.wait(lambda: self.effects() > 20, 30, "some work")
            for suffix in ("-shm", "-wal"):
                os.unlink(str(self.path()) + suffix)
            sent = 0
            while sent < 5 or worker.poll() is None and sent < 200:
                self.ok("send", "late", "{}", "--stream", f"late{sent}")
                sent += 1
            self.assertNotEqual(worker.wait(60), 0, self.tail())
            with contextlib.closing(sqlite3.connect(self.path())) as base:
                self.assertEqual(base.execute("PRAGMA integrity_check").fetchone()[0], "ok")
            self.assertEqual(len(self.ok("message", "list", "--type", "late", "--limit", "1000")), sent)

    def test_its_file_is_replaced(self):
        self.send()
        self.start()
        self.wait(lambda: self.effects() > 20, 30, "some work")
        copy = self.path().with_name("copy")
        shutil.copy(self.path(), copy)
        os.replace(copy, self.path())
        self.ended("was replaced", "may be lost")

    for test in (test_a_page_is_damaged, test_its_log_is_removed, test_what_is_sent_after_the_removal_stays,
                 test_its_file_is_replaced):
        test.only = "sqlite"
    del test


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
