#!/usr/bin/env python3
"""Who may do what in PostgreSQL: every function, table, view, sequence and type of both schemas with the roles that may use it is a
line of privileges.txt, so that a new object or a new grant is seen where it is reviewed. PostgreSQL only.

Usage: privileges_test.py PAWL HELPER ROOT postgres [NAME]
       with PAWL_WRITE_PRIVILEGES=1 in the environment privileges.txt is written, not compared
"""
import os
import pathlib
import re
import subprocess
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cli_support  # noqa: E402 (found by the line above)
from cli_support import SECONDS_MAX, CliTest, Setup  # noqa: E402

TABLE = pathlib.Path(__file__).resolve().parent / "privileges.txt"

# A line per object: what it is, its name, and "role: rights" of every role that has any. The owner has all. Of a function: whose
# rights it runs with.
LIST = """
WITH roles (role, place) AS (
    SELECT r, ordinality FROM unnest(ARRAY['public', 'pawl_producer', 'pawl_worker', 'pawl_view', 'pawl_operator', 'pawl_program'])
      WITH ORDINALITY t (r, ordinality)),
spaces (space, name) AS (VALUES ('pawl'::regnamespace, 'pawl'), ('pawl_internal'::regnamespace, 'pawl_internal')),
rights (kind, name, role, place, granted) AS (
    SELECT 'schema', s.name, r.role, r.place, concat_ws(' ', CASE WHEN has_schema_privilege(r.role, s.space, 'usage') THEN 'usage' END,
           CASE WHEN has_schema_privilege(r.role, s.space, 'create') THEN 'create' END)
      FROM spaces s, roles r
    UNION ALL
    SELECT CASE WHEN p.prosecdef THEN 'function of the owner' ELSE 'function of the caller' END, s.name || '.' || p.proname, r.role, r.place,
           CASE WHEN has_function_privilege(r.role, p.oid, 'execute') THEN 'execute' ELSE '' END
      FROM pg_proc p JOIN spaces s ON s.space = p.pronamespace, roles r
    UNION ALL
    SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' ELSE 'table' END, s.name || '.' || c.relname, r.role, r.place,
           (SELECT coalesce(string_agg(x, ' ' ORDER BY n), '') FROM unnest(ARRAY['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'usage'])
              WITH ORDINALITY t (x, n)
             WHERE CASE WHEN c.relkind = 'S' THEN x IN ('select', 'update', 'usage') AND has_sequence_privilege(r.role, c.oid, x)
                        WHEN x IN ('select', 'insert', 'update', 'references') THEN has_any_column_privilege(r.role, c.oid, x)
                        WHEN x <> 'usage' THEN has_table_privilege(r.role, c.oid, x) ELSE false END)
      FROM pg_class c JOIN spaces s ON s.space = c.relnamespace, roles r WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f'))
SELECT kind || ' ' || name || coalesce(' ' || string_agg(role || ': ' || granted, ', ' ORDER BY place) FILTER (WHERE granted <> ''), '')
  FROM rights GROUP BY kind, name ORDER BY kind, name
"""


class PrivilegesTest(CliTest):
    """The catalog of a new schema."""

    def psql(self, text, url):
        done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", "-"], input=text, capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_object_is_listed_with_those_who_may_use_it(self):
        """covers: J51"""
        name = "privileges_" + uuid.uuid4().hex[:12]  # only the schema of this name has roles
        self.psql(f"CREATE DATABASE {name}", Setup.pg_url)
        self.addCleanup(self.psql, f"DROP DATABASE {name} WITH (FORCE)", Setup.pg_url)
        url = re.sub(r"/\w+(?=\?|$)", "/" + name, Setup.pg_url, count=1)
        self.env.update(DATABASE_URL=url, PAWL_SCHEMA="pawl")
        self.migrate()
        text = self.psql(LIST, url)
        self.assertGreater(text.count("\n"), 300)
        if os.environ.get("PAWL_WRITE_PRIVILEGES") == "1":
            TABLE.write_text(text, encoding="utf-8")
        expected, found = TABLE.read_text(encoding="utf-8").splitlines(), text.splitlines()
        self.assertEqual((sorted(set(found) - set(expected)), sorted(set(expected) - set(found))), ([], []),
                         "found, and expected by privileges.txt (PAWL_WRITE_PRIVILEGES=1 writes it)")
        for line in found:  # whatever the list says
            kind, _, rest = line.partition(" pawl")
            self.assertNotIn(" public: ", rest, line)
            self.assertTrue(kind.startswith(("function", "schema")) or rest.count(": ") == rest.count(": select"), line)


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
