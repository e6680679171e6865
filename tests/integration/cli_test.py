#!/usr/bin/env python3
"""The program pawl from outside: every command, what it prints, and how it ends when the input is bad."""
import json
import os
import pty
import select
import shutil
import socket
import stat
import subprocess
import sys
import unittest
import uuid

import cli_support
from cli_support import CliTest, Setup

EXIT_CODES = {"ok": 0, "violations": 1, "usage": 64, "invalid": 65, "not found": 66, "unavailable": 69, "internal": 70,
              "no memory": 71, "conflict": 73, "stale": 74, "busy": 75, "unknown": 76}
ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


def sqlite_only(function):
    return unittest.skipUnless(Setup.dialect != "postgres", "only where the database is a file")(function)


class HelpTest(CliTest):
    """Help, usage and exit codes need no database."""

    def test_overview_lists_every_command(self):
        result = self.run_pawl("help")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.out, self.run_pawl().out)
        self.assertEqual(result.out, self.run_pawl("--help").out)
        for command in self.commands():
            self.assertIn(f"\n  {command} ", result.out)

    def commands(self):
        out = self.run_pawl("help", "markdown").out
        return [line[len("### pawl "):] for line in out.splitlines() if line.startswith("### pawl ")]

    def test_every_command_has_help(self):
        commands = self.commands()
        self.assertGreater(len(commands), 20)
        self.assertEqual(self.run_pawl("help", "help").out[:16], "Usage: pawl help")
        for command in commands[:-1]:  # the last one is help, whose --help is the overview
            words = command.split()
            result = self.run_pawl(*words, "--help")
            self.assertEqual(result.code, 0, result)
            self.assertTrue(result.out.startswith(f"Usage: pawl {command}"), result)
            self.assertIn("--database-url", result.out)
            self.assertEqual(result.out, self.run_pawl(*words, "-h").out)
            self.assertTrue(all(len(line) <= 100 for line in result.out.splitlines()), result)

    def test_reference_is_made_from_the_table(self):
        document = (Setup.root / "docs" / "cli.md").read_text(encoding="utf-8")
        begin, end = "<!-- begin: pawl help markdown -->\n", "<!-- end: pawl help markdown -->"
        part = document[document.index(begin) + len(begin):document.index(end)]
        self.assertEqual(part.strip(), self.run_pawl("help", "markdown").out.strip(),
                         "docs/cli.md is old: put the output of pawl help markdown between its markers")

    def test_exit_codes(self):
        rows = self.ok("help", "exit-codes", "-o", "json")
        self.assertEqual({row["status"]: row["exit_code"] for row in rows}, EXIT_CODES)

    def test_version_flag(self):
        result = self.run_pawl("--version")
        self.assertRegex(result.out, r"^pawl \d+\.\d+\.\d+\n$")

    def test_usage(self):
        cases = [
            (["sned"], "Did you mean pawl send?"),
            (["xyzzy"], "pawl help lists them all"),
            (["dead", "lst"], "Did you mean pawl dead list?"),
            (["help", "sned"], "Did you mean pawl send?"),
            (["send", "T", "--strem", "x"], "Did you mean --stream?"),
            (["send", "T", "--zzzzzzzzzzz"], "pawl help send"),
            (["send"], "it needs a type"),
            (["send", "T", "{}", "more"], "\"more\" is one word too many"),
            (["send", "T", "--stream"], "--stream needs a value"),
            (["send", "T", "--stream", ""], "--stream is empty"),
            (["send", "T", "--count", "0"], "not a whole number from 1"),
            (["send", "T", "--count", "2", "--id", ABSENT], "leave one out"),
            (["send", "T", "--id", "12"], "not a UUID"),
            (["send", "T", "--kind", "outbux"], "not one of outbox|inbox"),
            (["send", "T", "--kind", "inbox"], "needs --consumer"),
            (["send", "T", "--consumer", "c"], "--consumer is for --kind inbox"),
            (["send", "T", "--yes"], "does not take --yes"),
            (["send", "T", "--lanes", "3"], "does not take --lanes"),
            (["send", "T", "--payload-limit", "17MiB"], "--payload-limit"),
            (["messages", "show", "0189"], "a whole UUID is needed"),
            (["messages", "show"], "needs more words"),
            (["why", ABSENT[:-1] + "g"], "a whole UUID is needed"),
            (["messages", "-o", "table", "-o", "json"], "two outputs"),
            (["messages", "-o", "xml"], "xml"),
            (["messages", "--limit", "-1"], "not a whole number"),
            (["status", "--lease", "-5s"], "-5s"),
            (["status", "--connect-timeout", "-1s"], "-1s"),
            (["dead", "redrive"], "it needs ids, or a filter"),
            (["dead", "discard", ABSENT, "--all"], "exclude each other"),
            (["history", "archive"], "--before DURATION and --to FILE"),
            (["history", "archive", "--before", "x", "--to", "f"], "not a duration"),
            (["settings", "set", "max_attemps=3"], "Did you mean max_attempts?"),
            (["settings", "set", "lane_count=3"], "fixed when the schema is made"),
            (["settings", "set", "instance_lease=-5s"], "needs a duration"),
            (["settings", "set", "dead_policy=explode"], "block, skip or park"),
            (["settings", "set", "max_attempts"], "KEY=VALUE"),
            (["migrate", "--lanes", "0"], "--lanes"),
        ]
        for args, fragment in cases:
            with self.subTest(args=args):
                self.refused(EXIT_CODES["usage"], fragment, *args)
        self.assertEqual(os.listdir(self.dir), [], "wrong usage made a file")

    def test_errors_as_json(self):
        for args in (["-o", "json", "sned"], ["sned", "--output=ndjson"], ["-ojson", "why", "12"]):
            result = self.run_pawl(*args)
            error = json.loads(result.err)
            self.assertEqual(error["exit_code"], result.code)
            self.assertEqual(error["status"], "usage")
            self.assertTrue(error["error"])

    def test_configuration_file(self):
        (self.dir / "pawl.ini").write_text("output = json\ndatabase_url = gone.db\n", encoding="utf-8")
        result = self.run_pawl("--config", "pawl.ini", "status", env={"DATABASE_URL": None})
        self.assertEqual(result.code, EXIT_CODES["not found"], result)
        self.assertIn("gone.db", json.loads(result.err)["error"])
        self.refused(EXIT_CODES["not found"], "none.ini", "--config", "none.ini", "status")


class DatabaseTest(CliTest):
    """Databases that are missing, down, wrong or too new."""

    @sqlite_only
    def test_no_file(self):
        for args in (["status"], ["messages"], ["check"], ["why", ABSENT], ["settings"]):
            self.refused(EXIT_CODES["not found"], "there is no database at pawl.db. Run pawl migrate", *args,
                         env={"DATABASE_URL": None})
        self.assertEqual(os.listdir(self.dir), [])

    @sqlite_only
    def test_send_makes_the_file(self):
        result = self.run_pawl("send", "order.created", '{"id": 1}', env={"DATABASE_URL": None})
        self.assertEqual(result.code, 0, result)
        self.assertIn("there was no database at pawl.db: made it", result.err)
        self.assertEqual(result.json()["answer"], "applied")
        self.assertEqual(len(self.ok("messages", env={"DATABASE_URL": None})), 1)

    def test_not_migrated(self):
        if Setup.dialect == "sqlite":
            (self.dir / "pawl.db").touch()
        self.refused(EXIT_CODES["conflict"], "pawl migrate", "status")

    def test_malformed_address(self):
        self.refused(EXIT_CODES["invalid"], "mysql://", "status", "--database-url", "mysql://user:secret@host/db")
        for url in ("postgres://user:se cret@host:x/db", "postgres://user:secret@[bad/db",
                    "host=localhost password=secret port=abc", "postgres://u:secret@127.0.0.1:99999999/db"):
            result = self.run_pawl("status", "--database-url", url)
            self.assertIn(result.code, (EXIT_CODES["invalid"], EXIT_CODES["unavailable"]), result)
            self.assertNotIn("secret", result.out + result.err)
            self.assertNotIn("cret@", result.out + result.err)

    def test_database_down(self):
        with socket.socket() as listener:  # bound but not listening: nobody else can take the port
            listener.bind(("127.0.0.1", 0))
            url = f"postgres://user:hidden@127.0.0.1:{listener.getsockname()[1]}/db"
            for args in (["status"], ["send", "T"], ["migrate"]):
                result = self.run_pawl(*args, "--connect-timeout", "5s", env={"DATABASE_URL": url})
                self.assertEqual(result.code, EXIT_CODES["unavailable"], result)
                self.assertIn("try again", result.err)
                self.assertNotIn("hidden", result.err)
            result = self.run_pawl("version", env={"DATABASE_URL": url})
            self.assertEqual(result.code, 0, result)
            self.assertIsNone(result.json()["schema_version"])
            self.assertTrue(result.json()["database_error"])
            self.assertNotIn("hidden", result.out)

    def test_wrong_schema_name(self):
        for schema in ("Robert'); drop", "1abc", "x" * 64):
            result = self.run_pawl("migrate", "--schema", schema)
            self.assertEqual(result.code, EXIT_CODES["invalid"], result)
            self.assertIn("schema", result.err)

    @sqlite_only
    def test_read_only_file(self):
        self.migrate()
        self.ok("send", "T")
        os.chmod(self.dir, 0o755)
        self.dir.joinpath("home").mkdir()
        for name in os.listdir(self.dir):
            os.chmod(self.dir / name, 0o555 if name == "home" else 0o444)
        os.chmod(self.dir, 0o555)
        self.addCleanup(os.chmod, self.dir, 0o755)
        program = cli_support.Setup.pawl
        user = {}
        if os.geteuid() == 0:  # root may write everything: become somebody else, who can reach a copy of the program
            copy = self.dir.with_name(self.dir.name + "-bin")
            copy.mkdir()
            self.addCleanup(shutil.rmtree, copy)
            shutil.copy(program, copy / "pawl")
            os.chmod(copy, 0o755)
            os.chmod(copy / "pawl", 0o755)
            program = str(copy / "pawl")
            user = {"user": 65534, "group": 65534, "extra_groups": []}
        done = subprocess.run([program, "send", "T"], env=self.env, cwd="/", stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False, **user)
        self.assertIn(done.returncode, (EXIT_CODES["invalid"], EXIT_CODES["unavailable"], EXIT_CODES["conflict"]),
                      done)
        self.assertRegex(done.stderr.lower(), "read.?only|permission|writ", done)
        self.assertEqual(done.stderr.count("\n"), 1, done)

    @sqlite_only
    def test_not_a_database(self):
        (self.dir / "pawl.db").write_bytes(b"This is a text file, not a database.\n" * 100)
        result = self.run_pawl("status")
        self.assertIn(result.code, (EXIT_CODES["invalid"], EXIT_CODES["conflict"]), result)
        self.assertIn("not a database", result.err)

    def test_newer_schema(self):
        version = self.migrate()["version"]
        columns = "version, name, checksum, applied_ms" if Setup.dialect == "sqlite" else None
        if columns is None:
            columns = ", ".join(row[0] for row in self.sql(
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'schema_migration' "
                f"AND table_schema = '{self.schema}' ORDER BY ordinal_position"))
        newer = columns.replace("version", str(version + 1), 1)
        self.sql(f"INSERT INTO schema_migration ({columns}) SELECT {newer} FROM schema_migration WHERE version = "
                 f"{version}")
        for args in (["status"], ["send", "T"], ["migrate"]):
            result = self.refused(EXIT_CODES["conflict"], str(version + 1), *args)
            self.assertIn("newer", result.err)
        self.assertEqual(self.ok("version")["schema_version"], version + 1)

    # covers: W35
    def test_counts_are_fixed(self):
        made = self.migrate("--partitions", "100", "--lanes", "8")
        self.assertEqual((made["partition_count"], made["lane_count"]), (100, 8))
        self.assertGreater(made["applied"], 0)
        self.assertEqual(self.migrate()["applied"], 0)
        self.assertEqual(self.migrate("--lanes", "8")["applied"], 0)
        result = self.run_pawl("migrate", "--lanes", "9")
        self.assertIn(result.code, (EXIT_CODES["conflict"], EXIT_CODES["invalid"]), result)
        lanes = self.ok("partitions", "--kind", "outbox")
        self.assertEqual([lane["partitions"] for lane in lanes], [13] * 4 + [12] * 4)

    def test_version(self):
        self.migrate()
        row = self.ok("version")
        self.assertEqual(row["dialect"], Setup.dialect)
        self.assertGreaterEqual(row["schema_version"], 1)
        self.assertRegex(row["sqlite"], r"^3\.")
        self.assertRegex(row["libpq"], r"^\d+\.\d+$")


class SendTest(CliTest):
    """What can be sent, and what cannot."""

    def setUp(self):
        super().setUp()
        self.migrate()

    def test_walk(self):
        """From an empty database to five waiting messages, as a newcomer would do it."""
        ids = [self.ok("send", "order.created", json.dumps({"n": n}), "--stream", "order-1")["id"] for n in range(5)]
        rows = self.ok("messages", "list", "--stream", "order-1")
        self.assertEqual([row["id"] for row in rows], ids)
        self.assertEqual([row["payload"] for row in rows], [{"n": n} for n in range(5)])
        self.assertEqual({row["state"] for row in rows}, {"ready"})
        shown = self.ok("messages", "show", ids[2])
        self.assertEqual((shown["id"], shown["payload"], shown["stream"]), (ids[2], {"n": 2}, "order-1"))
        why = self.ok("why", ids[0])
        self.assertEqual(why["cause"], "no owner")
        self.assertIn("Start a worker", why["next"])
        place = self.ok("partitions", "of", "order-1")
        self.assertEqual((place["partition"], place["lane"]), (shown["partition"], shown["lane"]))
        self.assertEqual(place["lane"], place["partition"] % place["lane_count"])
        lanes = self.ok("partitions")
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
        row = self.ok("messages", "show", ABSENT)
        self.assertEqual((row["type"], row["stream"], row["topic"], row["traceparent"]), ("T", "s", "t", "00-1-2-03"))
        self.assertEqual(row["headers"], {"k": "v", "x": "a=b"})
        self.assertEqual((row["correlation_id"], row["causation_id"]), (ABSENT, ABSENT))
        self.assertEqual(row["payload"], {"a": [1, None]})
        self.refused(EXIT_CODES["invalid"], "KEY=VALUE", "send", "T", "--header", "k")
        self.refused(EXIT_CODES["invalid"], "twice", "send", "T", "--header", "k=1", "--header", "k=2")

    def test_payload_sources(self):
        (self.dir / "p.json").write_text('{"from": "file"}', encoding="utf-8")
        found = [self.ok("messages", "show", self.ok(*args, stdin=stdin)["id"])["payload"] for args, stdin in (
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
        self.assertEqual(self.ok("messages"), [])

    def test_payload_limit(self):
        big = json.dumps("x" * 300_000)
        self.refused(EXIT_CODES["invalid"], "262144", "send", "T", "-", stdin=big)
        self.refused(EXIT_CODES["invalid"], "1024", "send", "T", json.dumps("x" * 2000), "--payload-limit", "1KiB")
        sent = self.ok("send", "T", "-", "--payload-limit", "1MiB", stdin=big)
        self.assertEqual(self.ok("messages", "show", sent["id"])["payload_bytes"], 300_002)
        largest = json.dumps("y" * (16 * 1024 * 1024 - 2))
        sent = self.ok("send", "T", "-", "--payload-limit", "16MiB", stdin=largest)
        self.assertEqual(self.ok("messages", "show", sent["id"])["payload_bytes"], 16 * 1024 * 1024)
        self.refused(EXIT_CODES["invalid"], "16777216", "send", "T", "-", "--payload-limit", "16MiB",
                     stdin=largest + " ")

    def test_bad_names(self):
        self.refused(EXIT_CODES["invalid"], "type", "send", "")
        self.refused(EXIT_CODES["invalid"], "stream", "send", "T", "--stream", "s" * 201)
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
        shown = self.ok("messages", "show", ABSENT)
        self.assertEqual({row["consumer"] for row in shown}, {"mailer", "biller"})

    def test_request_key(self):
        key = str(uuid.uuid4())
        self.assertEqual(self.ok("send", "T", "--request", key)["answer"], "applied")
        self.assertEqual(self.ok("send", "T", "--request", key)["answer"], "duplicate")
        self.assertEqual(len(self.ok("messages")), 1)

    def test_count(self):
        rows = self.ok("send", "T", "--stream", "s", "--count", "1203")
        self.assertEqual(len({row["id"] for row in rows}), 1203)
        seen, after = [], 0
        while page := self.ok("messages", "--limit", "500", "--after", str(after)):
            seen += [row["id"] for row in page]
            after = page[-1]["seq"]
        self.assertEqual(seen, [row["id"] for row in rows])
        self.assertEqual(len(self.run_pawl("messages", "--limit", "1203", "-o", "ndjson").lines()), 1203)
        table = self.run_pawl("send", "T", "--count", "3", "-o", "table")
        self.assertEqual(table.out, "3 sent: 3 applied, 0 duplicate, 0 conflict\n")

    def test_ndjson(self):
        lines = ['{"type": "A", "payload": {"big": 123456789012345678901234567890}, "stream": "s"}', "",
                 '{"payload": [1, {"x": "}"}], "id": "%s"}' % ABSENT,
                 '  {"type":"C","payload":"\\"","topic":"t","headers":{"h":1},"stream":"\\u00e9\\n\\ud83d\\ude00"}  ',
                 '{"type": "D", "stream": null}']
        rows = self.ok("send", "default", "--ndjson", "-", "--stream", "d", stdin="\n".join(lines))
        self.assertEqual([(row["type"], row["stream"]) for row in rows],
                         [("A", "s"), ("default", "d"), ("C", "é\n😀"), ("D", "d")])
        self.assertIn("123456789012345678901234567890", self.run_pawl("messages", "show", rows[0]["id"]).out)
        self.assertEqual(rows[1]["id"], ABSENT)
        self.assertEqual(self.ok("messages", "show", ABSENT)["payload"], [1, {"x": "}"}])
        shown = self.ok("messages", "show", rows[2]["id"])
        self.assertEqual((shown["payload"], shown["topic"], shown["headers"]), ('"', "t", {"h": 1}))

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
        self.assertEqual(self.ok("messages"), [])
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
        self.refused(EXIT_CODES["not found"], ABSENT, "messages", "show", ABSENT)
        self.refused(EXIT_CODES["not found"], ABSENT, "why", ABSENT)
        self.refused(EXIT_CODES["not found"], ABSENT, "dead", "show", ABSENT)
        self.refused(EXIT_CODES["not found"], ABSENT, "dead", "redrive", ABSENT)
        self.refused(EXIT_CODES["not found"], ABSENT, "instances", "evict", ABSENT)
        error = json.loads(self.run_pawl("-o", "json", "why", ABSENT).err)
        self.assertEqual((error["status"], error["exit_code"], error["command"]), ("not found", 66, "why"))


class OutputTest(CliTest):
    """Tables for people, JSON for programs."""

    def setUp(self):
        super().setUp()
        self.migrate()

    def test_formats(self):
        self.assertEqual(self.run_pawl("messages").out, "[]\n")
        self.assertEqual(self.run_pawl("messages", "-o", "ndjson").out, "")
        self.assertEqual(self.run_pawl("messages", "-o", "table").out, "no messages\n")
        self.ok("send", "order.created", '{"n": 1}', "--stream", "s1", "--count", "2")
        self.assertEqual(len(self.run_pawl("messages", "-o", "ndjson").lines()), 2)
        table = self.run_pawl("messages", "-o", "table").out.splitlines()
        self.assertEqual(len(table), 3)
        self.assertRegex(table[0], r"^ *SEQ  ID +KIND +STATE +STREAM +TYPE +ATTEMPTS  PUT")
        self.assertRegex(table[1], r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [0-9a-z]+ ago")
        wide = self.run_pawl("messages", "-o", "wide").out.splitlines()
        self.assertIn("PARTITION", wide[0])
        row = self.ok("messages")[0]
        self.assertRegex(row["put_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertIsInstance(row["put_ms"], int)
        self.assertEqual(self.run_pawl("messages", env={"PAWL_OUTPUT": "table"}).out.splitlines()[0], table[0])

    def test_tables_fit(self):
        self.ok("send", "a.type.with.a.rather.long.name", "--stream", "stream-" + "x" * 150)
        for columns in (60, 80, 100, 132, 200):
            out = self.run_pawl("messages", "-o", "table", env={"COLUMNS": str(columns)}).out
            self.assertTrue(all(len(line) <= columns for line in out.splitlines()), out)
            self.assertRegex(out, "[0-9a-f]{8}-[0-9a-f-]{27}")

    def test_nothing_reaches_the_terminal_raw(self):
        evil = "a\x1b[31m\u202eb\x07\tc\u009bd"
        self.ok("send", "T", json.dumps({"k": "\x1b]0;x\x07"}), "--stream", evil)
        row = self.ok("messages")[0]
        self.assertEqual(row["stream"], evil)
        for args in (["messages"], ["messages", "show", row["id"]], ["why", row["id"]],
                     ["partitions", "of", evil]):
            out = self.run_pawl(*args, "-o", "table").out
            bad = [char for char in out if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160
                   or char == "\u202e"]
            self.assertEqual(bad, [], out)
            self.assertIn("\\x1b[31m", out)

    def test_jq(self):
        if not shutil.which("jq"):
            self.skipTest("jq is not installed")
        sent = self.ok("send", "T", '{"n": 7}')
        for args in (["messages"], ["messages", "show", sent["id"]], ["why", sent["id"]], ["status"], ["partitions"],
                     ["settings"], ["version"], ["check"], ["maintain"], ["instances"], ["dead"], ["dead", "groups"],
                     ["history"], ["help", "exit-codes"]):
            for form in ("json", "ndjson"):
                result = self.run_pawl(*args, "-o", form)
                self.assertEqual(result.code, 0, result)
                subprocess.run(["jq", "-e", "type"] if result.out else ["true"], input=result.out, text=True,
                               stdout=subprocess.DEVNULL, check=True, timeout=60)

    def test_closed_pipe_is_silent(self):
        self.ok("send", "T", "--count", "2000")
        for form in ("json", "ndjson", "table"):
            with subprocess.Popen([Setup.pawl, "messages", "--limit", "2000", "-o", form], env=self.env, cwd=self.dir,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdout.read(10)
                process.stdout.close()
                err = process.stderr.read()
                self.assertEqual((process.wait(60), err), (0, b""))

    def test_full_disk_is_told(self):
        with open("/dev/full", "wb") as full:
            for args, code in ((["messages"], 69), (["send", "T"], 76)):
                done = subprocess.run([Setup.pawl, *args], env=self.env, cwd=self.dir, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, code, done)
                self.assertIn("cannot write to standard output", done.stderr)

    def on_terminal(self, args, answer=b""):
        """Runs the program on a pseudo terminal; exit code and everything it printed."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([Setup.pawl, *args], env=dict(self.env, TERM="xterm"), cwd=self.dir,
                                   stdin=follower, stdout=follower, stderr=follower, start_new_session=True)
        os.close(follower)
        seen = b""
        while True:
            self.assertTrue(select.select([leader], [], [], 60)[0], seen)
            try:
                chunk = os.read(leader, 65536)
            except OSError:  # the other side is closed
                break
            if not chunk:
                break
            seen += chunk
            if answer and seen.rstrip().endswith(b"[y/N]"):
                os.write(leader, answer)
                answer = b""
        os.close(leader)
        return process.wait(60), seen.decode()

    def test_terminal(self):
        self.ok("send", "T", "--stream", "s")
        code, text = self.on_terminal(["messages"])
        self.assertEqual(code, 0, text)
        self.assertIn("STATE", text)
        self.assertNotIn("[", text)

    def test_confirmation(self):
        instance = self.register()
        sent = self.ok("send", "T", "--stream", "s")
        self.kill_message(instance, sent["id"])
        code, text = self.on_terminal(["dead", "discard", sent["id"]], b"n\n")
        self.assertEqual(code, EXIT_CODES["conflict"], text)
        self.assertIn("discard 1 dead letter", text)
        self.assertEqual(len(self.ok("dead")), 1)
        code, text = self.on_terminal(["dead", "discard", sent["id"]], b"y\n")
        self.assertEqual(code, 0, text)
        self.assertEqual(self.ok("dead"), [])


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
        lanes = self.ok("partitions", "--kind", "outbox")
        self.assertEqual({lane["owner"] for lane in lanes}, {instance})
        self.assertEqual(sum(lane["claims"] for lane in lanes), 1)
        rows = self.ok("instances")
        self.assertEqual((rows[0]["id"], rows[0]["state"], rows[0]["in_flight"]), (instance, "active", 1))
        self.assertEqual(rows[0]["outbox_lanes"], 4)
        self.assertEqual([row["id"] for row in self.ok("messages", "--state", "leased")], ids[:1])
        self.assertEqual(self.ok("check"), [])

    def test_evict(self):
        ids = self.send("s")
        instance = self.register()
        self.worker("claim", instance, 1, 10, 600000)
        self.assertEqual(self.ok("instances", "evict", instance)["state"], "evicted")
        self.assertEqual(self.ok("instances", "list")[0]["state"], "evicted")
        shown = self.ok("messages", "show", ids[0])
        self.assertEqual((shown["deaths"], shown["reason"]), (1, "expired"))
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
        self.assertEqual([row["id"] for row in self.ok("messages", "--state", "blocked")], ids[1:])

    def test_dead_letters(self):
        ids = self.send("a") + self.send("b") + self.send("c")
        instance = self.register()
        for token, claimed in self.worker("claim", instance, 1, 10, 600000):
            number = 4711 + ids.index(claimed)
            self.worker("fail", instance, 1, token, claimed, "permanent", f"no such customer {number}")
        self.assertEqual(sorted(row["id"] for row in self.ok("dead")), sorted(ids))
        shown = self.ok("dead", "show", ids[0])
        self.assertEqual((shown["reason"], shown["error"]), ("permanent", "no such customer 4711"))
        why = self.ok("why", ids[0])
        self.assertEqual(why["cause"], "dead")
        self.assertIn(f"pawl dead redrive {ids[0]}", why["next"])
        groups = self.ok("dead", "groups")
        self.assertEqual([(group["count"], group["kind"]) for group in groups], [(3, "outbox")])
        found = self.ok("dead", "list", "--fingerprint", groups[0]["fingerprint"])
        self.assertEqual(len(found), 3)
        self.assertEqual(self.ok("status")["kinds"][0]["dead"], 3)
        # Nothing happens without consent.
        self.refused(EXIT_CODES["conflict"], "--yes", "dead", "redrive", "--all")
        self.refused(EXIT_CODES["conflict"], "--yes", "dead", "discard", ids[0])
        dry = self.ok("dead", "redrive", "--all", "--dry-run")
        self.assertEqual({row["answer"] for row in dry}, {"dry run"})
        self.assertEqual(len(self.ok("dead")), 3)
        # One by id, one by filter, the last is given up.
        self.assertEqual(self.ok("dead", "redrive", ids[0])[0]["answer"], "applied")
        self.assertEqual(self.ok("messages", "show", ids[0])["reason"], "redriven")
        self.assertEqual(self.ok("dead", "redrive", "--stream", "b", "--yes")[0]["id"], ids[1])
        self.refused(EXIT_CODES["not found"], ids[0], "dead", "redrive", ids[0])
        self.assertEqual(self.ok("dead", "discard", "--fingerprint", groups[0]["fingerprint"], "--yes")[0]["id"],
                         ids[2])
        self.assertEqual(self.ok("dead"), [])
        self.assertEqual(self.ok("dead", "redrive", "--all", "--yes"), [])
        self.assertEqual(self.ok("check"), [])

    def test_blocked_stream(self):
        self.ok("settings", "set", "dead_policy=block")
        ids = self.send("s", 3)
        instance = self.register()
        self.kill_message(instance, ids[0])
        why = self.ok("why", ids[1])
        self.assertEqual((why["cause"], why["blocker_id"]), ("blocked", ids[0]))
        self.assertIn(f"pawl dead redrive {ids[0]}", why["next"])
        text = self.run_pawl("why", ids[1], "-o", "table").out
        self.assertIn(f"blocked by dead letter {ids[0]}", text)
        self.assertIn("What to do: ", text)
        self.ok("dead", "discard", ids[0], "--yes")
        self.assertNotEqual(self.ok("why", ids[1])["cause"], "blocked")
        self.assertEqual(self.ok("check"), [])

    def test_parked_stream(self):
        self.ok("settings", "set", "dead_policy=park")
        ids = self.send("s", 3)
        instance = self.register()
        self.kill_message(instance, ids[0])
        reasons = {row["id"]: row["reason"] for row in self.ok("dead")}
        self.assertEqual(reasons, {ids[0]: "permanent", ids[1]: "parked", ids[2]: "parked"})
        result = self.run_pawl("dead", "redrive", ids[1])
        self.assertEqual(result.code, EXIT_CODES["conflict"], result)
        self.assertEqual(result.json()[0]["answer"], "conflict")
        self.assertIn("waits behind", result.err)
        table = self.run_pawl("dead", "redrive", "--stream", "s", "--yes", "-o", "table").out
        self.assertIn("1 redriven", table)
        self.assertIn("2 parked ones follow", table)
        self.assertEqual(self.ok("dead"), [])
        self.assertEqual(self.ok("check"), [])

    # covers: W47
    def test_history_archive(self):
        self.ok("settings", "set", "history=30d")
        ids = self.send("s", 3)
        instance = self.register()
        for token, claimed in self.worker("claim", instance, 1, 10, 600000):
            self.assertEqual(self.worker("complete", instance, 1, token, claimed), [["1"]])
        self.assertEqual([row["id"] for row in self.ok("history")], ids)
        self.assertEqual(self.ok("why", ids[0])["cause"], "done")
        archive = self.dir / "done.ndjson"
        none = self.ok("history", "archive", "--before", "1h", "--to", str(archive))
        self.assertEqual((none["archived"], none["removed"]), (0, 0))
        done = self.ok("history", "archive", "--before", "0", "--to", str(archive))
        self.assertEqual((done["archived"], done["removed"]), (3, 3))
        lines = [json.loads(line) for line in archive.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([line["id"] for line in lines], ids)
        self.assertEqual([line["payload"] for line in lines], [{"n": n} for n in range(3)])
        self.assertEqual(self.ok("history"), [])
        self.assertFalse(stat.S_IMODE(archive.stat().st_mode) & 0o007, "others can read the archive")

    def test_history_archive_never_loses(self):
        self.ok("settings", "set", "history=30d")
        self.send("s", 2)
        instance = self.register()
        for token, claimed in self.worker("claim", instance, 1, 10, 600000):
            self.worker("complete", instance, 1, token, claimed)
        archive = self.dir / "done.ndjson"
        archive.write_text('{"half', encoding="utf-8")
        self.refused(EXIT_CODES["conflict"], "half a line", "history", "archive", "--before", "0", "--to", str(archive))
        self.refused(EXIT_CODES["invalid"], "", "history", "archive", "--before", "0", "--to", str(self.dir))
        self.refused(EXIT_CODES["invalid"], "regular file", "history", "archive", "--before", "0", "--to", "/dev/full")
        # A file that may not grow: the write fails in the middle, nothing is removed, no half line stays.
        archive.unlink()
        limited = ["bash", "-c", "ulimit -f 0; trap '' XFSZ; exec \"$@\"", "bash", Setup.pawl, "history", "archive",
                   "--before", "0", "--to", str(archive)]
        if Setup.dialect == "postgres":  # SQLite itself cannot write under such a limit
            done = subprocess.run(limited, env=self.env, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, EXIT_CODES["unavailable"], done)
            self.assertEqual(archive.read_text(encoding="utf-8"), "")
        self.assertEqual(len(self.ok("history")), 2)

    def test_settings(self):
        before = self.ok("settings", "show")
        self.assertEqual((before["partition_count"], before["lane_count"]), (64, 4))
        after = self.ok("settings", "set", "max_attempts=9", "history=36h", "dedupe=1d", "stale=20m",
                        "instance_lease=30s", "dead_policy=park")
        self.assertEqual(after, self.ok("settings"))
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
        self.sql("DELETE FROM message")
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
            return [row["id"] for row in self.ok("messages", *args)]

        self.assertEqual(ids(), [first, second, third])
        self.assertEqual(ids("--type", "A"), [first, third])
        self.assertEqual(ids("--stream", "s", "--kind", "outbox"), [first])
        self.assertEqual(ids("--topic", "y"), [second])
        self.assertEqual(ids("--limit", "1"), [first])
        self.assertEqual(ids("--state", "dead"), [])
        self.assertEqual(ids("--kind", "inbox", "--state", "ready"), [third])


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
