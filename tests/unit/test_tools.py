#!/usr/bin/env python3
"""Tests of the project's own tools: they must notice what they are there to notice. Prints TAP."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else None


class Tree(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pawl-tools-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def put(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class EmbedSql(Tree):
    def embed(self):
        command = [sys.executable, ROOT / "sql" / "embed_sql.py", "--root", self.dir, "--c", self.dir / "out.c",
                   "--header", self.dir / "out.h"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def refused(self, part, name, text):
        path = self.put(name, text)
        done = self.embed()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertFalse((self.dir / "out.c").exists())
        path.unlink()

    def test_nothing_is_fine(self):
        self.assertEqual(self.embed().returncode, 0)
        self.assertIn("SQLITE_Q_COUNT", (self.dir / "out.h").read_text())

    def test_output_compiles_and_carries_the_text(self):
        text = '-- core: the "first" tables?\ncreate table a (b text default \'\\\');\n-- ä\n'
        for name in ("postgres/schema/core.sql", "sqlite/schema/core.sql"):
            self.put(name, text)
        self.put("sqlite/queries/message.sql", "-- message: of messages.\n\n-- name: message_read\n-- One message.\n-- params: id\n"
                 "select 1\n  from x\n\n-- name: message_count\nselect 2\n")
        done = self.embed()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.put("main.c", '#include <stdio.h>\n#include "out.h"\nint main(void) {\n'
                 'printf("%s|%s|%s|%d|%s", sql_postgres_migrations[0].name, sql_postgres_migrations[0].text,\n'
                 'sql_sqlite_migrations[0].sha256, SQLITE_Q_COUNT, sql_sqlite_queries[SQLITE_Q_MESSAGE_READ].text);\n'
                 "return sql_postgres_migrations_count != 1; }\n")
        source = (self.dir / "out.c").read_text().replace("sql_embedded.h", "out.h")
        (self.dir / "out.c").write_text(source)
        subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}",
                        self.dir / "out.c", self.dir / "main.c", "-o", self.dir / "main"], check=True)
        out = subprocess.run([self.dir / "main"], stdout=subprocess.PIPE, check=True).stdout.decode()
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.assertEqual(out, f"0001_schema|{text}|{digest}|2|select 1\n  from x\n")

    def test_functions_are_made_after_views_and_before_triggers(self):
        self.put("postgres/functions/a.sql", "-- a: x.\n-- name: a\nCREATE FUNCTION a() RETURNS trigger;\nCREATE TRIGGER t;\n"
                 "-- name: b\nCREATE OR REPLACE FUNCTION b();\n-- name: c\nCREATE OR REPLACE VIEW c;\n")
        self.assertEqual(self.embed().returncode, 0)
        self.assertEqual(re.findall(r'\{"(\w)",', (self.dir / "out.c").read_text()), ["c", "b", "a"])

    def test_dialects_must_agree(self):
        self.refused("is not in sqlite/schema", "postgres/schema/core.sql", "-- core: x.\n")
        self.refused("is not in sqlite/migrations", "postgres/migrations/0002_more.sql", "-- more: x.\n")
        self.refused("is not in postgres/invariants", "sqlite/invariants/a.sql", "-- a: x.\n-- name: no_orphans\nselect 1\n")

    def test_first_line(self):
        self.refused("first line must be", "sqlite/queries/a.sql", "-- name: a\nselect 1;\n")
        self.refused("first line must be", "sqlite/queries/a.sql", "-- b: another name.\n-- name: a\nselect 1;\n")

    def test_names(self):
        self.refused("without a name", "sqlite/queries/a.sql", "-- a: x.\nselect 1;\n-- name: a\nselect 2;\n")
        self.refused("a has no statement", "sqlite/queries/a.sql", "-- a: x.\n-- name: a\n-- Why.\n-- name: b\nselect 2;\n")
        self.refused("'A b'", "sqlite/queries/a.sql", "-- a: x.\n-- name: A b\nselect 1;\n")
        self.refused("used twice", "sqlite/queries/a.sql", "-- a: x.\n-- name: a\nselect 1;\n-- name: a\nselect 2;\n")
        self.put("sqlite/queries/a.sql", "-- a: x.\n-- name: c\nselect 1;\n")
        self.refused("used twice", "sqlite/queries/b.sql", "-- b: x.\n-- name: c\nselect 1;\n")

    def test_words_are_the_numbers_of_the_enums(self):
        self.refused("no enum has CLAIM_LOST", "sqlite/queries/a.sql", "-- a: x.\n-- name: a\nselect :CLAIM_LOST;\n")
        self.put("sqlite/queries/a.sql", "-- a: x.\n-- name: a\nselect '1'::X, 'HH24:MI', state = :CLAIM_EXPIRED, :JOB_DEAD;\n")
        for dialect in ("postgres", "sqlite"):
            self.put(f"{dialect}/schema/a.sql", "-- a: x.\ncreate index i on t (a) where state = :CLAIM_ACTIVE;\n")
        self.assertEqual(self.embed().returncode, 0)
        out = (self.dir / "out.c").read_text()
        self.assertIn("\"select '1'::X, 'HH24:MI', state = 3 /* CLAIM_EXPIRED */, 5 /* JOB_DEAD */;", out)
        self.assertIn("where state = 1;", out)
        self.assertIn("_Static_assert(CLAIM_EXPIRED == 3,", out)

    def test_lists_of_columns(self):
        self.put("sqlite/columns.sql", "-- columns: x.\n-- name: message\nid, stream,\ntype\n")
        self.refused("no list event", "sqlite/queries/a.sql", "-- a: x.\n-- name: a\nselect {{event}} from t;\n")
        self.put("sqlite/queries/a.sql", "-- a: x.\n-- name: a\nselect {{message}}, {{m.message}} from t m;\n")
        self.assertEqual(self.embed().returncode, 0)
        self.assertIn('"select id, stream, type, m.id, m.stream, m.type from t m;', (self.dir / "out.c").read_text())

    def test_places(self):
        self.refused("not a place", "sqlite/a.sql", "-- a: x.\n-- name: a\nselect 1;\n")
        self.refused("no stored functions", "sqlite/functions/a.sql", "-- a: x.\n-- name: a\nselect 1;\n")

    def test_migration_names(self):
        self.refused("NNNN_name", "sqlite/migrations/2_more.sql", "-- more: x.\n")

    def test_migrations_follow_version_1(self):
        for number in ("0001", "0003"):
            self.put(f"postgres/migrations/{number}_more.sql", "-- more: x.\n")
            self.refused("version 1 is sqlite/schema", f"sqlite/migrations/{number}_more.sql", "-- more: x.\n")
            (self.dir / f"postgres/migrations/{number}_more.sql").unlink()
        for dialect in ("postgres", "sqlite"):
            self.put(f"{dialect}/schema/b.sql", "-- b: x.\n")
            self.put(f"{dialect}/schema/a.sql", "-- a: x.\n")
            self.put(f"{dialect}/migrations/0002_more.sql", "-- more: x.\n")
        self.assertEqual(self.embed().returncode, 0)
        out = re.sub(r"\s+", " ", (self.dir / "out.c").read_text())
        self.assertRegex(out, r'\{"0001_schema", "-- a: x\.\\n" "\\n" "-- b: x\.\\n", "\w+"\}, \{"0002_more"')


class Tidy(Tree):
    def problems(self):
        (self.dir / "tools").mkdir(exist_ok=True)
        shutil.copy(ROOT / "tools" / "tidy", self.dir / "tools" / "tidy")
        done = subprocess.run([sys.executable, self.dir / "tools" / "tidy", "--brief"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout

    def finds(self, part, name, text):
        path = self.put(name, text)
        self.assertIn(part, self.problems())
        path.unlink()
        self.assertEqual(self.problems(), "")

    def test_layers(self):
        self.finds("base may not include store", "src/base/a.c", '/* A. */\n#include "store/core.h"\n')
        self.finds("sqlite may not include postgres", "src/store/sqlite/a.c", '/* A. */\n#include "store/postgres/p.h"\n')
        self.finds("not a layer", "src/misc/a.c", "/* A. */\n")
        self.put("src/cli/a.c", '/* A. */\n#include "base/b.h"\n#include "engine/e.h"\n#include "own.h"\n')
        self.assertEqual(self.problems(), "")

    def test_libraries(self):
        self.finds("libpq-fe.h", "src/engine/a.c", "/* A. */\n#include <libpq-fe.h>\n")
        self.put("src/store/postgres/a.c", "/* A. */\n#include <libpq-fe.h>\n")
        self.assertEqual(self.problems(), "")

    def test_sql(self):
        self.finds("SQL in C", "src/store/a.c", '/* A. */\nconst char *const q = "SELECT 1";\n')
        self.finds("SQL in C", "src/store/a.c", '/* A. */\nconst char *const q = "BEGIN";\n')
        self.put("src/store/a.c", '/* A. "SELECT 1" */\nconst char *const q = "SELECTED"; // "COMMIT"\n')
        self.assertEqual(self.problems(), "")

    # covers: B4.16
    def test_times_are_parameters(self):
        """No statement gets a time by pasting text together, and none cleans up leases beside the claim's own sweep."""
        for path in sorted((ROOT / "sql").rglob("*.sql")):
            text = re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8"))
            pasted = re.search(r"\|\|[^;\n]*::\s*interval|::\s*interval[^;\n]*\|\||interval\s+%|interval[^;\n]*format\s*\(", text, re.IGNORECASE)
            self.assertIsNone(pasted, f"{path.relative_to(ROOT)}: {pasted}")
            self.assertNotRegex(text, r"(?i)lease_until(_ms)?\s*<\s*[^;\n]*now\(\)\s*-", str(path))

    def test_banned(self):
        self.finds("strcpy is banned", "src/base/a.c", "/* A. */\nvoid f(void) { strcpy(a, b); }\n")
        self.put("src/base/a.c", "/* strcpy( */\nvoid f(void) { my_strcpy(a); a->sleep(1); }\n")
        self.assertEqual(self.problems(), "")

    def test_printing(self):
        self.finds("does not print", "src/base/a.c", '/* A. */\nvoid f(void) { fprintf(stderr, "x"); }\n')
        self.put("src/cli/a.c", '/* A. */\nvoid f(void) { printf("x"); }\n')
        self.assertEqual(self.problems(), "")

    def test_file_header_and_length(self):
        self.finds("one sentence", "src/base/a.c", "#include <stdio.h>\n")
        self.finds("701 lines", "src/base/a.c", "/* A. */\n" + "\n" * 700)

    def test_bare_states(self):
        self.finds("a.sql:3: state = 3", "sql/postgres/functions/a.sql", "-- a: x.\n-- name: a\nSELECT state = 3; -- status = 1\n")

    def test_unused_query(self):
        self.put("src/store/a.c", "/* A. */\nint a(void) { return SQLITE_Q_A; }\n")
        self.put("sql/sqlite/queries/a.sql", "-- a: x.\n-- name: a\nselect 1;\n")
        self.finds("no C file uses b", "sql/sqlite/queries/b.sql", "-- b: x.\n-- name: b\nselect 1;\n")

    def test_globals(self):
        for line in ("static int count;", "int count = 1;", "static const char *name;", "static char text[10];",
                     "static struct x y = {1};", "void f(void) {\n    static int n;\n}"):
            self.finds("writable", "src/base/a.c", f"/* A. */\n{line}\n")
        self.put("src/base/a.c", "/* A. */\n#define X \\\n  int y;\nstatic const int a = 1;\nstruct s;\n"
                 "static const char *const n[] = {\"a\"};\nstatic int f(int a);\nenum e { A, B };\n"
                 "struct t {\n    int a;\n};\nint g(void) {\n    static const int z = 1;\n    int w = z;\n"
                 "    return w;\n}\nextern int elsewhere;\ntypedef int number;\n")
        self.assertEqual(self.problems(), "")


def is_running(pid):
    try:
        return ") Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


class RunTests(Tree):
    def run_tests(self, programs, *arguments):
        """programs: name -> (shell text, timeout). Returns (exit code, last line, everything)."""
        tests = [{"name": name, "cmd": ["sh", "-c", text], "env": {}, "workdir": str(self.dir), "timeout": timeout,
                  "suite": ["pawl:unit"], "is_parallel": True} for name, (text, timeout) in programs.items()]
        self.put("meson-info/intro-tests.json", json.dumps(tests))
        done = subprocess.run([sys.executable, ROOT / "tools" / "run-tests", "--build", self.dir, *arguments],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()[-1], done.stdout

    def test_counts_cases(self):
        programs = {"a": ("echo 1..3; echo ok 1 - x; echo ok 2 - y; echo 'not ok 3 - z # SKIP'", 9), "b": ("exit 0", 9)}
        self.assertEqual(self.run_tests(programs)[:2], (0, "3 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.run_tests(programs, "--strict")[:2], (1, "3 passed, 1 failed, 0 skipped"))

    def test_failures_of_every_kind(self):
        for text, timeout, part in (("echo 1..1; echo 'not ok 1 - broken'; exit 1", 9, "failed: broken"),
                                    ("echo 1..2; echo ok 1 - x", 9, "1 of 2 cases did not report"),
                                    ("kill -SEGV $$", 9, "SIGSEGV"), ("exit 23", 9, "exit code 23"),
                                    ("sleep 60", 1, "limit of 1 s")):
            code, _, everything = self.run_tests({"a": (text, timeout)})
            self.assertEqual(code, 1)
            self.assertIn(part, everything)

    def test_cases_that_fail_beside_others_run_again_alone(self):
        first = "echo 1..1; test -f was && {{ echo ok 1 - x; exit 0; }}; touch was; echo 'not ok 1 - x'; {}"
        for how, arguments, end in (("exit 1", (), (0, "1 passed, 0 failed, 0 skipped")),
                                    ("exit 1", ("--strict",), (1, "0 passed, 1 failed, 0 skipped")),
                                    ("kill -SEGV $$", (), (1, "0 passed, 2 failed, 0 skipped")),
                                    ("echo ERROR: AddressSanitizer: heap-use-after-free; exit 1", (),
                                     (1, "0 passed, 1 failed, 0 skipped"))):
            with self.subTest(how, arguments=arguments):
                (self.dir / "was").unlink(missing_ok=True)
                code, last, everything = self.run_tests({"a": (first.format(how), 9)}, *arguments)
                self.assertEqual((code, last), end)
                self.assertEqual("again" in everything, end[0] == 0)

    def test_leak_after_success_is_a_failure(self):
        self.assertEqual(self.run_tests({"a": ("echo 1..1; echo ok 1 - x; exit 23", 9)})[:2],
                         (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_leak_report_does_not_hide_the_reason(self):
        leaks = 'for i in $(seq 300); do echo "leak $i"; done; exit 23'
        case = "echo 1..1; echo '# the reason'; echo {} 1 - x; echo ERROR: LeakSanitizer: detected memory leaks; " + leaks
        _, _, everything = self.run_tests({"a": (case.format("not ok"), 9)})
        self.assertIn("the reason", everything)
        _, _, everything = self.run_tests({"a": (case.format("ok"), 9)})
        self.assertIn("leak 300", everything)

    def test_exit_77_is_a_skip(self):
        self.assertEqual(self.run_tests({"a": ("echo no server; exit 77", 9)})[:2], (0, "0 passed, 0 failed, 1 skipped"))

    def test_children_end_with_their_test(self):
        code, _, _ = self.run_tests({"a": ("sleep 60 & echo $! > child; exit 0", 9)})
        self.assertEqual(code, 0)
        pid = int((self.dir / "child").read_text())
        deadline = time.monotonic() + 10  # it was killed; that it is gone the kernel shows a little later
        while is_running(pid):
            self.assertLess(time.monotonic(), deadline, "the child outlives its test")
            time.sleep(0.01)

    def test_unknown_suite(self):
        self.put("meson-info/intro-tests.json", "[]")
        done = subprocess.run([sys.executable, ROOT / "tools" / "run-tests", "--build", self.dir, "nonsense"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such suite", done.stderr)


class Prove(Tree):
    def proof(self, name, *lines, budget="0 min, waits"):
        path = self.put("proofs/" + name, "\n".join(["#!/bin/sh", f"# Does {name}. And more.", f"# budget: {budget}", *lines, ""]))
        path.chmod(0o755)

    def prove(self, *words):
        done = subprocess.run([ROOT / "tools" / "prove", "--proofs", self.dir / "proofs", "--build", self.dir / "build", "--scale", "0.5",
                               "--seed", "17", *words], capture_output=True, text=True, check=False)
        try:
            rows = json.loads((self.dir / "build" / "prove.json").read_text())["proofs"]
        except FileNotFoundError:
            rows = []
        return done, {row["name"]: row for row in rows}

    def test_figures_are_added_up(self):
        self.proof("kills", """echo 'figures: {"kills": 2, "worst_max": 9, "violations": 0}'""",
                   """echo 'figures: {"kills": 3, "worst_max": 4, "violations": 0}'""")
        self.proof("told", 'echo "figures: {\\"kills\\": 1, \\"seed\\": $PROVE_SEED, \\"scale\\": $PROVE_SCALE, \\"violations\\": 0}"',
                   budget="1 min, computes")
        done, rows = self.prove()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(rows["kills"]["figures"], {"kills": 5, "worst_max": 9})
        self.assertEqual(rows["told"]["figures"], {"kills": 1, "seed": 17, "scale": 0.5})
        self.assertEqual((rows["kills"]["what"], rows["kills"]["verdict"]), ("Does kills", "ok"))
        self.assertIn("in all: kills 6\n", done.stdout)
        self.assertIn("2 passed, 0 failed, 0 violations", done.stdout)

    def test_what_was_not_shown_fails(self):
        good = """echo 'figures: {"violations": 0}'"""
        self.proof("violated", """echo 'figures: {"violations": 2}'""")
        self.proof("exited", good, "exit 3")
        self.proof("silent", "echo fine")
        self.proof("skipped", good, "exit 77")
        self.proof("endless", good, "trap '' TERM", "while :; do sleep 1; done")
        self.proof("good", good)
        done, rows = self.prove("--grace", "1")
        self.assertEqual({name: row["verdict"] for name, row in rows.items()},
                         {"violated": "FAILED", "exited": "FAILED", "silent": "no figures", "skipped": "skipped",
                          "endless": "out of time", "good": "ok"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 passed, 5 failed, 2 violations", done.stdout)
        self.assertEqual(self.prove("good")[0].returncode, 0)
        self.assertEqual(self.prove("nothing")[0].returncode, 1)

    def test_every_proof_has_a_budget_and_they_fit_into_an_hour(self):
        done = subprocess.run([ROOT / "tools" / "prove", "--list"], stdout=subprocess.PIPE, text=True, check=True)
        lanes = {"computes": [], "waits": []}
        for minutes, lane in re.findall(r"^\S+ +(\d+) min, (\w+)", done.stdout, re.M):
            lanes[lane].append(int(minutes))
        self.assertEqual(len(done.stdout.splitlines()), sum(map(len, lanes.values())))
        for lane, budgets in lanes.items():
            self.assertLessEqual(sum(budgets), 2 * 55, f"{lane} on two cores")

    def test_a_real_proof(self):
        if not BUILD:
            self.skipTest("no build was named")
        done = subprocess.run([ROOT / "tools" / "prove", "--build", BUILD, "--scale", "0.001", "runs_fanin"], capture_output=True, text=True, check=False)
        result = json.loads((BUILD / "prove.json").read_text())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((result["proofs"][0]["verdict"], result["proofs"][0]["figures"]["runs"]), ("ok", 40), result)


class SqliteStatements(unittest.TestCase):
    """An application's tables may have any name that does not begin with pawl_."""

    def setUp(self):
        sys.path.insert(0, str(ROOT / "sql"))
        import embed_sql
        self.found, _ = embed_sql.load(ROOT / "sql")
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.addCleanup(self.database.close)
        for _, text in sorted(self.found["sqlite", "migrations"].items()):
            self.database.executescript(text)

    def test_every_name_is_pawl_s(self):
        names = [name for (name,) in self.database.execute("SELECT name FROM sqlite_schema")]
        self.assertGreater(len(names), 100)
        self.assertEqual([name for name in names if not name.startswith(("pawl_", "sqlite_"))], [])

    def test_every_statement_fits_the_schema(self):
        wrong = []
        for name, text in ((n, t) for kind in ("queries", "invariants", "doctor") for n, t in self.found["sqlite", kind].items()):
            text = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
            count = max([0, *map(int, re.findall(r"\?(\d+)", text))]) + len(re.findall(r"\?(?!\d)", text))
            try:
                self.database.execute("EXPLAIN " + text, [None] * count)
            except sqlite3.Error as error:
                wrong.append(f"{name}: {error}")
        self.assertEqual(wrong, [])


class TapResult(unittest.TestResult):
    """Prints a line per test."""

    def line(self, word, test, note=""):
        print(f"{word} {self.testsRun} - {type(test).__name__}.{test._testMethodName}{note}", flush=True)

    def addSuccess(self, test):
        self.line("ok", test)

    def addError(self, test, err):
        self.addFailure(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("not ok", test)
        print("\n".join("# " + row for row in self.failures[-1][1].splitlines()))


def main():
    os.environ.pop("PAWL_TEST_PG_URL", None)
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    print(f"1..{suite.countTestCases()}")
    result = TapResult()
    suite.run(result)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
