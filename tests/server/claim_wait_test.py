"""Claims of the lease API that wait for work.

Usage: claim_wait_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import http.client
import json
import re
import signal
import socket
import sys
import threading
import time

import server_support
from server_support import SECONDS_MAX, ServerTest

WAIT_MS = 15000
SOON_SECONDS = 0.6  # well below the second between two polls of a claim that waits


class Waiting(threading.Thread):
    """A claim that waits on a connection of its own."""

    def __init__(self, test, worker, body):
        super().__init__(daemon=True)
        self.test, self.path = test, f"/v1/leases/{worker}/claim"
        self.body = json.dumps({"wait_ms": WAIT_MS, **body})
        self.status = self.answer = self.ended = None
        self.connection = http.client.HTTPConnection(test.address, timeout=2 * SECONDS_MAX)
        self.start()

    def run(self):
        try:
            self.connection.request("POST", self.path, self.body, {
                "Authorization": "Bearer " + self.test.tokens["worker"], "Content-Type": "application/json"})
            response = self.connection.getresponse()
            self.status, self.answer = response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException) as problem:
            self.answer = problem
        self.ended = time.monotonic()

    def items(self):
        self.join(2 * SECONDS_MAX)
        self.test.assertEqual(self.status, 200, self.answer)
        return self.answer["items"]


class ClaimWait(ServerTest):
    """What waits is counted by pawl_http_claims_waiting, so no test guesses when it has begun."""

    def join_worker(self, *kinds, **more):
        return self.post("/v1/leases", {"service": "w", "kinds": list(kinds), "lease_ms": 60000, **more},
                         role="worker")["id"]

    def waiting(self):
        text = self.request("GET", "/metrics").body.decode()
        return int(re.search(r"^pawl_http_claims_waiting (\d+)$", text, re.M).group(1))

    def await_waiting(self, count):
        deadline = time.monotonic() + SECONDS_MAX
        while self.waiting() != count:
            self.assertLess(time.monotonic(), deadline, f"{self.waiting()} claims wait, not {count}")
            time.sleep(0.01)

    def warm(self, worker, kind):
        """The store has been asked to wake the server: its first wait may still be answered by a poll."""
        self.post(f"/v1/leases/{worker}/claim", {"kind": kind, "wait_ms": 1500}, role="worker")

    def put(self, kind):
        """The id of what was put, and when the put had been answered."""
        if kind == "jobs":
            made = self.post("/v1/jobs", {"type": "mail.send", "payload": {}})
        else:
            made = self.post("/v1/messages", {"messages": [{"type": "t", "stream": "s", "payload": {}}]})["items"][0]
        return str(made["id"]), time.monotonic()

    def test_a_claim_is_answered_as_soon_as_there_is_work(self):
        self.start_server("--lease-api")
        worker = self.join_worker("jobs", "outbox")
        for kind in ("jobs", "outbox"):
            self.warm(worker, kind)
            latencies = []
            for _ in range(3):
                claim = Waiting(self, worker, {"kind": kind})
                self.await_waiting(1)
                made, put_at = self.put(kind)
                items = claim.items()
                self.assertEqual([item["id"] for item in items], [made], kind)
                latencies.append(claim.ended - put_at)
                self.await_waiting(0)
                self.post(f"/v1/leases/{worker}/complete", {"kind": kind, "items": [
                    {"token": items[0]["token"], "id": items[0]["id"]}]}, role="worker")
            self.assertLess(min(latencies), SOON_SECONDS, f"{kind}: {latencies}")

    def test_what_another_process_puts_is_noticed(self):
        self.start_server("--lease-api")
        worker = self.join_worker("outbox")
        claim = Waiting(self, worker, {"kind": "outbox"})
        self.await_waiting(1)
        self.ok("send", "--stream", "s", "order.placed", "{}")
        self.assertEqual([item["type"] for item in claim.items()], ["order.placed"])

    def test_one_job_goes_to_exactly_one_of_many(self):
        self.start_server("--lease-api")
        workers = [self.join_worker("jobs") for _ in range(4)]
        claims = [Waiting(self, workers[i % 4], {"kind": "jobs", "max": 5, "wait_ms": 4000}) for i in range(40)]
        self.await_waiting(40)
        made, _ = self.put("jobs")
        got = [item["id"] for claim in claims for item in claim.items()]
        self.assertEqual(got, [made])
        self.await_waiting(0)

    def test_many_jobs_go_to_as_many(self):
        self.start_server("--lease-api")
        worker = self.join_worker("jobs")
        claims = [Waiting(self, worker, {"kind": "jobs"}) for _ in range(20)]
        self.await_waiting(20)
        made = sorted(self.put("jobs")[0] for _ in range(20))
        self.assertEqual(sorted(item["id"] for claim in claims for item in claim.items()), made)

    def test_work_of_another_queue_or_worker_answers_nobody(self):
        self.start_server("--lease-api")
        worker = self.join_worker("jobs")
        claim = Waiting(self, worker, {"kind": "jobs", "queue": "mail", "wait_ms": 2500})
        self.await_waiting(1)
        self.put("jobs")
        self.assertEqual(claim.items(), [])

    def test_it_ends_empty_when_its_time_is_over(self):
        self.start_server("--lease-api")
        worker = self.join_worker("outbox")
        began = time.monotonic()
        self.assertEqual(Waiting(self, worker, {"kind": "outbox", "wait_ms": 700}).items(), [])
        self.assertGreaterEqual(time.monotonic() - began, 0.7)
        self.assertEqual(self.waiting(), 0)

    def test_a_key_is_answered_again_with_the_same_work(self):
        self.start_server("--lease-api")
        worker = self.join_worker("jobs")
        path, body, key = f"/v1/leases/{worker}/claim", {"kind": "jobs", "wait_ms": WAIT_MS}, {"Idempotency-Key": "one"}
        first = []
        claim = threading.Thread(target=lambda: first.append(self.request("POST", path, body, role="worker", headers=key)))
        claim.start()
        self.await_waiting(1)
        self.problem(409, "running", "POST", path, body, role="worker", headers=key)
        made, _ = self.put("jobs")
        claim.join(SECONDS_MAX)
        again = self.request("POST", path, body, role="worker", headers=key)
        self.assertEqual([item["id"] for item in first[0].json()["items"]], [made])
        self.assertEqual(again.body, first[0].body)

    def test_a_client_that_goes_away_waits_no_longer_and_gets_nothing(self):
        self.start_server("--lease-api")
        worker = self.join_worker("jobs")
        gone = Waiting(self, worker, {"kind": "jobs"})
        self.await_waiting(1)
        gone.connection.sock.shutdown(socket.SHUT_RDWR)
        self.await_waiting(0)
        made, _ = self.put("jobs")
        items = self.post(f"/v1/leases/{worker}/claim", {"kind": "jobs"}, role="worker")["items"]
        self.assertEqual([(item["id"], item["attempt"]) for item in items], [(made, 1)])

    def test_a_stop_of_the_server_ends_the_wait_at_once(self):
        process = self.start_server("--lease-api")
        worker = self.join_worker("jobs", "outbox")
        claims = [Waiting(self, worker, {"kind": kind}) for kind in ("jobs", "outbox", "outbox")]
        self.await_waiting(3)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        for claim in claims:
            self.assertEqual(claim.items(), [])
        self.assertLess(time.monotonic() - began, WAIT_MS / 1000 / 2)

    def test_requests_beside_a_stop_are_answered_and_the_server_ends_cleanly(self):
        """Keep-alive clients go on asking while the server winds up: its pools are closed by then."""
        for _ in range(4):
            process = self.start_server("--lease-api")
            worker = self.join_worker("jobs")
            claim = Waiting(self, worker, {"kind": "jobs"})
            self.await_waiting(1)
            asking, ended = [], threading.Event()
            for _ in range(8):
                asking.append(threading.Thread(target=self.beat_until, args=(worker, ended), daemon=True))
                asking[-1].start()
            process.send_signal(signal.SIGTERM)
            claim.join(2 * SECONDS_MAX)
            self.assertEqual(process.wait(timeout=SECONDS_MAX), 0)
            ended.set()
            for thread in asking:
                thread.join(SECONDS_MAX)

    def beat_until(self, worker, ended):
        """Beats on one connection until the server closes it."""
        connection = http.client.HTTPConnection(self.address, timeout=SECONDS_MAX)
        try:
            while not ended.is_set():
                connection.request("POST", f"/v1/leases/{worker}/beat", "{}", {
                    "Authorization": "Bearer " + self.tokens["worker"], "Content-Type": "application/json"})
                connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            pass

    def test_a_worker_that_leaves_is_told(self):
        self.start_server("--lease-api")
        worker = self.join_worker("jobs")
        claim = Waiting(self, worker, {"kind": "jobs"})
        self.await_waiting(1)
        self.assertEqual(self.request("DELETE", f"/v1/leases/{worker}", role="worker").status, 204)
        claim.join(2 * SECONDS_MAX)
        self.assertEqual((claim.status, claim.answer["type"]), (409, "urn:pawl:problem:stale"))

    def test_more_than_the_limit_are_refused(self):
        self.start_server("--lease-api")
        worker = self.join_worker("jobs")
        first = Waiting(self, worker, {"kind": "jobs", "wait_ms": 30000})
        self.await_waiting(1)
        for _ in range(191):
            Waiting(self, worker, {"kind": "jobs", "wait_ms": 30000})
        self.await_waiting(192)
        self.problem(503, "192 others wait already", "POST", f"/v1/leases/{worker}/claim",
                     {"kind": "jobs", "wait_ms": 1000}, role="worker")
        self.assertEqual(self.post(f"/v1/leases/{worker}/claim", {"kind": "jobs"}, role="worker")["items"], [])
        made, _ = self.put("jobs")
        self.assertEqual([item["id"] for item in first.items()], [made], "the longest waiting is first")

    def test_input_is_checked_before_anything_waits(self):
        self.start_server("--lease-api")
        worker = self.join_worker("jobs")
        path = f"/v1/leases/{worker}/claim"
        for wrong in (-1, 30001, "10", 1.5):
            self.problem(400, "wait_ms", "POST", path, {"kind": "jobs", "wait_ms": wrong}, role="worker")
        for role, status in ((None, 401), ("viewer", 403), ("operator", 403)):
            self.assertEqual(self.request("POST", path, {"kind": "jobs", "wait_ms": 30000}, role=role).status, status, role)
        self.assertEqual(self.waiting(), 0)


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
