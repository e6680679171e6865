"""Support for tests of the program: running it, one database per test, and TAP."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import unittest
import uuid

EXIT_CODES = {"ok": 0, "violations": 1, "faults": 2, "usage": 64, "invalid": 65, "not found": 66, "unavailable": 69, "internal": 70,
              "no memory": 71, "damaged": 72, "conflict": 73, "stale": 74, "busy": 75, "unknown": 76}
ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
SKIP_CODE = 77
SECONDS_MAX = 60


class Result:
    """One run of the program."""

    def __init__(self, args, done):
        self.args = args
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", errors="surrogateescape")
        self.err = done.stderr.decode("utf-8", errors="surrogateescape")

    def json(self):
        return json.loads(self.out)

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __str__(self):
        return f"{self.args}\nexit code {self.code}\nstdout: {self.out[:4000]}\nstderr: {self.err[:4000]}"


class Setup:
    """Where things are; filled by main()."""

    pawl = ""
    helper = ""
    root = pathlib.Path()
    dialect = ""
    pg_url = ""


class CliTest(unittest.TestCase):
    """Each test has a directory and a database of its own."""

    maxDiff = None

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pawl-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.schema = "pawl"
        if Setup.dialect == "sqlite":
            self.url = str(self.dir / "pawl.db")
        else:
            self.url = Setup.pg_url
            self.schema = "cli_" + uuid.uuid4().hex[:12]
            self.addCleanup(self.drop_schema)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("PAWL_", "WORKER_", "DATABASE_URL", "COLUMNS"))}
        self.env["DATABASE_URL"] = self.url
        self.env["PAWL_SCHEMA"] = self.schema
        # A sanitizer's finding must not look like an exit code of the program.
        self.env["ASAN_OPTIONS"] = "exitcode=99"
        self.env["UBSAN_OPTIONS"] = "exitcode=99"

    def drop_schema(self):
        subprocess.run(["psql", "-q", "-d", self.url, "-c", f'SET client_min_messages = error; '
                        f'DROP SCHEMA IF EXISTS "{self.schema}", "{self.schema}_internal" CASCADE'], check=True, timeout=SECONDS_MAX,
                       stdout=subprocess.DEVNULL)

    def run_pawl(self, *args, stdin=b"", env=None, **kwargs):
        """Runs the program; env adds to the test's environment, None as a value removes."""
        full = dict(self.env)
        for key, value in (env or {}).items():
            full.pop(key, None)
            if value is not None:
                full[key] = value
        if isinstance(stdin, str):
            stdin = stdin.encode()
        try:
            done = subprocess.run([Setup.pawl, *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=full, cwd=kwargs.pop("cwd", self.dir), timeout=SECONDS_MAX, check=False, **kwargs)
        except subprocess.TimeoutExpired as late:  # its own words hold no output
            raise AssertionError(f"{args} had not ended after {SECONDS_MAX} s\nstdout: {(late.stdout or b'')[-4000:].decode(errors='replace')}"
                                 f"\nstderr: {(late.stderr or b'')[-4000:].decode(errors='replace')}") from late
        return Result(args, done)

    def ok(self, *args, **kwargs):
        """A run that must succeed quietly; its JSON."""
        result = self.run_pawl(*args, **kwargs)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.err, "", result)
        return result.json()

    def refused(self, code, fragment, *args, **kwargs):
        """A run that must fail with this code and say this, in one line, with nothing on standard output."""
        result = self.run_pawl(*args, **kwargs)
        self.assertEqual(result.code, code, result)
        self.assertIn(fragment, result.err, result)
        self.assertEqual(result.err.count("\n"), 1, result)
        self.assertEqual(result.out, "", result)
        return result

    def migrate(self, *args):
        return self.ok("migrate", *args)

    def worker(self, *args):
        """One step of worker_helper; its words, line by line."""
        done = subprocess.run([Setup.helper, self.url, self.schema, *map(str, args)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.env, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return [line.split() for line in done.stdout.decode().splitlines()]

    def register(self, kinds=14, lease_ms=600000):
        return self.worker("register", kinds, lease_ms)[0][0]

    def kill_message(self, instance, message_id, error="no such customer 4711", kind=1):
        """Claims everything and fails one message for good; releases nothing else."""
        for token, claimed in self.worker("claim", instance, kind, 100, 600000):
            if claimed == message_id:
                self.assertEqual(self.worker("fail", instance, kind, token, claimed, "permanent", error), [["1"]])
                return
        self.fail(f"{message_id} was not claimed")

    def sql(self, text):
        """Runs a statement past the program, to break things on purpose. pawl_internal.x is pawl's table x on both stores."""
        inside = "pawl_" if Setup.dialect == "sqlite" else f'"{self.schema}_internal".'
        text = re.sub(r"\bpawl_internal\.(?=[a-z])", inside, text)
        text = re.sub(r"\bpawl\.(?=[a-z])", f'"{self.schema}".', text)
        if Setup.dialect == "sqlite":
            import sqlite3  # the PostgreSQL run does not need it
            with sqlite3.connect(self.url) as database:
                rows = database.execute(text).fetchall()
            database.close()
            return rows
        done = subprocess.run(["psql", "-q", "-A", "-t", "-d", self.url, "-v", "ON_ERROR_STOP=1", "-c",
                               f'SET search_path = "{self.schema}", "{self.schema}_internal"; {text}'], check=True, timeout=SECONDS_MAX,
                              stdout=subprocess.PIPE, text=True)
        return [tuple(line.split("|")) for line in done.stdout.splitlines()]


def start_postgres():
    """The run's shared server, or one of our own that ends with us. None when there is no PostgreSQL."""
    if os.environ.get("PAWL_TEST_PG_URL"):
        return os.environ["PAWL_TEST_PG_URL"]
    tool = [str(Setup.root / "tools" / "pg-throwaway"), "start", "--owner-pid", str(os.getpid())]
    done = subprocess.run(tool, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return None
    return dict(line.split("=", 1) for line in done.stdout.splitlines())["url"]


class TapResult(unittest.TestResult):
    """Prints one TAP line per test."""

    count = 0
    failed = False
    parts = ()

    def line(self, test, good, note=""):
        self.count += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {test.id().split('.', 1)[-1]}{note}", flush=True)

    def addSuccess(self, test):
        self.line(test, True)

    def addSkip(self, test, reason):
        self.line(test, True, f" # SKIP {reason}")

    def problem(self, test, err):
        self.failed = True
        self.line(test, False)
        for text in "".join(traceback.format_exception(*err)).splitlines():
            print("# " + text, flush=True)

    addFailure = problem
    addError = problem

    def startTest(self, test):
        super().startTest(test)
        self.parts = []

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.parts.append((subtest, err))

    def stopTest(self, test):
        super().stopTest(test)
        if not self.parts:
            return
        self.failed = True
        self.line(test, False)
        for part, err in self.parts:
            print(f"# {part}", flush=True)
            for text in "".join(traceback.format_exception(*err)).splitlines():
                print("# " + text, flush=True)


def main(module):
    """Usage: cli_test.py PAWL HELPER ROOT sqlite|postgres [NAME]"""
    Setup.pawl, Setup.helper = map(os.path.abspath, sys.argv[1:3])
    Setup.root = pathlib.Path(sys.argv[3]).resolve()
    Setup.dialect = sys.argv[4]
    wanted = sys.argv[5] if len(sys.argv) > 5 else ""
    if Setup.dialect == "postgres":
        Setup.pg_url = start_postgres()
        if not Setup.pg_url:
            print("1..0 # SKIP no PostgreSQL here")
            return SKIP_CODE

    def fits(test):
        method = getattr(test, test.id().rsplit(".", 1)[-1])
        return getattr(method, "only", Setup.dialect) == Setup.dialect

    def flatten(suite):
        for entry in suite:
            if isinstance(entry, unittest.TestSuite):
                yield from flatten(entry)
            elif wanted in entry.id() and fits(entry):
                yield entry

    tests = list(flatten(unittest.defaultTestLoader.loadTestsFromModule(module)))
    print(f"1..{len(tests)}", flush=True)
    result = TapResult()
    unittest.TestSuite(tests).run(result)
    return 1 if result.failed else 0
