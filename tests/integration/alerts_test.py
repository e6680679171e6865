#!/usr/bin/env python3
"""Alerts from outside: evaluated by one of several processes, delivered to the log, a program, an endpoint and a message.

Usage: alerts_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import json
import subprocess
import sys
import threading
import time

import cli_support
from cli_support import EXIT_CODES, Setup
from receptor_test import SECRET, ReceptorTest

INTERVAL = ("--alert-interval", "200ms")


class AlertsTest(ReceptorTest):
    """Processes that watch, and what they wrote to standard error."""

    def setUp(self):
        super().setUp()
        self.watchers = []
        self.addCleanup(self.end_watchers)

    def end_watchers(self):
        for process, thread, _ in self.watchers:
            if process.poll() is None:
                process.kill()
            process.wait()
            thread.join()
            process.stderr.close()

    def watch(self, *args, command="worker", **env):
        """A process that evaluates; its lines are collected."""
        words = ["--kinds", "inbox", "--on", "nothing=exec:/bin/true", "--poll", "100ms", "--heartbeat", "100ms",
                 "--instance-lease", "600ms"] if command == "worker" else ["--listen", "127.0.0.1:0", "--token-file",
                                                                           str(self.dir / f"tokens{len(self.watchers)}")]
        interval = () if "--alert-interval" in args else INTERVAL
        process = subprocess.Popen([Setup.pawl, command, *words, *interval, *args], env=dict(self.env, **env), cwd=self.dir,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        lines = []
        thread = threading.Thread(target=lambda: lines.extend(iter(process.stderr.readline, "")), daemon=True)
        thread.start()
        self.watchers.append((process, thread, lines))
        return process

    def logged(self, event):
        return [line for _, _, lines in self.watchers for line in list(lines) if f"event={event} " in line]

    def targets(self, text):
        path = self.dir / "targets.ini"
        path.write_text(text, encoding="utf-8")
        return ("--alert-targets", str(path))

    def rule(self, name):
        return self.ok("alert", "show", name)

    def backlog(self, *flags):
        """A rule that fires as soon as anything waits in the outbox."""
        return self.ok("alert", "set", "outbox-backlog", "--above", "0", "--for", "0", "--clear", "0", *flags)

    def fires(self, name="outbox-backlog", state="firing"):
        self.wait(lambda: self.rule(name)["state"] == state, what=f"{name} is {state}")

    def history(self, *args):
        return self.ok("alert", "history", *args)


class RulesTest(AlertsTest):
    """The commands."""

    # covers: J40 W44 W45
    def test_the_rules_of_the_sources_are_there_and_change(self):
        rules = {row["name"]: row for row in self.ok("alert", "list")}
        self.assertEqual((rules["stale-leases"]["threshold"], rules["stale-leases"]["severity"]), (0, "critical"))
        self.assertEqual((rules["outbox-backlog"]["threshold"], rules["outbox-backlog"]["severity"]), (10000, "warning"))
        for name in ("worker-lost", "workers-missing", "queue-stagnant", "error-rate", "database-limit", "memory-limit",
                     "leases-per-worker", "outbox-gave-up", "inbox-gave-up"):
            self.assertTrue(rules[name]["enabled"], name)
        seen = self.ok("alert", "set", "error-rate", "--above", "50", "--for", "5m", "--dry-run")
        self.assertEqual((seen["threshold"], seen["clear_threshold"], seen["for_ms"]), (50, 50, 300000))
        self.assertEqual(self.rule("error-rate")["threshold"], 20)
        made = self.ok("alert", "set", "night", "--metric", "jobs_ready", "--above", "9", "--clear-threshold", "3", "--severity",
                       "critical", "--targets", "log,message", "--summary", "too many")
        self.assertEqual((made["clear_threshold"], made["severity"], made["targets"], made["summary"], made["version"]),
                         (3, "critical", "log,message", "too many", 1))
        self.assertFalse(self.ok("alert", "pause", "night")["enabled"])
        self.assertEqual(self.rule("night")["state"], "off")
        self.assertTrue(self.ok("alert", "resume", "night")["enabled"])
        silenced = self.ok("alert", "silence", "night", "--for", "2h", "--reason", "moving")
        self.assertEqual((silenced["silence_reason"], silenced["silence_until_ms"] is not None), ("moving", True))
        self.assertIsNone(self.ok("alert", "unsilence", "night")["silence_until_ms"])
        self.ok("alert", "delete", "night", "--dry-run")
        self.assertEqual(self.run_pawl("alert", "delete", "night").code, 0)
        self.refused(EXIT_CODES["not found"], "no alert rule 'night'", "alert", "show", "night", "-o", "table")
        actions = [row["action"] for row in self.ok("action", "list")]
        self.assertEqual(actions, ["alert.delete", "alert.unsilence", "alert.silence", "alert.resume", "alert.pause",
                                   "alert.set"])
        self.assertIn("error_rate_percent", [row["metric"] for row in self.ok("alert", "metrics")])

    def test_bad_input(self):
        invalid = EXIT_CODES["invalid"]
        self.refused(invalid, "needs --metric", "alert", "set", "new", "--above", "1", "-o", "table")
        self.refused(invalid, "no metric 'mood'", "alert", "set", "new", "--metric", "mood", "--above", "1", "-o", "table")
        self.refused(invalid, "not both", "alert", "set", "error-rate", "--above", "1", "--below", "2", "-o", "table")
        self.refused(invalid, "never resolve", "alert", "set", "error-rate", "--clear-threshold", "99", "-o", "table")
        self.refused(invalid, "name of a rule", "alert", "set", "a b", "--metric", "failures", "--above", "1", "-o", "table")
        self.refused(EXIT_CODES["usage"], "it needs --for DURATION", "alert", "silence", "error-rate", "-o", "table")
        done = self.run_pawl("worker", "--kinds", "jobs", *self.targets("[log]\nexec = /bin/true\n"))
        self.assertEqual((done.code, "there already" in done.err), (invalid, True), done)
        self.ok("alert", "set", "error-rate", "--targets", "log,pager,message")
        done = self.run_pawl("worker", "--kinds", "jobs", *self.targets("[ops]\nexec = /bin/true\n"))
        self.assertEqual(done.code, 65, done)
        self.assertIn("the rule 'error-rate' tells 'pager', which the file of targets does not have", done.err)
        done = self.run_pawl("worker", "--kinds", "jobs", *self.targets("[p*]\nexec = /bin/true\n"))
        self.assertEqual((done.code, "name of a target" in done.err), (invalid, True), done)


class FiringTest(AlertsTest):
    """From the value to the target."""

    def test_two_processes_tell_once(self):
        self.backlog()
        self.watch()
        self.watch(command="server")
        self.watch()
        self.ok("send", "a")
        self.fires()
        self.wait(lambda: self.logged("alert_fired"), what="the log")
        time.sleep(1)  # some turns of everybody
        self.assertEqual(len(self.logged("alert_fired")), 1)
        self.assertEqual([row["event"] for row in self.history("outbox-backlog")], ["fired"])
        self.assertEqual([row["name"] for row in self.ok("alert", "list", "--firing")], ["outbox-backlog"])
        done = self.run_worker("--on", "*=exec:/bin/true", "--alert-interval", "0")
        self.assertEqual(done.code, 0, done)
        self.fires(state="ok")
        self.wait(lambda: self.logged("alert_resolved"), what="the log")
        self.assertEqual([row["event"] for row in self.history("outbox-backlog")], ["resolved", "fired"])
        self.assertEqual(len(self.logged("alert_resolved")), 1)

    def test_a_program_an_endpoint_and_a_message_are_told(self):
        page = self.script('cat >> paged; echo >> paged; env | grep ^PAWL_ >> environment', "page.sh")
        endpoint = self.endpoint(lambda n, call: (503 if n == 1 else 200, {}))
        self.backlog("--targets", "log,pager,ops,message")
        self.watch(*self.targets(f"[pager]\nexec = {page}\n[ops]\nhttp = {endpoint.url}/hook\nsecret-env = HOOK\n"
                                 "allow-private = true\n"), HOOK=SECRET)
        sent = self.ok("send", "a")["id"]
        self.fires()
        self.wait(lambda: len(endpoint.calls) == 2, seconds=40, what="a second attempt")
        first, second = endpoint.calls
        self.assertEqual(first["headers"]["ce-type"], "pawl.alert.fired")
        self.assertEqual(first["headers"]["ce-subject"], "alert:outbox-backlog")
        self.assertEqual(first["headers"]["webhook-id"], second["headers"]["webhook-id"])
        self.assertTrue(second["headers"]["webhook-signature"].startswith("v1,"))
        body = json.loads(second["body"])
        self.assertEqual((body["rule"], body["event"], body["metric"], body["threshold"]),
                         ("outbox-backlog", "fired", "outbox_ready", 0))
        self.wait(lambda: self.history()[0]["delivered"] == 3, what="three deliveries")
        row = self.history()[0]
        self.assertEqual((row["waiting"], row["failed"], row["id"]), (0, 0, first["headers"]["webhook-id"]))
        paged = [json.loads(line) for line in (self.dir / "paged").read_text().splitlines() if line.strip()]
        self.assertEqual([(note["type"], note["payload"]["event"]) for note in paged], [("pawl.alert.fired", "fired")])
        messages = [row for row in self.ok("message", "list") if row["id"] != sent]
        self.assertEqual([(row["type"], row["stream"]) for row in messages], [("pawl.alert.fired", "alert:outbox-backlog")])

    def test_a_private_address_is_refused_and_the_reason_kept(self):
        endpoint = self.endpoint(lambda n, call: (200, {}))
        self.backlog("--targets", "ops")
        self.watch(*self.targets(f"[ops]\nhttp = {endpoint.url}/hook\n"))
        self.ok("alert", "test", "outbox-backlog")
        self.wait(lambda: self.history()[0]["error"], what="a refusal")
        self.assertIn("private", self.history()[0]["error"])
        self.assertEqual((endpoint.calls, self.history()[0]["waiting"]), ([], 1))

    def test_a_test_reaches_the_targets_and_a_dead_process_loses_nothing(self):
        hang = self.script('echo $PAWL_ID >> hung; sleep 60', "hang.sh")
        page = self.script('cat > paged', "page.sh")
        self.ok("alert", "set", "error-rate", "--targets", "pager")
        tested = self.ok("alert", "test", "error-rate")
        process = self.watch(*self.targets(f"[pager]\nexec = {hang}\n"))
        self.wait(lambda: (self.dir / "hung").exists(), what="the first delivery")
        process.kill()
        self.assertEqual(self.history()[0]["waiting"], 1)
        # Its lease is long; a test does not wait for it.
        self.sql("UPDATE pawl_internal.alert_notice SET due_ms = 0")
        self.watch(*self.targets(f"[pager]\nexec = {page}\n"))
        self.wait(lambda: self.history()[0]["delivered"] == 1, what="the second delivery")
        self.assertEqual(json.loads((self.dir / "paged").read_text())["id"], tested["id"])
        self.assertEqual((self.dir / "hung").read_text().split(), [tested["id"]])

    def test_silence(self):
        self.backlog()
        self.ok("alert", "silence", "outbox-backlog", "--for", "1h")
        self.watch()
        self.ok("send", "a")
        self.fires(state="silenced")
        self.assertEqual((self.history()[0]["event"], self.history()[0]["delivered"]), ("fired", 0))
        self.assertEqual(self.logged("alert_fired"), [])
        self.ok("alert", "unsilence", "outbox-backlog")
        self.wait(lambda: self.logged("alert_fired"), what="it is told after all")

    # covers: J40 J28
    def test_the_server_notices_that_the_workers_are_gone(self):
        self.ok("alert", "set", "workers-missing", "--for", "0")
        self.watch(command="server")
        worker = self.watch("--alert-interval", "0")
        self.wait(lambda: self.ok("status")["instances_active"] == 1, what="the worker")
        worker.kill()
        self.ok("send", "a", "--kind", "inbox", "--consumer", "c")
        self.fires("worker-lost")
        self.fires("workers-missing")
        self.wait(lambda: len(self.logged("alert_fired")) == 2, what="the log")

    def test_high_error_rate(self):
        self.ok("alert", "set", "error-rate", "--for", "0")
        self.watch()
        time.sleep(0.5)  # a sample to reckon from
        for _ in range(12):
            self.ok("send", "a")
        self.run_worker("--on", f"*=exec:{self.script('exit 65')}", "--alert-interval", "0")
        self.fires("error-rate")
        self.assertGreater(self.rule("error-rate")["value"], 90)
        self.fires("outbox-gave-up")


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
