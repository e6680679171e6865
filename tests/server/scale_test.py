"""Many messages and dead letters: every question is answered fast, and the server stays small.

Usage: scale_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
Sizes: PAWL_SCALE_MESSAGES, PAWL_SCALE_LETTERS; tests/prove/server_scale runs the full ones and prints the table.
"""
import http.client
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import time

import server_support
from server_support import ServerTest, Setup

MESSAGES = int(os.environ.get("PAWL_SCALE_MESSAGES", "50000"))
LETTERS = int(os.environ.get("PAWL_SCALE_LETTERS", "10000"))
JOBS = max(LETTERS // 10, 1000) // 2 * 2
ROUNDS = int(os.environ.get("PAWL_SCALE_ROUNDS", "20"))
STREAMS = 500
P95_MS_MAX = 300
SANITIZED_TIMES = 5  # what a build with sanitizers may take more, beside other tests
RESIDENT_KIB_MAX = 64 * 1024
TRIES = 3  # another process may take the machine for a moment
SEED_SECONDS_MAX = 1800
DAY_MS = 86400000
# What is asked besides every route of the document without a filter.
QUERIES = {
    "/v1/find": ["word={message}", "word=01", "word=s%2F17", "word=no.such.thing"], "/v1/why": ["id={message}"], "/v1/schedules/preview": ["cron=0+*+*+*+*"],
    "/v1/messages": ["", "limit=500", "kind=outbox", "state=ready", "state=leased", "state=scheduled", "state=blocked", "state=dead",
                     "state=done", "stream=s%2F17", "type=rare.type", "type=no.such.type", "topic=no.topic", "lane=3",
                     "type=no.such.type&state=dead", "topic=no.topic&state=done", "type=order.type3&state=ready", "state=dead&before_ms=1",
                     "stream=s%2F17&state=dead", "stream=s%2F17&type=rare.type&state=dead", "fingerprint={cause}",
                     "fingerprint={cause}&state=dead&type=no.such.type", "cursor={middle}&limit=500"],
    "/v1/messages/failures": ["", "kind=outbox", "limit=500"],
    "/v1/jobs": ["", "limit=500", "state=ready", "state=running", "state=dead", "type=no.such.type", "queue=none", "key=none",
                 "fingerprint={job_cause}"],
    "/v1/jobs/failures": ["", "limit=500"],
    "/v1/partitions": ["", "kind=outbox"],
    "/v1/series": ["", "of=any&from_ms={now}"] + [f"of={of}&from_ms={{{range_}}}" for range_ in ("hour_ago", "day_ago", "week_ago", "month_ago")
                                            for of in ("kind", "queue&name=queue.7", "handler&kind=outbox&name=order.type7")],
}
STREAMED = {"/v1/stream", "/v1/events/tail", "/v1/jobs/{id}/wait", "/v1/runs/{run}/wait", "/v1/perspectives/{name}/wait"}  # they never end, or wait
READ_ALL = {"/v1/check", "/v1/audit/verify"}  # they look at every row, that is what they are for; no page asks them


def percentile(times, share):
    """The nearest-rank percentile."""
    return sorted(times)[max(0, math.ceil(len(times) * share) - 1)]


class ScaleTest(ServerTest):

    def seed(self):
        """One message per stream through the program, the rest from a file of SQL."""
        lines = "\n".join('{"type":"order.type0","stream":"s/%d","payload":{}}' % n for n in range(STREAMS))
        self.ok("send", "order.type0", "--ndjson", "-", stdin=lines)
        self.ok("job", "enqueue", "job.0")
        sizes = {"messages": MESSAGES, "letters": LETTERS, "jobs": JOBS}
        text = (Setup.root / "tests" / "server" / f"scale_{Setup.dialect}.sql").read_text(encoding="utf-8")
        if Setup.dialect == "sqlite":
            database = sqlite3.connect(self.url, isolation_level=None)
            database.executescript("PRAGMA cache_size = -1000000; PRAGMA synchronous = off; PRAGMA temp_store = memory;")
            for statement in re.split(r";\s*\n", re.sub(r"^--.*\n", "", text, flags=re.M)):
                if statement.strip():
                    named = {key: value for key, value in sizes.items() if ":" + key in statement}
                    database.execute(statement, named)
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.close()
            return
        values = [word for key, value in sizes.items() for word in ("-v", f"{key}={value}")]
        subprocess.run(["psql", "-q", "-d", self.url, "-v", "ON_ERROR_STOP=1", *values, "-f", "-"], check=True, text=True,
                       input=f'SET search_path = "{self.schema}_internal", public;\n' + text, stdout=subprocess.DEVNULL, timeout=SEED_SECONDS_MAX)

    def one(self, connection, path):
        began = time.monotonic()
        connection.request("GET", path, headers={"Authorization": "Bearer " + self.tokens["viewer"]})
        response = connection.getresponse()
        body = response.read()
        took = (time.monotonic() - began) * 1000
        if response.status not in (200, 202, 404):
            self.wrong.add(f"{path}: {response.status} {body[:300]}")
        return took

    def p95(self, ask):
        """The best of a few: what counts is the server, not who else uses the machine."""
        best = None
        for _ in range(TRIES):
            took = percentile([ask() for _ in range(ROUNDS)], 0.95)
            best = took if best is None else min(best, took)
            if best < self.p95_ms_max:
                break
        return best

    def paths(self):
        """Every GET route of the document with what it is asked."""
        values = {"cause": self.get("/v1/messages/failures?kind=outbox&limit=1")["items"][0]["fingerprint"],
                  "job_cause": self.get("/v1/jobs/failures?limit=1")["items"][0]["fingerprint"],
                  "middle": self.get("/v1/messages?limit=500")["next"],
                  "message": self.get("/v1/messages?limit=1")["items"][0]["id"]}
        message, now_ms = values["message"], int(time.time() * 1000)
        values.update(now=now_ms - 10000, hour_ago=now_ms - DAY_MS // 24, day_ago=now_ms - DAY_MS, week_ago=now_ms - 7 * DAY_MS,
                      month_ago=now_ms - 30 * DAY_MS)
        job = self.get("/v1/jobs?limit=1")["items"][0]["id"]
        parts = {"/v1/messages/{id}": message, "/v1/jobs/{id}": job, "/v1/streams/{name}": "s%2F17", "/v1/operations/{id}": message,
                 "/v1/instances/{id}": message, "/v1/events/{id}": message}
        for template, operations in sorted(self.get("/v1/openapi.json")["paths"].items()):
            if "get" not in operations or template in STREAMED | READ_ALL or operations["get"].get("x-role") == "worker":
                continue
            part = next((value for prefix, value in parts.items() if template.startswith(prefix)), "1")
            path = re.sub(r"\{\w+\}", str(part), template)
            for query in QUERIES.get(template, [""]):
                query = query.format(**values)
                yield path + ("?" + query if query else "")

    def resident_kib(self, process):
        """The most that the server ever had."""
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1))

    def command_ms(self, *words):
        began = time.monotonic()
        self.ok(*words, "-o", "json")
        return (time.monotonic() - began) * 1000

    def test_every_answer_is_fast_and_the_server_small(self):
        self.migrate()
        began = time.monotonic()
        self.seed()
        print(f"# {MESSAGES} messages, {LETTERS} dead letters, {JOBS} jobs on {Setup.dialect}, in {time.monotonic() - began:.0f} s")
        process = self.start_server(migrate=False)
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            sanitized = "libasan" in maps.read()
        self.p95_ms_max = P95_MS_MAX * (SANITIZED_TIMES if sanitized else 1)
        connection = http.client.HTTPConnection(self.address, timeout=60)
        rows, self.wrong = [], set()
        for path in self.paths():
            rows.append((self.p95(lambda path=path: self.one(connection, path)), "GET " + path))
        connection.close()
        # Nothing of its stream is in front of it, which takes the most to find out.
        lonely = self.ok("send", "order.type0", "--stream", "lonely")["id"]
        for words in (["status"], ["why", lonely], ["queue"], ["message", "failures"]):
            rows.append((self.p95(lambda words=words: self.command_ms(*words)), "pawl " + " ".join(words)))
        resident = self.resident_kib(process)
        for took, what in sorted(rows, reverse=True):
            print(f"# {took:8.1f} ms  {what}")
        print(f"# {len(rows)} questions; at most {resident} KiB resident")
        slow = sum(row[0] >= self.p95_ms_max for row in rows)
        print("figures: " + json.dumps({"messages": MESSAGES, "dead_letters": LETTERS, "questions": len(rows), "slowest_p95_ms_max": round(max(rows)[0]),
                                        "resident_KiB_max": resident, "violations": slow + len(self.wrong)}), flush=True)
        self.assertEqual(self.wrong, set())
        self.assertEqual([row for row in rows if row[0] >= self.p95_ms_max], [])
        if not sanitized:  # its shadow is not the server's memory
            self.assertLess(resident, RESIDENT_KIB_MAX)
        groups = self.get("/v1/messages/failures?kind=outbox&limit=500")["items"]
        self.assertEqual(len(groups), 500 if LETTERS > 1000 else min(LETTERS, 500))
        self.assertEqual(groups[0]["count"], (LETTERS + 999) // 1000)

    def test_a_rare_type_is_found_page_by_page(self):
        self.migrate()
        self.seed()
        self.start_server(migrate=False)
        found, pages, cursor = 0, 0, ""
        while cursor is not None and pages < 100000:
            page = self.get("/v1/messages?state=ready&type=rare.type" + (f"&cursor={cursor}" if cursor else ""))
            found, pages, cursor = found + len(page["items"]), pages + 1, page["next"]
        self.assertEqual(found, (MESSAGES + 1) // 50000)
        self.assertGreaterEqual(pages, MESSAGES // 20000)
        self.assertEqual(len(self.ok("message", "list", "--state", "ready", "--type", "rare.type")), found)
        self.assertEqual(self.ok("check"), [])


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
