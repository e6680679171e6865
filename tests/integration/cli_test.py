#!/usr/bin/env python3
"""The program pawl from outside: every command, what it prints, and how it ends when the input is bad."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import socket
import subprocess
import sys
import time

import cli_support
from cli_support import ABSENT, EXIT_CODES, CliTest, Setup


def sqlite_only(function):
    """A test that makes sense only where the database is a file; elsewhere it is not counted at all."""
    function.only = "sqlite"
    return function


def postgres_only(function):
    """A test of what only an address of a server has."""
    function.only = "postgres"
    return function


class HelpTest(CliTest):
    """Help, usage and exit codes need no database."""

    def test_overview_lists_every_command(self):
        result = self.run_pawl("help")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.out, self.run_pawl().out)
        self.assertEqual(result.out, self.run_pawl("--help").out)
        lines = result.out.splitlines()
        self.assertTrue(len(lines) <= 22 and all(len(line) <= 80 for line in lines), result.out)
        words = " ".join(lines[4:10]).split()
        for command in self.commands():
            self.assertIn(command.split()[0], words)

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

    def test_every_group_has_help(self):
        """Also one without a command of its own name."""
        commands = self.commands()
        for group in {command.split()[0] for command in commands if " " in command}:
            result = self.run_pawl("help", group)
            self.assertEqual(result.code, 0, result)
            for command in commands:
                self.assertEqual(re.search(rf"^  pawl {command}(?: [A-Z\[]|$)", result.out, re.MULTILINE) is not None,
                                 command.split()[0] == group, (group, command))
            plural = re.sub("ys$", "ies", group + "s")
            self.assertEqual(result.out, self.run_pawl("help", plural).out.replace(plural + " VERB", group + " VERB"))

    def test_texts_name_commands_that_exist(self):
        """A message that says what to do, a page, the dashboard: each command in them is there and takes these options."""
        first, *parts = re.split(r"^### pawl (.+)$", self.run_pawl("help", "markdown").out, flags=re.MULTILINE)
        everywhere = set(re.findall(r"--[a-z-]+", first))
        takes = {parts[i]: set(re.findall(r"^- `(?:-\w, )?(--[a-z-]+)", parts[i + 1], re.MULTILINE)) for i in range(0, len(parts), 2)}
        groups = {command.split()[0] for command in takes if " " in command}
        almost = {name + "s" for name in groups} | {name.removesuffix("s") for name in groups}
        seconds = {command.split()[1] for command in takes if " " in command}
        prose = {"a", "and", "found", "in", "is", "lists", "shows", "under"}  # what follows a name in a sentence
        files = [path for place, pattern in (("src", "*.[ch]"), ("include", "*.h"), ("web", "*.js"), ("docs", "*.md"), ("examples", "*"), (".", "*.md"))
                 for path in ((Setup.root / place).rglob(pattern) if place != "." else Setup.root.glob(pattern)) if path.is_file()]
        self.assertGreater(len(files), 300)
        for path in files:
            text = re.sub(r'"\s*\\?\n\s*"', "", path.read_text(encoding="utf-8", errors="replace"))
            for match in re.finditer(r"\bpawl ([a-z]+)(?: ([a-z-]+))?([^`\n;|,.\\\"]*)", text):
                one, two, rest = match.groups()
                known = next((name for name in (f"{one} {two}", one, f"{one} list", f"{one} status", f"{one} show") if name in takes), None)
                if (one in groups and two is not None and two not in prose) or (one in almost and two in seconds):
                    self.assertTrue(f"{one} {two}" in takes or one in takes,
                                    f"{path}: there is no such command: {match.group(0)} (or does prose lack a word?)")
                for flag in re.findall(r" (--[a-z-]+)", re.split(" (?:or|and) ", rest)[0] if known else ""):
                    self.assertIn(flag, takes[known] | everywhere, f"{path}: {match.group(0)}")

    def test_exit_codes(self):
        rows = self.ok("help", "exit-codes", "-o", "json")
        self.assertEqual({row["status"]: row["exit_code"] for row in rows}, EXIT_CODES)

    def test_version_flag(self):
        result = self.run_pawl("--version")
        self.assertRegex(result.out, r"^pawl \d+\.\d+\.\d+\n$")

    def test_usage(self):
        cases = [
            (["sned"], "Did you mean pawl send?"),
            (["xyzzy"], "pawl help lists them"),
            (["pipelines"], "needs a second word: one of check, show. pawl help pipelines tells more"),
            (["message", "lst"], "Did you mean pawl message list?"),
            (["messages", "lst"], "Did you mean pawl messages list?"),
            (["help", "sned"], "Did you mean pawl send?"),
            (["send", "T", "--strem", "x"], "Did you mean --stream?"),
            (["job", "enqueue", "T", "--unique", "x"], "Did you mean --unique-key?"),
            (["job", "enqueue", "T", "--delay", "5s"], "Did you mean --due?"),
            (["status", "--json"], "Did you mean --output?"),
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
            (["send", "T", "--yes"], "there is no option --yes here"),
            (["send", "T", "--lanes", "3"], "there is no option --lanes here"),
            (["send", "T", "--payload-limit", "17MiB"], "--payload-limit"),
            (["message", "show", "0189"], "not an id: a UUID, or its first 8 or more characters"),
            (["message", "show"], "needs more words"),
            (["why", "cat", "12"], "not one of message|dead|stream"),
            (["messages", "-o", "table", "-o", "json"], "two outputs"),
            (["messages", "-o", "xml"], "xml"),
            (["messages", "--limit", "-1"], "not a whole number"),
            (["worker", "--lease", "-5s"], "-5s"),
            (["status", "--connect-timeout", "-1s"], "-1s"),
            (["message", "retry"], "it needs ids, or a filter"),
            (["message", "delete", ABSENT, "--all"], "exclude each other"),
            (["message", "archive"], "it needs --before TIME"),
            (["message", "archive", "--before", "x", "--to", "f"], "not a time such as"),
            (["setting", "set", "--max-attemps", "3"], "Did you mean --max-attempts?"),
            (["setting", "set", "--lane-count", "3"], "there is no option --lane-count here"),
            (["setting", "set", "--instance-lease", "-5s"], "not a duration"),
            (["setting", "set", "--dead-policy", "explode"], "not one of block|skip|park"),
            (["setting", "set", "max_attempts"], "one word too many"),
            (["migrate", "--lanes", "0"], "--lanes"),
        ]
        for args, fragment in cases:
            with self.subTest(args=args):
                self.refused(EXIT_CODES["usage"], fragment, *args)
        self.assertEqual(os.listdir(self.dir), [], "wrong usage made a file")

    def test_errors_as_json(self):
        for args in (["-o", "json", "sned"], ["sned", "--output=ndjson"], ["-ojson", "why", "cat", "12"]):
            result = self.run_pawl(*args)
            error = json.loads(result.err)
            self.assertEqual(error["exit_code"], result.code)
            self.assertEqual(error["status"], "usage")
            self.assertTrue(error["error"])

    def test_configuration_file(self):
        for name in ("database_url", "database-url"):
            (self.dir / "pawl.ini").write_text(f"output = json\n{name} = gone.db\n", encoding="utf-8")
            result = self.run_pawl("--config", "pawl.ini", "status", env={"DATABASE_URL": None, "PAWL_SCHEMA": None})
            self.assertEqual(result.code, EXIT_CODES["not found"], result)
            self.assertIn("gone.db", json.loads(result.err)["error"])
        self.refused(EXIT_CODES["not found"], "none.ini", "--config", "none.ini", "status")


class SecretTest(CliTest):
    """A password that was given as an argument is not where others look."""

    PASSWORD = "hunter2-and-more"

    def addresses(self):
        """Ways to name the database."""
        host, port, name = re.fullmatch(r"postgresql://postgres@([^:/]+):(\d+)/(\w+)", self.url).groups()
        address = self.url.replace("postgres@", f"postgres:{self.PASSWORD}@")
        pairs = f"host={host} port={port} dbname={name} user=postgres"
        return [["--database-url", address], [f"--database-url={address}"], ["--database-url", f"{self.url}?password={self.PASSWORD}"],
                ["--database-url", f"{pairs} password={self.PASSWORD}"], [f"--database-url=password = '{self.PASSWORD}' {pairs}"]]

    def family(self, pid):
        """The process and its children."""
        found = [pid]
        for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            for child in path.read_text().split():
                found += self.family(int(child))
        return found

    def check(self, *args):
        log = self.dir / "log"
        with open(log, "wb") as out:
            process = subprocess.Popen([Setup.pawl, *args], env={**self.env, "XDG_STATE_HOME": str(self.dir)}, cwd=self.dir,
                                       stdout=out, stderr=out)
        try:
            end = time.monotonic() + cli_support.SECONDS_MAX
            started = {"worker": ["registered"], "server": ["server_started"], "up": ["registered", "server_started"]}[args[0]]
            while not all(f"event={event}" in log.read_text() for event in started):
                self.assertIsNone(process.poll(), log.read_text())
                self.assertLess(time.monotonic(), end, log.read_text())
                time.sleep(0.02)
            for pid in self.family(process.pid):
                shown = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                self.assertNotIn(self.PASSWORD.encode(), shown)
            self.assertIn(args[0].encode(), pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes())
        finally:
            process.terminate()
            process.wait(cli_support.SECONDS_MAX)
        self.assertNotIn(self.PASSWORD, log.read_text())

    @postgres_only
    def test_process_list_and_log(self):
        self.migrate()
        for args in self.addresses():
            self.check("worker", "--log-level", "debug", "--on", "x=exec:cat", *args)
        self.check("up", "--listen", "127.0.0.1:0", "--on", "x=exec:cat", *args)
        self.check("server", "--listen", "127.0.0.1:0", *args)

    @postgres_only
    def test_what_commands_print(self):
        self.migrate()
        wrong = [["--database-url", f"postgresql://postgres:{self.PASSWORD}@127.0.0.1:1/x"],
                 ["--database-url", f"postgresql://postgres:{self.PASSWORD}@127.0.0.1:port/x"],
                 ["--database-url", f"password={self.PASSWORD} host=127.0.0.1 port=1"],
                 ["--database-url", f"postgres:{self.PASSWORD}@127.0.0.1"]]
        for args in self.addresses() + wrong:
            for command in (["version"], ["status"], ["settings"], ["doctor"], ["check"], ["send", "T"], ["migrate"], ["help", "worker"]):
                for form in ("table", "json"):
                    result = self.run_pawl(*command, *args, "-o", form)
                    self.assertNotIn(self.PASSWORD, result.out + result.err, (command, args))


class DatabaseTest(CliTest):
    """Databases that are missing, down, wrong or too new."""

    @sqlite_only
    def test_no_file(self):
        for args in (["status"], ["messages"], ["check"], ["why", ABSENT], ["settings"]):
            self.refused(EXIT_CODES["not found"], "there is no database at pawl.db. Run pawl migrate", *args,
                         env={"DATABASE_URL": None, "PAWL_SCHEMA": None})
        self.assertEqual(os.listdir(self.dir), [])

    @sqlite_only
    def test_send_makes_the_file(self):
        result = self.run_pawl("send", "order.created", '{"id": 1}', env={"DATABASE_URL": None, "PAWL_SCHEMA": None})
        self.assertEqual(result.code, 0, result)
        self.assertIn("there was no database at pawl.db: made it", result.err)
        self.assertEqual(result.json()["answer"], "applied")
        self.assertEqual(len(self.ok("message", "list", env={"DATABASE_URL": None})), 1)

    @sqlite_only
    def test_five_make_the_file(self):
        """A process that starts while another one creates the file waits for it."""
        for number in range(6):
            path = self.dir / f"new{number}.db"
            if number == 4:
                path.touch()  # as the maker leaves it before it writes
            if number == 5:
                self.sql_at(path, "PRAGMA journal_mode = WAL")  # and before it makes the tables
            senders = [subprocess.Popen([Setup.pawl, "send", "t", "{}"], env={**self.env, "DATABASE_URL": str(path)},
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(5)]
            ends = [(sender.communicate(timeout=cli_support.SECONDS_MAX), sender.returncode) for sender in senders]
            self.assertEqual([code for _, code in ends], [0] * 5, ends)
            self.assertEqual(sum(b"made it" in err for (_, err), _ in ends), 1, ends)
            self.assertEqual(len(self.ok("message", "list", env={"DATABASE_URL": str(path)})), 5)

    @sqlite_only
    def test_an_application_adopts_pawl(self):
        path = self.dir / "shop.db"
        self.sql_at(path, "CREATE TABLE message (id INTEGER)")
        self.refused(EXIT_CODES["conflict"], "pawl migrate", "send", "t", env={"DATABASE_URL": str(path)})
        self.ok("migrate", env={"DATABASE_URL": str(path)})
        self.ok("send", "t", env={"DATABASE_URL": str(path)})
        self.assertEqual(self.sql_at(path, "SELECT count(*) FROM message"), [(0,)])

    def sql_at(self, path, text):
        import sqlite3  # the PostgreSQL run does not need it
        database = sqlite3.connect(path, isolation_level=None, timeout=cli_support.SECONDS_MAX)
        try:
            return database.execute(text).fetchall()
        finally:
            database.close()

    def test_not_migrated(self):
        if Setup.dialect == "sqlite":
            self.sql_at(self.dir / "pawl.db", "CREATE TABLE theirs (id INTEGER)")
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
                self.assertNotIn("\\n", result.err)
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
    def test_missing_directory(self):
        for args in (["send", "T"], ["migrate"]):
            result = self.refused(EXIT_CODES["unavailable"], "its directory does not exist", *args, "--database-url", "none/here.db")
            self.assertIn("none/here.db cannot be made", result.err)

    @sqlite_only
    def test_not_a_database(self):
        (self.dir / "pawl.db").write_bytes(b"This is a text file, not a database.\n" * 100)
        result = self.run_pawl("status")
        self.assertIn(result.code, (EXIT_CODES["invalid"], EXIT_CODES["conflict"]), result)
        self.assertIn("is not an SQLite database", result.err)

    def test_newer_schema(self):
        version = self.migrate()["version"]
        columns = "version, name, checksum, applied_ms" if Setup.dialect == "sqlite" else None
        if columns is None:
            columns = ", ".join(row[0] for row in self.sql(
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'schema_migration' "
                f"AND table_schema = '{self.schema}_internal' ORDER BY ordinal_position"))
        newer = columns.replace("version", str(version + 1), 1)
        self.sql(f"INSERT INTO pawl_internal.schema_migration ({columns}) SELECT {newer} FROM pawl_internal.schema_migration WHERE version = "
                 f"{version}")
        for args in (["status"], ["send", "T"], ["migrate"]):
            result = self.refused(EXIT_CODES["conflict"], str(version + 1), *args)
            self.assertIn("upgrade pawl", result.err)
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
        lanes = self.ok("partition", "list", "--kind", "outbox")
        self.assertEqual([lane["partitions"] for lane in lanes], [13] * 4 + [12] * 4)

    def test_version(self):
        self.migrate()
        row = self.ok("version")
        self.assertEqual(row["dialect"], Setup.dialect)
        self.assertGreaterEqual(row["schema_version"], 1)
        self.assertRegex(row["sqlite"], r"^3\.")
        self.assertRegex(row["libpq"], r"^\d+\.\d+$")


class OutputTest(CliTest):
    """Tables for people, JSON for programs."""

    def setUp(self):
        super().setUp()
        self.migrate()

    def test_formats(self):
        self.assertEqual(self.run_pawl("message", "list").out, "[]\n")
        self.assertEqual(self.run_pawl("message", "list", "-o", "ndjson").out, "")
        self.assertEqual(self.run_pawl("message", "list", "-o", "table").out, "no messages\n")
        self.ok("send", "order.created", '{"n": 1}', "--stream", "s1", "--count", "2")
        self.assertEqual(len(self.run_pawl("message", "list", "-o", "ndjson").lines()), 2)
        table = self.run_pawl("message", "list", "-o", "table").out.splitlines()
        self.assertEqual(len(table), 3)
        self.assertNotIn("there are more", self.run_pawl("message", "list", "-o", "table", "--limit", "2").out)
        cut = self.run_pawl("message", "list", "-o", "table", "--limit", "1").out.splitlines()
        self.assertEqual((cut[2].split(":")[0], len(cut)), ("there are more", 3))
        self.assertEqual(len(self.ok("message", "list", "--limit", "1")), 1)
        self.assertRegex(table[0], r"^ *SEQ  ID +KIND +STATE +STREAM +TYPE +ATTEMPTS  PUT")
        self.assertRegex(table[1], r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [0-9a-z]+ ago")
        wide = self.run_pawl("message", "list", "-o", "wide").out.splitlines()
        self.assertIn("PARTITION", wide[0])
        row = self.ok("message", "list")[0]
        self.assertRegex(row["put_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertIsInstance(row["put_ms"], int)
        again = self.run_pawl("message", "list", env={"PAWL_OUTPUT": "table"}).out.splitlines()
        self.assertEqual(again[0].split(), table[0].split())

    def test_tables_fit(self):
        self.ok("send", "a.type.with.a.rather.long.name", "--stream", "stream-" + "x" * 150)
        for columns in (60, 80, 100, 132, 200):
            out = self.run_pawl("message", "list", "-o", "table", env={"COLUMNS": str(columns)}).out
            self.assertTrue(all(len(line) <= columns for line in out.splitlines()), out)
            self.assertRegex(out, "[0-9a-f]{8}-[0-9a-f-]{27}")

    def test_nothing_reaches_the_terminal_raw(self):
        evil = "a\x1b[31m\u202eb\x07\tc\u009bd"
        instance = self.register()
        sent = self.ok("send", "T", json.dumps({"k": "\x1b]0;x\x07"}), "--header", "h=" + evil)
        self.kill_message(instance, sent["id"], evil)
        self.assertEqual(self.ok("message", "list", "--state", "dead")[0]["error"], evil)
        for args in (["message", "list", "--state", "dead"], ["message", "show", sent["id"]], ["why", sent["id"]], ["message", "failures"]):
            out = self.run_pawl(*args, "-o", "table").out
            bad = [char for char in out if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160
                   or char == "\u202e"]
            self.assertEqual(bad, [], out)
            self.assertIn("\\x1b[31m\\u202eb\\x07\\tc\\x9bd", out)
        result = self.run_pawl("send", "T", "--stream", evil)
        self.assertEqual(result.code, EXIT_CODES["invalid"], result)
        self.assertNotIn("\x1b", result.err)

    def test_jq(self):
        if not shutil.which("jq"):
            self.skipTest("jq is not installed")
        sent = self.ok("send", "T", '{"n": 7}')
        for args in (["messages"], ["message", "show", sent["id"]], ["why", sent["id"]], ["status"], ["partitions"],
                     ["settings"], ["version"], ["check"], ["maintain"], ["instances"], ["message", "list", "--state", "dead"], ["message", "failures"],
                     ["message", "list", "--state", "done"], ["help", "exit-codes"]):
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
        code, text = self.on_terminal(["message", "delete", sent["id"]], b"n\n")
        self.assertEqual(code, EXIT_CODES["conflict"], text)
        self.assertIn("delete 1 dead letter", text)
        self.assertEqual(len(self.ok("message", "list", "--state", "dead")), 1)
        code, text = self.on_terminal(["message", "delete", sent["id"]], b"y\n")
        self.assertEqual(code, 0, text)
        self.assertEqual(self.ok("message", "list", "--state", "dead"), [])


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
