#!/usr/bin/env python3
"""The program at work: sending, and messages that are running, waiting, dead or done."""
import json
import pathlib
import re
import signal
import stat
import subprocess
import sys
import uuid

import cli_support
from cli_support import ABSENT, EXIT_CODES, CliTest, Setup


class SendTest(CliTest):
    """What can be sent, and what cannot."""

    def setUp(self):
        super().setUp()
        self.migrate()

    def test_streams(self):
        """Streams with waiting messages, the first message of each, and the lane of a stream."""
        first = self.ok("send", "order.placed", "{}", "--stream", "s-2")["id"]
        self.ok("send", "order.paid", "{}", "--stream", "s-2")
        self.ok("send", "order.placed", "{}", "--stream", "s-1", "--kind", "inbox", "--consumer", "shop")
        self.ok("send", "order.placed", "{}")  # of no stream
        rows = self.ok("stream", "list")
        self.assertEqual([(row["stream"], row["kind"], row["ready"]) for row in rows], [("s-1", "inbox", 1), ("s-2", "outbox", 2)])
        self.assertEqual((rows[1]["first_id"], rows[1]["first_type"], rows[1]["first_state"]), (first, "order.placed", "ready"))
        self.assertEqual([row["stream"] for row in self.ok("stream", "list", "--kind", "inbox")], ["s-1"])
        self.assertEqual(self.ok("stream", "show", "s-2"), self.ok("partition", "show", "s-2"))
        self.assertTrue(all(row["complete"] for row in rows))
        cut = self.run_pawl("stream", "list", "--look", "1")
        self.assertFalse(any(row["complete"] for row in json.loads(cut.out)))
        self.assertIn("there are more", cut.err)
        self.refused(EXIT_CODES["usage"], "from 1 to 100000", "streams", "--look", "100001")

    def test_walk(self):
        """From an empty database to five waiting messages, as a newcomer would do it."""
        ids = [self.ok("send", "order.created", json.dumps({"n": n}), "--stream", "order-1")["id"] for n in range(5)]
        rows = self.ok("message", "list", "--stream", "order-1")
        self.assertEqual([row["id"] for row in rows], ids)
        self.assertEqual([row["payload"] for row in rows], [{"n": n} for n in range(5)])
        self.assertEqual({row["state"] for row in rows}, {"ready"})
        shown = self.ok("message", "show", ids[2])
        self.assertEqual((shown["id"], shown["payload"], shown["stream"]), (ids[2], {"n": 2}, "order-1"))
        why = self.ok("why", ids[0])
        self.assertEqual(why["cause"], "no owner")
        self.assertIn("Start a worker", why["next"])
        place = self.ok("partition", "show", "order-1")
        self.assertEqual((place["partition"], place["lane"]), (shown["partition"], shown["lane"]))
        self.assertEqual(place["lane"], place["partition"] % place["lane_count"])
        lanes = self.ok("partition", "list")
        self.assertEqual(len(lanes), 3 * place["lane_count"])
        self.assertEqual(sum(lane["partitions"] for lane in lanes), 3 * place["partition_count"])
        self.assertEqual({lane["owner"] for lane in lanes}, {None})
        status = self.ok("status")
        self.assertEqual(status["kinds"][0]["kind"], "outbox")
        self.assertEqual(status["kinds"][0]["ready"], 5)
        self.assertEqual(status["kinds"][0]["oldest_ready_ms"], rows[0]["put_ms"])
        self.assertEqual(self.ok("check"), [])

    def test_all_fields(self):
        self.ok("send", "T", '{"a": [1, null]}', "--stream", "s", "--topic", "t", "--id", ABSENT, "--header", "k=v",
                "--header", "x=a=b", "--correlation-id", ABSENT, "--causation-id", ABSENT, "--traceparent", "00-1-2-03")
        row = self.ok("message", "show", ABSENT)
        self.assertEqual((row["type"], row["stream"], row["topic"], row["traceparent"]), ("T", "s", "t", "00-1-2-03"))
        self.assertEqual(row["headers"], {"k": "v", "x": "a=b"})
        self.assertEqual((row["correlation_id"], row["causation_id"]), (ABSENT, ABSENT))
        self.assertEqual(row["payload"], {"a": [1, None]})
        self.refused(EXIT_CODES["invalid"], "KEY=VALUE", "send", "T", "--header", "k")
        self.refused(EXIT_CODES["invalid"], "twice", "send", "T", "--header", "k=1", "--header", "k=2")

    def test_payload_sources(self):
        (self.dir / "p.json").write_text('{"from": "file"}', encoding="utf-8")
        found = [self.ok("message", "show", self.ok(*args, stdin=stdin)["id"])["payload"] for args, stdin in (
            (["send", "T", "@p.json"], ""), (["send", "T", "-"], '{"from": "stdin"}'), (["send", "T"], ""),
            (["send", "T", "-5"], ""), (["send", "T", "null"], ""), (["send", "T", '"é \\u00e9"'], ""))]
        self.assertEqual(found, [{"from": "file"}, {"from": "stdin"}, {}, -5, None, "é é"])
        self.refused(EXIT_CODES["not found"], "none.json", "send", "T", "@none.json")
        self.refused(EXIT_CODES["invalid"], "is a directory", "send", "T", "@.")

    def test_bad_payloads(self):
        for payload in ("{", "{'a': 1}", "", "nul", "[1,]", '"\\u0000"', '{"a": 1} x'):
            result = self.refused(EXIT_CODES["invalid"], "JSON", "send", "T", "-", stdin=payload)
            self.assertIn("send", result.err)
        for payload in (b'"\xff"', b'"a\x00b"', b'"\xed\xa0\x80"', b'"\xc0\x80"'):
            self.refused(EXIT_CODES["invalid"], "", "send", "T", "-", stdin=payload)
        deep = "[" * 100 + "]" * 100
        self.refused(EXIT_CODES["invalid"], "deep", "send", "T", deep)
        self.assertEqual(self.ok("message", "list"), [])

    def test_payload_limit(self):
        big = json.dumps("x" * 300_000)
        self.refused(EXIT_CODES["invalid"], "262144", "send", "T", "-", stdin=big)
        self.refused(EXIT_CODES["invalid"], "1024", "send", "T", json.dumps("x" * 2000), "--payload-limit", "1KiB")
        sent = self.ok("send", "T", "-", "--payload-limit", "1MiB", stdin=big)
        self.assertEqual(self.ok("message", "show", sent["id"])["payload_bytes"], 300_002)
        largest = json.dumps("y" * (16 * 1024 * 1024 - 2))
        sent = self.ok("send", "T", "-", "--payload-limit", "16MiB", stdin=largest)
        self.assertEqual(self.ok("message", "show", sent["id"])["payload_bytes"], 16 * 1024 * 1024)
        self.refused(EXIT_CODES["invalid"], "16777216", "send", "T", "-", "--payload-limit", "16MiB",
                     stdin=largest + " ")

    def test_bad_names(self):
        self.refused(EXIT_CODES["usage"], "TYPE is empty", "send", "")
        self.refused(EXIT_CODES["usage"], "--stream must have 1 to 200 bytes", "send", "T", "--stream", "s" * 201)
        self.refused(EXIT_CODES["invalid"], "stream", "send", "T", "--stream", b"\xff\xfe")

    # covers: B3.4 BX.2
    def test_inbox_deduplicates(self):
        inbox = ["--kind", "inbox", "--consumer", "mailer", "--id", ABSENT]
        self.assertEqual(self.ok("send", "T", '{"a":1}', *inbox)["answer"], "applied")
        self.assertEqual(self.ok("send", "T", '{"a":1}', *inbox)["answer"], "duplicate")
        other = ["--kind", "inbox", "--consumer", "biller", "--id", ABSENT]
        self.assertEqual(self.ok("send", "T", '{"a":1}', *other)["answer"], "applied")
        result = self.run_pawl("send", "T", '{"a":2}', *inbox)
        self.assertEqual(result.code, EXIT_CODES["conflict"], result)
        self.assertEqual(result.json()["answer"], "conflict")
        self.assertIn("another payload", result.err)
        listed = self.ok("message", "list", "--id", ABSENT)
        self.assertEqual([row["consumer"] for row in listed], ["mailer", "biller"])
        shown = self.run_pawl("message", "show", ABSENT)
        self.assertEqual(shown.json(), listed[-1])
        self.assertIn("2 messages have this id", shown.err)

    def test_request_key(self):
        key = str(uuid.uuid4())
        self.assertEqual(self.ok("send", "T", "--request", key)["answer"], "applied")
        self.assertEqual(self.ok("send", "T", "--request", key)["answer"], "duplicate")
        self.assertEqual(len(self.ok("message", "list")), 1)

    def test_count(self):
        rows = self.ok("send", "T", "--stream", "s", "--count", "1203")
        self.assertEqual(len({row["id"] for row in rows}), 1203)
        seen, after = [], 0
        while page := self.ok("message", "list", "--limit", "500", "--after", str(after)):
            seen += [row["id"] for row in page]
            after = page[-1]["seq"]
        self.assertEqual(seen, [row["id"] for row in rows])
        self.assertEqual(len(self.run_pawl("message", "list", "--limit", "1203", "-o", "ndjson").lines()), 1203)
        table = self.run_pawl("send", "T", "--count", "3", "-o", "table")
        self.assertEqual(table.out, "3 sent: 3 applied, 0 duplicate, 0 conflict\n")

    def test_ndjson(self):
        lines = ['{"type": "A", "payload": {"big": 123456789012345678901234567890}, "stream": "s"}', "",
                 '{"payload": [1, {"x": "}"}], "id": "%s"}' % ABSENT,
                 '  {"type":"C","payload":"\\"","topic":"t","headers":{"h":1},"stream":"\\u00e9\\ud83d\\ude00"}  ',
                 '{"type": "D", "stream": null}']
        rows = self.ok("send", "default", "--ndjson", "-", "--stream", "d", stdin="\n".join(lines))
        self.assertEqual([(row["type"], row["stream"]) for row in rows],
                         [("A", "s"), ("default", "d"), ("C", "é😀"), ("D", "d")])
        self.assertIn("123456789012345678901234567890", self.run_pawl("message", "show", rows[0]["id"]).out)
        self.assertEqual(rows[1]["id"], ABSENT)
        self.assertEqual(self.ok("message", "show", ABSENT)["payload"], [1, {"x": "}"}])
        shown = self.ok("message", "show", rows[2]["id"])
        self.assertEqual((shown["payload"], shown["topic"], shown["headers"]), ('"', "t", {"h": 1}))

    def test_ndjson_of_events(self):
        line = {"type": "made", "payload": {"n": 1}, "metadata": {"by": "me"}}
        self.ok("event", "append", "s", "--ndjson", "-", stdin=json.dumps(line))
        event, = self.ok("event", "list", "--stream", "s")
        self.assertEqual((event["payload"], event["metadata"]), ({"n": 1}, {"by": "me"}))
        self.ok("event", "append", "s", "--ndjson", "-", stdin=json.dumps({**line, "stream": "s"}))
        for wrong, reason in (({"stream": "other"}, "one stream"), ({"unheard": 1}, "pawl help events append")):
            result = self.run_pawl("event", "append", "s", "--ndjson", "-", stdin=json.dumps({**line, **wrong}))
            self.assertEqual(result.code, EXIT_CODES["invalid"])
            self.assertIn(reason, result.err)
        self.assertEqual(len(self.ok("event", "list", "--stream", "s")), 2)
        self.refused(EXIT_CODES["conflict"], "at version 2, not at 0", "event", "append", "s", "made", "{}", "--expected", "0")
        self.refused(EXIT_CODES["not found"], "there is no schedule nightly", "why", "schedule", "nightly")
        self.refused(EXIT_CODES["not found"], "audit list", "why", "job", "7")

    def test_find(self):
        first = self.ok("send", "order.created", "--stream", "customer-17")["id"]
        self.ok("event", "append", "account-1", "made", "{}")
        job = self.ok("job", "enqueue", "mail.send")["id"]
        pipeline = self.dir / "report.json"
        pipeline.write_text(json.dumps({"steps": [{"id": "a", "uses": "pawl.send", "with": {"type": "made"}}]}))
        self.ok("task", "create", "report", "--cron", "0 3 * * *", "--pipeline", str(pipeline))
        found = lambda word: [(row["kind"], row["id"]) for row in self.ok("find", word)]
        self.assertIn(("message", first), found(first[:20]))
        self.assertIn(("message", first), found(first))
        self.assertEqual(found("customer-17"), [("stream", "customer-17")])
        self.assertEqual(found("account-1"), [("stream", "account-1")])
        self.assertEqual(found(str(job)), [("job", str(job))])
        self.assertEqual(found("repo"), [("task", "report"), ("schedule", "report")])
        self.assertEqual(found("report"), [("task", "report"), ("schedule", "report")])
        for word in ("reports", "customer-1", "0", "zz", "%", "'"):
            self.assertEqual(found(word), [], word)

    def test_an_append_that_is_repeated(self):
        line = {"id": ABSENT, "type": "made", "payload": {"n": 1}}
        first = self.ok("event", "append", "s", "--expected", "0", "--ndjson", "-", stdin=json.dumps(line))
        self.ok("event", "append", "s", "paid")
        again = self.ok("event", "append", "s", "--expected", "0", "--ndjson", "-", stdin=json.dumps(line))
        self.assertEqual((again["answer"], again["first_version"], again["version"]), ("duplicate", 1, 1))
        self.assertEqual((first["answer"], first["version"]), ("applied", 1))
        for stream, change in (("s", {"payload": {"n": 2}}), ("s", {"type": "unmade"}), ("other", {})):
            result = self.run_pawl("event", "append", stream, "--ndjson", "-", stdin=json.dumps({**line, **change}))
            self.assertEqual(result.code, EXIT_CODES["conflict"], result)
            self.assertIn("an id of the call is known", result.err)
        self.assertEqual(len(self.ok("event", "list", "--stream", "s")), 2)

    def test_bad_ndjson(self):
        good = '{"type": "A", "payload": 1}\n'
        cases = [("[1]", "not an object"), ('{"type": "A", "paylod": 1}', 'Did you mean "payload"?'),
                 ('{"type": 5, "payload": 1}', "type is not a string"), ("{", "line 2"),
                 ('{"type": "A", "type": "B", "payload": 1}', "twice"), ('{"payload": 1}', "type"),
                 ('{"type": "A", "payload": 1, "id": "x"}', "not a UUID"),
                 ('{"type": "A", "payload": "%s"}' % ("x" * 300_000), "line 2")]
        for line, fragment in cases:
            result = self.run_pawl("send", "--ndjson", "-", stdin=good + line + "\n" + good)
            self.assertEqual(result.code, EXIT_CODES["invalid"], result)
            self.assertIn(fragment, result.err, result)
            self.assertIn("line 2", result.err, result)
            self.assertIn("No message of the file was sent", result.err)
        self.assertEqual(self.ok("message", "list"), [])
        result = self.run_pawl("send", "--ndjson", "-", stdin=good * 600 + "{\n")
        self.assertIn("line 601", result.err)
        self.assertIn("The first 500 messages of the file were sent", result.err)
        self.assertEqual(len(json.loads(result.out)), 500)
        self.assertEqual(self.ok("status")["kinds"][0]["ready"], 500)
        key = str(uuid.uuid4())
        result = self.run_pawl("send", "--request", key, "--ndjson", "-", stdin=good * 600 + "{\n")
        self.assertIn("No message of the file was sent", result.err)
        self.assertEqual(len(self.ok("send", "--request", key, "--ndjson", "-", stdin=good * 600)), 600)
        again = self.ok("send", "--request", key, "--ndjson", "-", stdin=good * 600)
        self.assertEqual({row["answer"] for row in again}, {"duplicate"})

    def test_unknown_message(self):
        self.refused(EXIT_CODES["not found"], ABSENT, "message", "show", ABSENT)
        self.refused(EXIT_CODES["not found"], ABSENT, "why", ABSENT)
        self.refused(EXIT_CODES["not found"], ABSENT, "message", "show", ABSENT)
        self.refused(EXIT_CODES["not found"], ABSENT, "message", "retry", ABSENT)
        self.refused(EXIT_CODES["not found"], ABSENT, "instance", "evict", ABSENT)
        error = json.loads(self.run_pawl("-o", "json", "why", ABSENT).err)
        self.assertEqual((error["status"], error["exit_code"], error["command"]), ("not found", 66, "why"))


class WorkTest(CliTest):
    """Messages that are running, waiting, dead or done."""

    def setUp(self):
        super().setUp()
        self.migrate("--lanes", "4", "--partitions", "64")

    def send(self, stream, count=1):
        return [self.ok("send", "order.created", json.dumps({"n": n}), "--stream", stream)["id"] for n in range(count)]

    def test_running(self):
        ids = self.send("s", 2)
        instance = self.register()
        self.assertEqual(self.ok("why", ids[0])["cause"], "ready")
        claimed = self.worker("claim", instance, 1, 1, 600000)
        self.assertEqual([row[1] for row in claimed], ids[:1])
        why = self.ok("why", ids[0])
        self.assertEqual((why["cause"], why["state"], why["instance"]), ("running", "leased", instance))
        self.assertGreater(why["until_ms"], why["now_ms"])
        self.assertIn(instance, why["explanation"])
        behind = self.ok("why", ids[1])
        self.assertIn(behind["cause"], ("behind", "ready"))
        if behind["cause"] == "behind":
            self.assertEqual((behind["blocker_id"], behind["blocker_cause"]), (ids[0], "running"))
            self.assertIn(ids[0], behind["explanation"])
        lanes = self.ok("partition", "list", "--kind", "outbox")
        self.assertEqual({lane["owner"] for lane in lanes}, {instance})
        self.assertEqual(sum(lane["claims"] for lane in lanes), 1)
        rows = self.ok("instance", "list")
        self.assertEqual((rows[0]["id"], rows[0]["state"], rows[0]["in_flight"]), (instance, "active", 1))
        self.assertEqual(rows[0]["outbox_lanes"], 4)
        self.assertEqual([row["id"] for row in self.ok("message", "list", "--state", "leased")], ids[:1])
        self.assertEqual(self.ok("check"), [])

    def test_evict(self):
        ids = self.send("s")
        instance = self.register()
        self.worker("claim", instance, 1, 10, 600000)
        self.assertEqual(self.ok("instance", "evict", instance)["state"], "evicted")
        self.assertEqual(self.ok("instance", "list")[0]["state"], "evicted")
        shown = self.ok("message", "show", ids[0])
        self.assertEqual((shown["deaths"], shown["reason"]), (0, "expired"))
        self.assertIn(self.ok("why", ids[0])["cause"], ("no owner", "suspect"))
        self.assertEqual(self.ok("check"), [])

    def test_retry_and_behind(self):
        ids = self.send("s", 2)
        instance = self.register()
        claimed = self.worker("claim", instance, 1, 10, 600000)
        self.worker("fail", instance, 1, claimed[0][0], ids[0], "retry", "timeout after 30 s")
        why = self.ok("why", ids[0])
        self.assertEqual((why["cause"], why["state"], why["message"]["attempts"]), ("scheduled", "scheduled", 1))
        self.assertIn("timeout after 30 s", why["explanation"])
        behind = self.ok("why", ids[1])
        self.assertEqual((behind["cause"], behind["blocker_id"], behind["blocker_cause"]),
                         ("behind", ids[0], "scheduled"))
        self.assertIn(f"pawl why {ids[0]}", behind["next"])
        self.assertEqual([row["id"] for row in self.ok("message", "list", "--state", "blocked")], ids[1:])

    def test_dead_letters(self):
        ids = self.send("a") + self.send("b") + self.send("c")
        instance = self.register()
        for token, claimed in self.worker("claim", instance, 1, 10, 600000):
            number = 4711 + ids.index(claimed)
            self.worker("fail", instance, 1, token, claimed, "permanent", f"no such customer {number}")
        self.assertEqual(sorted(row["id"] for row in self.ok("message", "list", "--state", "dead")), sorted(ids))
        heading, first = self.run_pawl("message", "list", "--state", "dead", "-o", "table").out.splitlines()[:2]
        self.assertRegex(heading, "ID +KIND +STREAM +TYPE .*ERROR$")  # their state is known
        self.assertRegex(first, "no such customer 471[1-3]$")
        shown = self.ok("message", "show", ids[0])
        self.assertEqual((shown["reason"], shown["error"]), ("permanent", "no such customer 4711"))
        why = self.ok("why", ids[0])
        self.assertEqual(why["cause"], "dead")
        self.assertIn(f"pawl message retry {ids[0]}", why["next"])
        groups = self.ok("message", "failures")
        self.assertEqual([(group["count"], group["kind"]) for group in groups], [(3, "outbox")])
        found = self.ok("message", "list", "--state", "dead", "--fingerprint", groups[0]["fingerprint"])
        self.assertEqual(len(found), 3)
        self.assertEqual(self.ok("status")["kinds"][0]["dead"], 3)
        # Nothing happens without consent.
        self.refused(EXIT_CODES["conflict"], "--yes", "message", "retry", "--all")
        self.refused(EXIT_CODES["conflict"], "--yes", "message", "delete", ids[0])
        dry = self.ok("message", "retry", "--all", "--dry-run")
        self.assertEqual({row["answer"] for row in dry}, {"dry run"})
        self.assertEqual(len(self.ok("message", "list", "--state", "dead")), 3)
        # One by id, one by filter, the last is given up.
        self.assertEqual(self.ok("message", "retry", ids[0])[0]["answer"], "applied")
        self.assertEqual(self.ok("message", "show", ids[0])["reason"], "redriven")
        self.assertEqual(self.ok("message", "retry", "--stream", "b", "--yes")[0]["id"], ids[1])
        self.refused(EXIT_CODES["not found"], ids[0], "message", "retry", ids[0])
        self.assertEqual(self.ok("message", "delete", "--fingerprint", groups[0]["fingerprint"], "--yes")[0]["id"],
                         ids[2])
        self.assertEqual(self.ok("message", "list", "--state", "dead"), [])
        self.assertEqual(self.ok("message", "retry", "--all", "--yes"), [])
        self.assertEqual(self.ok("check"), [])

    def test_blocked_stream(self):
        self.ok("setting", "set", "--dead-policy", "block")
        ids = self.send("s", 3)
        instance = self.register()
        self.kill_message(instance, ids[0])
        why = self.ok("why", ids[1])
        self.assertEqual((why["cause"], why["blocker_id"]), ("blocked", ids[0]))
        self.assertIn(f"pawl message retry {ids[0]}", why["next"])
        text = self.run_pawl("why", ids[1], "-o", "table").out
        self.assertIn(f"blocked by dead letter {ids[0]}", text)
        self.assertIn("What to do: ", text)
        self.ok("message", "delete", ids[0], "--yes")
        self.assertNotEqual(self.ok("why", ids[1])["cause"], "blocked")
        self.assertEqual(self.ok("check"), [])

    def test_parked_stream(self):
        self.ok("setting", "set", "--dead-policy", "park")
        ids = self.send("s", 3)
        instance = self.register()
        self.kill_message(instance, ids[0])
        reasons = {row["id"]: row["reason"] for row in self.ok("message", "list", "--state", "dead")}
        self.assertEqual(reasons, {ids[0]: "permanent", ids[1]: "parked", ids[2]: "parked"})
        result = self.run_pawl("message", "retry", ids[1])
        self.assertEqual(result.code, EXIT_CODES["conflict"], result)
        self.assertEqual(result.json()[0]["answer"], "conflict")
        self.assertIn("the dead letter it waits for", result.err)
        table = self.run_pawl("message", "retry", "--stream", "s", "--yes", "-o", "table").out
        self.assertIn("1 retried", table)
        self.assertIn("2 parked ones follow", table)
        self.assertEqual(self.ok("message", "list", "--state", "dead"), [])
        self.assertEqual(self.ok("check"), [])

    # covers: W47
    def test_history_archive(self):
        self.ok("setting", "set", "--history", "30d")
        ids = self.send("s", 3)
        instance = self.register()
        for token, claimed in self.worker("claim", instance, 1, 10, 600000):
            self.assertEqual(self.worker("complete", instance, 1, token, claimed), [["1"]])
        self.assertEqual([row["id"] for row in self.ok("message", "list", "--state", "done")], ids)
        self.assertEqual(self.ok("why", ids[0])["cause"], "done")
        archive = self.dir / "done.ndjson"
        none = self.ok("message", "archive", "--before", "1h", "--to", str(archive))
        self.assertEqual((none["archived"], none["removed"]), (0, 0))
        done = self.ok("message", "archive", "--before", "0", "--to", str(archive))
        self.assertEqual((done["archived"], done["removed"]), (3, 3))
        lines = [json.loads(line) for line in archive.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([line["id"] for line in lines], ids)
        self.assertEqual([line["payload"] for line in lines], [{"n": n} for n in range(3)])
        self.assertEqual(self.ok("message", "list", "--state", "done"), [])
        self.assertFalse(stat.S_IMODE(archive.stat().st_mode) & 0o007, "others can read the archive")

    def test_history_archive_never_loses(self):
        self.ok("setting", "set", "--history", "30d")
        self.send("s", 2)
        instance = self.register()
        for token, claimed in self.worker("claim", instance, 1, 10, 600000):
            self.worker("complete", instance, 1, token, claimed)
        archive = self.dir / "done.ndjson"
        archive.write_text('{"half', encoding="utf-8")
        self.refused(EXIT_CODES["conflict"], "half a line", "message", "archive", "--before", "0", "--to", str(archive))
        self.refused(EXIT_CODES["invalid"], "", "message", "archive", "--before", "0", "--to", str(self.dir))
        self.refused(EXIT_CODES["invalid"], "regular file", "message", "archive", "--before", "0", "--to", "/dev/full")
        # A file that may not grow: the write fails in the middle, nothing is removed, no half line stays.
        archive.unlink()
        limited = ["bash", "-c", "ulimit -f 0; trap '' XFSZ; exec \"$@\"", "bash", Setup.pawl, "message", "archive",
                   "--before", "0", "--to", str(archive)]
        if Setup.dialect == "postgres":  # SQLite itself cannot write under such a limit
            done = subprocess.run(limited, env=self.env, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, EXIT_CODES["unavailable"], done)
            self.assertEqual(archive.read_text(encoding="utf-8"), "")
        self.assertEqual(len(self.ok("message", "list", "--state", "done")), 2)

    def test_all_rows_in_little_memory(self):
        """A list has every row, page by page: ten times as many need no more memory."""
        def peak(*words):
            rows = most = 0
            with subprocess.Popen([Setup.pawl, "message", "list", "-o", "ndjson", *words], env=self.env, cwd=self.dir, stdout=subprocess.PIPE) as process:
                for _ in process.stdout:
                    rows += 1
                    if rows % 1000 == 500:  # it cannot be far ahead: a pipe holds less than 200 of them
                        status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
                        sanitized = "libasan" in pathlib.Path(f"/proc/{process.pid}/maps").read_text(encoding="ascii")
                        most = 0 if sanitized else int(re.search(r"VmHWM:\s+(\d+)", status).group(1))  # which keeps what is freed
            self.assertEqual(process.returncode, 0)
            return rows, most
        self.ok("send", "a", json.dumps({"n": "x" * 100}), "--stream", "s", "--count", "50000")
        few, all_of_them = peak("--limit", "5000"), peak()
        print(f"# {few[0]} rows: {few[1]} kB, {all_of_them[0]} rows: {all_of_them[1]} kB", flush=True)
        self.assertEqual((few[0], all_of_them[0]), (5000, 50000))
        self.assertLess(all_of_them[1], 32768)
        self.assertLess(all_of_them[1] - few[1], 16384)  # the store fills its cache; a row of the list has about a kilobyte

    def test_wide_tables(self):
        """A wide table has room for every column of its rows."""
        for words in ("run list", "run stuck", "messages list", "job list", "instances list", "perspective list",
                      "audit list", "task list", "alerts list"):
            answer = self.run_pawl(*words.split(), "-o", "wide")
            self.assertEqual((answer.code, answer.err), (0, ""), words)

    def test_a_list_of_jobs_goes_on_beyond_one_question(self):
        """--limit may be above what the store gives at once."""
        self.ok("job", "enqueue", "t", "--count", "5003")
        shown = [row["id"] for row in self.ok("job", "list", "--limit", "5001")]
        self.assertEqual((len(shown), len(set(shown))), (5001, 5001))
        rest = [row["id"] for row in self.ok("job", "list", "--limit", "5001", "--after", str(shown[-1]))]
        self.assertEqual(len(set(shown + rest)), 5003)

    def test_what_follows_ends_with_an_interrupt(self):
        """Also where a shell had it ignored, as it does for what runs in the background."""
        self.ok("event", "append", "s", "Made", "{}")
        (self.dir / "run.yaml").write_text("name: r\npartitions: {list: [a]}\npage: {uses: shop.page}\n", encoding="utf-8")
        for words in ("events tail", "run start run.yaml --watch"):
            with subprocess.Popen(["bash", "-c", "trap '' INT; exec \"$@\"", "bash", Setup.pawl, *words.split()], env=self.env,
                                  cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                try:
                    self.assertNotEqual(process.stdout.readline(), b"", words)
                    process.send_signal(signal.SIGINT)
                    self.assertEqual(process.wait(cli_support.SECONDS_MAX), -signal.SIGINT, words)
                finally:
                    process.kill()

    def test_settings(self):
        before = self.ok("setting", "list")
        self.assertEqual((before["partition_count"], before["lane_count"]), (64, 4))
        after = self.ok("setting", "set", "--max-attempts", "9", "--history", "36h", "--dedupe", "1d", "--stale", "20m",
                        "--instance-lease", "30s", "--dead-policy", "park")
        self.assertEqual(after, self.ok("setting", "list"))
        self.assertEqual((after["max_attempts"], after["history_ms"], after["dedupe_ms"], after["stale_ms"],
                          after["instance_lease_ms"], after["dead_policy"]),
                         (9, 129600000, 86400000, 1200000, 30000, "park"))
        for key in ("epoch", "schema_version", "partition_count", "lane_count"):
            self.assertEqual(after[key], before[key])

    def test_maintain(self):
        result = self.ok("maintain")
        self.assertEqual(result["instances_removed"], 0)
        self.assertIn("claims_expired", result)

    def test_check_finds_damage(self):
        self.send("s")
        instance = self.register()
        self.worker("claim", instance, 1, 10, 600000)
        self.assertEqual(self.ok("check"), [])
        self.sql("DELETE FROM pawl_internal.message")
        result = self.run_pawl("check")
        self.assertEqual(result.code, EXIT_CODES["violations"], result)
        self.assertTrue(result.json())
        self.assertTrue(result.json()[0]["invariant"])
        self.assertEqual(self.run_pawl("check", "-o", "table").code, EXIT_CODES["violations"])

    def test_filters(self):
        first = self.ok("send", "A", "--stream", "s", "--topic", "x")["id"]
        second = self.ok("send", "B", "--stream", "t", "--topic", "y")["id"]
        third = self.ok("send", "A", "--kind", "inbox", "--consumer", "c", "--stream", "s")["id"]

        def ids(*args):
            return [row["id"] for row in self.ok("message", "list", *args)]

        self.assertEqual(ids(), [first, second, third])
        self.assertEqual(ids("--type", "A"), [first, third])
        self.assertEqual(ids("--stream", "s", "--kind", "outbox"), [first])
        self.assertEqual(ids("--topic", "y"), [second])
        self.assertEqual(ids("--limit", "1"), [first])
        self.assertEqual(ids("--state", "dead"), [])
        self.assertEqual(ids("--kind", "inbox", "--state", "ready"), [third])


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
