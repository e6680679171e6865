"""Support for tests of jobs and runs from outside: a folder and a database for each case, and workers that end with it."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import cli_support  # noqa: E402 (found by the line above)

SECONDS_MAX = 60
POLL_SECONDS = 0.1  # most looks start the program


class WorkTest(unittest.TestCase):
    """args and base come from main()."""

    args, base = None, None

    def setUp(self):
        self.folder = self.base / self.id().split(".")[-1]
        self.folder.mkdir()
        self.workers = []
        self.environment = dict(os.environ, PAWL_OUTPUT="json", DATABASE_URL=str(self.folder / "pawl.db"))
        self.schema = f"{type(self).__name__[0].lower()}_{self.folder.name[5:32]}"
        if self.args.dialect == "postgres":
            self.environment.update(DATABASE_URL=os.environ["PAWL_TEST_PG_URL"], PAWL_SCHEMA=self.schema)
        (self.folder / "worker.log").touch()
        self.run_pawl("migrate")

    def tearDown(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()

    def run_pawl(self, *words, code=0):
        done = subprocess.run([self.args.pawl, *words], env=self.environment, capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done

    def pawl(self, *words, code=0):
        done = self.run_pawl(*words, code=code)
        return json.loads(done.stdout) if done.stdout.strip() else done.stderr

    def start_worker(self, *command, **environment):
        with open(self.folder / "worker.log", "a", encoding="utf-8") as log:
            self.workers.append(subprocess.Popen(command, env=dict(self.environment, **environment), stderr=log))
        return self.workers[-1]

    def log(self):
        return (self.folder / "worker.log").read_text(encoding="utf-8")

    def until(self, what, seconds=SECONDS_MAX):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(POLL_SECONDS)
        self.fail(f"it did not happen within {seconds} s; jobs: {self.pawl('job', 'list')}\n{self.log()[-3000:]}")

    def gone(self):
        return not self.pawl("job", "list", "--limit", "1")


def arguments(*programs):
    """A parser of the words that these tests are started with: PAWL [PROGRAM]... ROOT sqlite|postgres [--only TEXT]."""
    parser = argparse.ArgumentParser()
    for name in ("pawl", *programs, "root", "dialect"):
        parser.add_argument(name)
    parser.add_argument("--only", default="", help="tests whose name contains this")
    return parser


def main(cases, args):
    if args.dialect == "postgres" and "PAWL_TEST_PG_URL" not in os.environ:
        words = [sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:]]
        os.execv(f"{args.root}/tools/pg-throwaway", ["pg-throwaway", "run", "--", *words])
    cases.args, cases.base = args, pathlib.Path(tempfile.mkdtemp(prefix="pawl-work-"))
    suite = unittest.TestSuite(test for test in unittest.defaultTestLoader.loadTestsFromTestCase(cases) if args.only in test.id())
    print(f"1..{suite.countTestCases()}", flush=True)
    result = cli_support.TapResult()
    suite.run(result)
    shutil.rmtree(cases.base, ignore_errors=True)
    sys.exit(1 if result.failed else 0)
