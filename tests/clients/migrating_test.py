#!/usr/bin/env python3
"""docs/migrating.md: the statements that move waiting jobs, on tables of the queues that they come from. PostgreSQL only.

Usage: migrating_test.py PAWL HELPER ROOT postgres [NAME]

Graphile Worker and pg-boss create their tables and their jobs themselves (npm); those of River and Oban are written here, with the columns
that their public migrations give them.
"""
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import cli_support  # noqa: E402 (found by the line above)
from cli_support import CliTest, SECONDS_MAX, Setup  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent

GRAPHILE = """
import { makeWorkerUtils } from 'graphile-worker';
const utils = await makeWorkerUtils({ connectionString: process.env.DATABASE_URL });
await utils.migrate();
await utils.addJob('mail', { n: 1 });
await utils.addJob('mail', { n: 2 }, { runAt: new Date(Date.now() + 3_600_000), jobKey: 'mail-2', maxAttempts: 4, priority: -3 });
for (let n = 3; n < 6; n++) await utils.addJob('ship', { n }, { queueName: 'order-1' });
await utils.addJob('ship', { n: 6 }, { queueName: 'order-1', runAt: new Date(Date.now() + 3_600_000) });
await utils.addJob('held', { n: 7 });
await utils.addJob('dead', { n: 8 }, { maxAttempts: 1 });
await utils.release();
"""
PGBOSS = """
import { PgBoss } from 'pg-boss';
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, supervise: false, schedule: false });
boss.on('error', console.error);
await boss.start();
for (const name of ['mail', 'held', 'dead']) await boss.createQueue(name);
await boss.createQueue('ship', { policy: 'key_strict_fifo' });
await boss.send('mail', { n: 1 }, { retryLimit: 2 });
await boss.send('mail', { n: 2 }, { startAfter: 3600, retryLimit: 3, priority: 3 });
for (let n = 3; n < 6; n++) await boss.send('ship', { n }, { singletonKey: 'order-1' });
await boss.send('held', { n: 7 });
await boss.fetch('held');
await boss.send('dead', { n: 8 }, { retryLimit: 0 });
await boss.fail('dead', (await boss.fetch('dead'))[0].id);
await boss.stop();
"""
RIVER = """
CREATE TYPE river_job_state AS ENUM ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled');
CREATE TABLE river_job (id bigserial PRIMARY KEY, state river_job_state NOT NULL DEFAULT 'available', attempt smallint NOT NULL DEFAULT 0,
    max_attempts smallint NOT NULL, attempted_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(), finalized_at timestamptz,
    scheduled_at timestamptz NOT NULL DEFAULT now(), priority smallint NOT NULL DEFAULT 1, args jsonb NOT NULL, attempted_by text[], errors jsonb[],
    kind text NOT NULL, metadata jsonb NOT NULL DEFAULT '{}', queue text NOT NULL DEFAULT 'default', tags varchar(255)[] NOT NULL DEFAULT '{}',
    unique_key bytea, unique_states bit(8));
INSERT INTO river_job (kind, args, max_attempts, attempt, state, priority, scheduled_at, queue, finalized_at) VALUES
    ('mail', '{"n": 1}', 25, 0, 'available', 1, now(), 'default', NULL),
    ('mail', '{"n": 2}', 5, 2, 'retryable', 4, now() + interval '1 hour', 'slow', NULL),
    ('held', '{"n": 7}', 25, 1, 'running', 1, now(), 'default', NULL),
    ('dead', '{"n": 8}', 1, 1, 'discarded', 1, now(), 'default', now());
"""
OBAN = """
CREATE TYPE oban_job_state AS ENUM ('available', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled');
CREATE TABLE oban_jobs (id bigserial PRIMARY KEY, state oban_job_state NOT NULL DEFAULT 'available', queue text NOT NULL DEFAULT 'default',
    worker text NOT NULL, args jsonb NOT NULL DEFAULT '{}', meta jsonb DEFAULT '{}', tags text[] DEFAULT '{}', errors jsonb[] NOT NULL DEFAULT '{}',
    attempt int NOT NULL DEFAULT 0, max_attempts int NOT NULL DEFAULT 20, priority int NOT NULL DEFAULT 0, attempted_by text[],
    inserted_at timestamp NOT NULL DEFAULT timezone('UTC', now()), scheduled_at timestamp NOT NULL DEFAULT timezone('UTC', now()),
    attempted_at timestamp, completed_at timestamp, discarded_at timestamp, cancelled_at timestamp);
INSERT INTO oban_jobs (worker, args, max_attempts, attempt, state, priority, scheduled_at, queue) VALUES
    ('mail', '{"n": 1}', 20, 0, 'available', 0, timezone('UTC', now()), 'default'),
    ('mail', '{"n": 2}', 5, 2, 'retryable', 3, timezone('UTC', now() + interval '1 hour'), 'slow'),
    ('held', '{"n": 7}', 20, 1, 'executing', 0, timezone('UTC', now()), 'default'),
    ('dead', '{"n": 8}', 1, 1, 'discarded', 0, timezone('UTC', now()), 'default');
"""


class MigratingTest(CliTest):

    def setUp(self):
        """Their tables have names of their own, so each test has a database."""
        super().setUp()
        name = "migrating_" + uuid.uuid4().hex[:12]
        self.psql(f"CREATE DATABASE {name}")
        self.addCleanup(self.psql, f"DROP DATABASE {name} WITH (FORCE)", self.url)
        self.url = urllib.parse.urlunsplit(urllib.parse.urlsplit(self.url)._replace(path="/" + name))
        self.env["DATABASE_URL"] = self.url
        self.migrate()

    def drop_schema(self):
        pass  # its database goes

    def psql(self, text, url=None):
        return subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", url or self.url, "-f", "-"], input=text, capture_output=True, text=True,
                              check=True, timeout=SECONDS_MAX).stdout

    def node(self, text, package):
        if not (HERE / "node_modules" / package).exists():
            self.skipTest(f"{package} is missing; run tools/npm-ci tests/clients")
        (self.dir / "node_modules").symlink_to(HERE / "node_modules")
        (self.dir / "fill.mjs").write_text(text, encoding="utf-8")
        done = subprocess.run(["node", "fill.mjs"], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def move(self, name, moved):
        """Runs the statement of the page until it moves nothing."""
        page = (Setup.root / "docs" / "migrating.md").read_text(encoding="utf-8")
        statement = re.search(rf"^<!-- query: migrating_test.py {name} -->\n```sql\n(.*?)^```$", page, re.M | re.S).group(1)
        statement = re.sub(r"\bpawl(?=\.)", self.schema, statement)
        self.assertEqual(len(self.psql(statement).split()), moved)
        self.assertEqual(self.psql(statement), "")

    def jobs(self):
        """(type, payload's n, queue, key, attempts left, in an hour, priority) of each."""
        rows = json.loads(self.psql(
            f"SELECT json_agg(json_build_array(type, payload ->> 'n', queue, key, unique_key, max_attempts, priority, due_ms > {self.schema}_internal.now_ms() + 3000000)"
            f" ORDER BY id) FROM (SELECT * FROM {self.schema}_internal.job UNION ALL SELECT * FROM {self.schema}_internal.job_aside) j"))
        return [tuple(row) for row in rows]

    def streams(self):
        return [(row["type"], row["stream"]) for row in self.ok("message", "list")]

    def test_graphile(self):
        self.node(GRAPHILE, "graphile-worker")
        self.psql("UPDATE graphile_worker._private_jobs j SET locked_at = now(), locked_by = 'w' FROM graphile_worker._private_tasks t "
                  "WHERE t.id = j.task_id AND t.identifier = 'held';"
                  "UPDATE graphile_worker._private_jobs j SET attempts = 1 FROM graphile_worker._private_tasks t "
                  "WHERE t.id = j.task_id AND (t.identifier = 'dead' OR j.key = 'mail-2')")
        self.move("graphile", 6)
        self.assertEqual(self.jobs(), [("mail", "2", "default", None, "mail-2", 3, 180, True), ("mail", "1", "default", None, None, 25, 0, False),
                                       ("ship", "6", "default", "order-1", None, 25, 0, True)])
        self.assertEqual(self.streams(), [("ship", "order-1")] * 3)
        self.assertEqual(self.psql("SELECT identifier FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = task_id ORDER BY 1"),
                         "dead\nheld\n")
        self.worked(["3", "4", "5"])

    def test_pgboss(self):
        self.node(PGBOSS, "pg-boss")
        self.move("pgboss", 5)
        self.assertEqual(self.jobs(), [("mail", "2", "default", None, None, 4, 180, True), ("mail", "1", "default", None, None, 3, 0, False)])
        self.assertEqual(self.streams(), [("ship", "order-1")] * 3)
        self.assertEqual(self.psql("SELECT name || ' ' || state FROM pgboss.job ORDER BY 1"), "dead failed\nheld active\n")
        self.worked(["3", "4", "5"])

    def test_river(self):
        self.psql(RIVER)
        self.move("river", 2)
        self.assertEqual(self.jobs(), [("mail", "1", "default", None, None, 25, 0, False), ("mail", "2", "slow", None, None, 3, -180, True)])
        self.assertEqual(self.psql("SELECT kind FROM river_job ORDER BY 1"), "dead\nheld\n")
        self.worked([])

    def test_oban(self):
        self.psql(OBAN)
        self.move("oban", 2)
        self.assertEqual(self.jobs(), [("mail", "1", "default", None, None, 20, 0, False), ("mail", "2", "slow", None, None, 3, -180, True)])
        self.assertEqual(self.psql("SELECT worker FROM oban_jobs ORDER BY 1"), "dead\nheld\n")
        self.worked([])

    def worked(self, shipped):
        """A worker handles what was moved and is due, in the order of the stream."""
        handler = self.dir / "handle.sh"
        handler.write_text('#!/bin/sh\njq -r ".type + \\" \\" + (.payload.n | tostring)" >> "$0.log"\n', encoding="utf-8")
        handler.chmod(0o755)
        self.assertEqual(self.run_pawl("worker", "--on", f"*=exec:{handler}", "--until-idle").code, 0)
        lines = (self.dir / "handle.sh.log").read_text(encoding="utf-8").split("\n")
        self.assertEqual([line.split()[1] for line in lines if line.startswith("ship")], shipped)
        self.assertIn("mail 1", lines)


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
