#!/usr/bin/env python3
"""The SQL functions for callers: few, each with a comment and an example that runs, docs/sql.md made from them, and enough for a
worker that keeps no state and has no right beyond its role. PostgreSQL only.

Usage: sql_api_test.py PAWL HELPER ROOT postgres [NAME]
       with PAWL_WRITE_DOCS=1 in the environment docs/sql.md is written, not compared
"""
import json
import os
import re
import subprocess
import sys
import textwrap

from cli_support import CliTest, Setup, SECONDS_MAX, main

FUNCTIONS_MAX = 35
ME = "01900000-0000-7000-8000-000000000001"
KEPT = {"register", "append", "process_work_batch", "snapshot_put"}  # what later examples build on; everything else is undone
MARKERS = ("<!-- functions: begin -->\n", "<!-- functions: end -->\n")
HEADINGS = {"message": "Messages", "worker": "Workers", "job": "Jobs", "run": "Runs", "event": "Events and perspectives", "view": "Looking"}
COMMENT = re.compile(r"(?P<does>[^\n]+)\n(?:Errors: (?P<errors>[^\n]+)\n)?Example: (?P<example>.+)", re.S)


class SqlApi(CliTest):
    """One schema, and what its catalog says."""

    def setUp(self):
        super().setUp()
        self.migrate()
        (self.dir / "order_sum.yaml").write_text('name: order_sum\nversion: 1\non: ["order.*"]\nexec: "true"\n')
        self.ok("perspective", "set", str(self.dir / "order_sum.yaml"))

    def psql(self, text, user=None, code=0):
        """The output of a script, in which pawl is the test's schema."""
        url = self.url + (("&" if "?" in self.url else "?") + f"user={user}" if user else "")
        text = re.sub(r"\bpawl(?=\.|_internal\b)", self.schema, text)
        done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", "-"], input=text, capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, code, text + done.stderr)
        return done.stdout.strip() if code == 0 else done.stderr

    def functions(self):
        """{name: (arguments, result, comment)} of the schema, with pawl for its name."""
        rows = json.loads(self.psql(
            "SELECT json_agg(json_build_array(p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), "
            "obj_description(p.oid, 'pg_proc'))) FROM pg_proc p WHERE p.pronamespace = '" + self.schema + "'::regnamespace"))
        return {name: (arguments, result, (comment or "").replace(self.schema, "pawl")) for name, arguments, result, comment in rows}

    @staticmethod
    def files():
        """[(noun, [names of functions])] in the order of the files, in which the examples build on each other."""
        out = []
        for noun in HEADINGS:
            text = (Setup.root / "sql" / "postgres" / "api" / f"{noun}.sql").read_text(encoding="utf-8")
            out.append((noun, re.findall(r"^CREATE OR REPLACE FUNCTION pawl\.(\w+)\(", text, re.M)))
        return out

    @staticmethod
    def signature(name, arguments, result):
        """Its lines; what has a default is in brackets, and the default NULL is not said."""
        out = ""
        for argument in re.split(r", (?=(?:OUT )?\w+ )", arguments):
            if not argument.startswith("OUT "):
                what, _, default = re.sub(r"(?<=\S)::[\w\[\]]+", "", argument).partition(" DEFAULT ")
                what += f" = {default}" if default not in ("", "NULL") else ""
                out += (", " if out else "") + (f"[{what}]" if default else what)
        return textwrap.wrap(f"pawl.{name}({out}) → {result}".replace("timestamp with time zone", "timestamptz"), 110, subsequent_indent="    ")

    def reference(self):
        functions, lines = self.functions(), []
        for noun, names in self.files():
            lines += [f"## {HEADINGS[noun]}", ""]
            for name in names:
                arguments, result, comment = functions[name]
                said = COMMENT.fullmatch(comment)
                lines += [f"### {name}", "", "<!-- example: text -->", "```", *self.signature(name, arguments, result), "```", "", said["does"], ""]
                if said["errors"]:
                    lines += [f"Errors: {said['errors']}", ""]
                lines += ["<!-- query: sql_api_test.py runs it -->", "```sql", said["example"], "```", ""]
        return "\n".join(lines)

    def test_there_are_few_and_each_is_described(self):
        functions = self.functions()
        self.assertLessEqual(len(functions), FUNCTIONS_MAX)
        self.assertEqual(sorted(functions), sorted(name for _, names in self.files() for name in names))
        for name, (_, _, comment) in functions.items():
            self.assertRegex(comment, COMMENT, name)
        views = self.psql(f"SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = '{self.schema}'::regnamespace")
        self.assertEqual(views, "counts dead_letters instances lanes messages")

    def test_the_page_is_what_the_comments_say(self):
        page = Setup.root / "docs" / "sql.md"
        text = page.read_text(encoding="utf-8")
        head, _, rest = text.partition(MARKERS[0])
        _, _, tail = rest.partition(MARKERS[1])
        made = head + MARKERS[0] + self.reference() + MARKERS[1] + tail
        if os.environ.get("PAWL_WRITE_DOCS"):
            page.write_text(made, encoding="utf-8")
        self.assertEqual(text, made, "docs/sql.md is old: run this test with PAWL_WRITE_DOCS=1")

    def test_every_example_runs(self):
        functions = self.functions()
        for noun, names in sorted(self.files(), key=lambda file: file[0] != "worker"):
            for name in names:
                example = COMMENT.fullmatch(functions[name][2])["example"]
                # Something to claim; the example's own claim sees it, because it is in the same transaction.
                before = "SELECT pawl.send('order.placed', '{}'), pawl.enqueue('report')" if "claim(" in example else "SELECT"
                after = "COMMIT" if name in KEPT else "ROLLBACK"
                answer = self.psql(f"BEGIN;\n\\o /dev/null\n{before};\n\\o\n{example};\n{after};")
                if "tokens" in functions[name][0] or name == "process_work_batch":
                    self.assertIn("applied", answer, name)
                elif name not in ("deregister", "finish", "job_finish"):
                    self.assertNotEqual(answer, "", name)

    def test_a_role_reaches_what_is_for_callers_and_nothing_else(self):
        for role in ("producer", "worker", "view", "operator"):
            login = f"{self.schema}_l_{role}"
            self.psql(f'CREATE ROLE {login} LOGIN IN ROLE {self.schema}_{role}')
            self.addCleanup(self.psql, f"DROP ROLE {login}")
            self.assertIn("permission denied for schema", self.psql("SELECT pawl_internal.now_ms()", login, code=3))
            self.assertIn("permission denied for schema", self.psql("TABLE pawl_internal.message", login, code=3))
            self.assertEqual(self.psql(f"SELECT has_schema_privilege('{login}', 'pawl_internal', 'USAGE')"), "f")
        nobody = self.psql(f"SELECT string_agg(p.proname, ' ') FROM pg_proc p WHERE p.pronamespace = '{self.schema}'::regnamespace AND NOT "
                           f"EXISTS (SELECT FROM pg_roles r WHERE r.rolname LIKE '{self.schema}_l_%' "
                           "AND has_function_privilege(r.oid, p.oid, 'EXECUTE'))")
        self.assertEqual(nobody, "")
        self.a_worker_needs_no_more(f"{self.schema}_l_worker")

    def a_worker_needs_no_more(self, login):
        """Everything that a worker does, each call on a connection of its own: nothing is kept but ids and tokens."""
        def call(text):
            return self.psql(text, login)

        def claimed(function, **more):
            rows = call(f"SELECT id || ' ' || token FROM pawl.{function}('{ME}'{''.join(f', {k} => {v}' for k, v in more.items())})")
            return [tuple(row.split()) for row in rows.split("\n") if row]

        def report(function, rows, rest=""):
            ids, tokens = (",".join(row[n] for row in rows) for n in (0, 1))
            return call(f"SELECT pawl.{function}('{ME}', '{{{tokens}}}', '{{{ids}}}'{rest})")

        self.assertEqual(call(f"SELECT pawl.register('w', '{{outbox,inbox,jobs}}', '{ME}', '10 min')"), ME)
        for n in range(2):
            call(f"SELECT pawl.send('order.placed', '{{}}', 'order-{n}'); SELECT pawl.enqueue('report', '{{\"n\": {n}}}')")
        self.assertEqual(call("SELECT pawl.receive('w', gen_random_uuid(), 'order.placed', '{}')"), "applied")
        call(f"SELECT pawl.heartbeat('{ME}')")
        first = claimed("claim")
        self.assertEqual(len(first), 2)
        self.assertEqual(report("renew", first), "{applied,applied}")
        self.assertEqual(report("complete", first[:1]), "{applied}")
        self.assertEqual(report("complete", first[:1]), "{duplicate}")
        self.assertEqual(report("release", first[1:]), "{applied}")
        self.assertEqual(report("fail", first[1:], ", '{late}'"), "{duplicate}")
        inbox = claimed("claim", kind="'inbox'")
        self.assertEqual(report("fail", inbox, ", '{no route}', true, kind => 'inbox'"), "{applied}")
        jobs = claimed("job_claim", max=2)
        self.assertEqual(report("job_renew", jobs, ", progress => '{1,2}'"), '("{applied,applied}","{f,f}")')
        self.assertEqual(report("job_complete", jobs[:1], ", '{\"{}\"}'"), "{applied}")
        self.assertEqual(report("job_release", jobs[1:]), "{applied}")
        again = claimed("job_claim")
        self.assertEqual([row[0] for row in again], [jobs[1][0]])
        self.assertEqual(report("job_fail", again, ", '{no}', true"), "{applied}")
        self.the_end_of_a_job_can_be_awaited(call, claimed, report)
        self.assertIn("item 2 of 2", self.psql(f"SELECT pawl.complete('{ME}', '{{1,NULL}}', '{{{ME},{ME}}}')", login, code=3))
        call(f"SELECT pawl.deregister('{ME}')")
        self.assertIn("register", self.psql(f"SELECT pawl.heartbeat('{ME}')", login, code=3))
        self.assertEqual(self.psql("SELECT kind || ' ' || dead FROM pawl.status() WHERE dead > 0 ORDER BY 1"), "inbox 1\njobs 1")

    def the_end_of_a_job_can_be_awaited(self, call, claimed, report):
        def wait(job):
            return call(f"SELECT ended, state, output FROM pawl.job_wait({job}, '10 ms')")

        job, request = call("SELECT pawl.enqueue('report', queue => 'q')"), "01900000-0000-7000-8000-000000000009"
        self.assertEqual(wait(job), "f|ready|")
        rows = call(f"SELECT id || ' ' || token || ' ' || attempt FROM pawl.job_claim('{ME}', 'q')").split()
        self.assertEqual(rows[2], "1")
        running = [tuple(rows[:2])]
        self.assertEqual(call(f"SELECT pawl.job_cancel({job})"), "applied")
        self.assertEqual(report("job_renew", running), '({applied},{t})')
        self.assertEqual(report("job_complete", running, ", '{7}'"), "{applied}")
        self.assertEqual(wait(job), "t|succeeded|7")
        self.assertEqual(call(f"SELECT pawl.job_cancel({job})"), "not_found")
        self.assertIn("there is no job 4711", self.psql("SELECT pawl.job_wait(4711)", code=3))
        # A call that may have happened is repeated under its key.
        made = [call(f"SELECT pawl.enqueue('report', queue => 'r', request => '{request}')") for _ in range(2)]
        self.assertEqual(made[0], made[1])
        self.assertEqual(call(f"SELECT pawl.job_cancel({made[0]}), pawl.job_cancel({made[0]})"), "applied|not_found")
        self.assertEqual(wait(made[0]), "t|cancelled|")
        again = "01900000-0000-7000-8000-000000000008"
        self.assertEqual([call(f"SELECT pawl.send('order.placed', '{{}}', request => '{again}')") for _ in range(2)], [again, again])
        self.assertEqual(call(f"SELECT id FROM pawl.claim('{ME}', max => 1000)").split().count(again), 1)

    def test_a_put_notifies_who_listens(self):
        said = self.psql(f"SELECT pawl.register('w', '{{jobs}}', '{ME}', '10 min');\n SELECT pawl.listen('{ME}') AS channel \\gset\n"
                         "LISTEN :\"channel\";\n\\echo :channel\nSELECT pawl.enqueue('report') > 0;\nSELECT 1;")
        self.assertIn(f'Asynchronous notification "{self.schema}.wake"', said)
        self.assertIn("is unknown or evicted", self.psql("SELECT pawl.listen(gen_random_uuid())", code=3))


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
