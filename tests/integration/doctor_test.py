#!/usr/bin/env python3
"""pawl doctor: every misconfiguration that is seeded is found by name, and a good system is silent.

Usage: doctor_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import os
import re
import sqlite3
import stat
import subprocess
import sys
import time

import cli_support
from cli_support import EXIT_CODES, CliTest, Setup, main

SECONDS_MAX = 60


def only(dialect):
    def mark(method):
        method.only = dialect
        return method
    return mark


def start_postgres():
    """A server of our own whatever the run brings: with real durability, and free to be misconfigured."""
    tool = [str(Setup.root / "tools" / "pg-throwaway"), "start", "--owner-pid", str(os.getpid()), "--fsync",
            "--set", "max_connections=20", "--set", "max_prepared_transactions=2"]
    done = subprocess.run(tool, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return None
    return dict(line.split("=", 1) for line in done.stdout.splitlines())["url"]


class Doctor(CliTest):
    def setUp(self):
        super().setUp()
        self.env.pop("PGOPTIONS", None)
        self.migrate()
        if Setup.dialect == "postgres":
            self.sql("ALTER DATABASE postgres RESET ALL")

    def doctor(self, *args):
        result = self.run_pawl("doctor", "-o", "json", *args)
        self.assertIn(result.code, (0, 1, 2), result)
        self.assertEqual(result.err, "", result)
        rows = result.json()
        worst = max([{"warning": 1, "fault": 2}[row["severity"]] for row in rows], default=0)
        self.assertEqual(result.code, worst, result)
        for row in rows:
            self.assertTrue(row["found"] and row["why"] and row["next"], row)
        return {row["check"]: row for row in rows}

    def quiet(self, *args):
        result = self.run_pawl(*args)
        self.assertEqual((result.code, result.err), (0, ""), result)

    def finds(self, *names, args=()):
        found = self.doctor(*args)
        for name in names:
            self.assertIn(name, found)
        return found

    def expect(self, seed, name, cure=None, alone=True):
        """Seeds one fault by SQL; it is found by name, alone, and no longer when it is cured."""
        self.assertNotIn(name, self.doctor())
        self.sql(seed)
        found = self.finds(name)
        if alone:
            self.assertEqual(list(found), [name])
        if cure is not None:
            self.sql(cure)
            self.assertEqual(self.doctor(), {})


class Everywhere(Doctor):
    def test_a_good_system_is_silent(self):
        self.assertEqual(self.doctor(), {})
        self.register(kinds=30)
        self.ok("send", "order.created", "{}", "--stream", "s")
        self.ok("job", "enqueue", "mail")
        self.assertEqual(self.doctor(), {})
        result = self.run_pawl("doctor", "-o", "table")
        self.assertEqual(result.code, 0, result)
        self.assertRegex(result.out, r"healthy: .*\n\d+ checks, 0 faults, 0 warnings")

    def test_at_least_25_checks_apply(self):
        rows = self.ok("doctor", "checks", "-o", "json")
        mine = [row for row in rows if row["stores"] in ("all", Setup.dialect)]
        self.assertGreaterEqual(len(mine), 25)
        self.assertEqual(len({(row["check"], row["stores"]) for row in rows}), len(rows))

    def test_documented(self):
        rows = self.ok("doctor", "checks", "-o", "json")
        text = (Setup.root / "docs" / "doctor.md").read_text(encoding="utf-8")
        table = "".join(f"| `{row['check']}` | {row['stores']} | {row['severity']} | {row['why']} | {row['next']} |\n"
                        for row in rows)
        self.assertIn(table, text)
        for directory in ("postgres", "sqlite"):
            texts = [path.read_text(encoding="utf-8") for path in (Setup.root / "sql" / directory / "doctor").glob("*.sql")]
            queries = {name for text in texts for name in re.findall(r"^-- name: (\w+)$", text, re.M)}
            self.assertTrue(queries)
            named = {row["check"] for row in rows if row["stores"] == directory}
            self.assertLessEqual(queries, named)

    # covers: M66 M67 B2.14
    def test_settings(self):
        self.expect("UPDATE pawl_internal.settings SET stale_ms = instance_lease_ms", "stale_short",
                    "UPDATE pawl_internal.settings SET stale_ms = instance_lease_ms * 20")
        self.expect("UPDATE pawl_internal.settings SET max_attempts = 1", "attempts_one", "UPDATE pawl_internal.settings SET max_attempts = 5")
        self.expect("UPDATE pawl_internal.settings SET dedupe_ms = 60000", "dedupe_short",
                    "UPDATE pawl_internal.settings SET dedupe_ms = 604800000")
        self.expect("UPDATE pawl_internal.settings SET history_ms = 9000000000", "history_long",
                    "UPDATE pawl_internal.settings SET history_ms = 0")
        self.expect("UPDATE pawl_internal.settings SET test_now_ms = 1700000000000", "clock_of_tests",
                    "UPDATE pawl_internal.settings SET test_now_ms = 0")

    def test_nobody_works(self):
        self.ok("send", "order.created", "{}", "--stream", "s")
        self.finds("workers_missing")
        self.ok("job", "enqueue", "mail")
        self.finds("workers_missing", "jobs_unserved")

    def test_silent_worker(self):
        self.register(kinds=30)
        self.ok("send", "order.created", "{}", "--stream", "s")
        self.sql("UPDATE pawl_internal.instance SET lease_until_ms = 1")
        self.finds("instances_silent", "lanes_silent", "workers_missing")

    def test_claims_overdue_and_dead_letters(self):
        worker = self.register(kinds=30)
        sent = self.ok("send", "order.created", "{}", "--stream", "s")
        self.kill_message(worker, sent["id"])
        self.finds("dead_letters")
        self.ok("send", "order.created", "{}", "--stream", "t")
        self.worker("claim", worker, 1, 10, 1000)
        self.sql("UPDATE pawl_internal.claim SET lease_until_ms = 1")
        self.finds("claims_overdue", "dead_letters")

    def test_lanes_without_owner(self):
        self.register(kinds=30)
        self.ok("send", "order.created", "{}", "--stream", "s")
        self.sql("UPDATE pawl_internal.lane SET owner = NULL")
        self.finds("lanes_unowned")

    def test_old_work(self):
        self.register(kinds=30)
        self.ok("send", "order.created", "{}", "--stream", "s")
        self.ok("job", "enqueue", "mail")
        self.sql("UPDATE pawl_internal.message SET put_ms = 1000")
        self.finds("backlog_old")
        self.sql("UPDATE pawl_internal.job SET due_ms = 1000")
        self.finds("jobs_old")

    # covers: M65
    def test_lease_against_measured_time(self):
        hash_text = "x'00'" if Setup.dialect == "sqlite" else "'x'::bytea"
        self.sql("INSERT INTO pawl_internal.task_run (id, job, attempt, outcome, token, started_ms, finished_ms, expires_ms, block, place, "
                 f"queue, type, hash) VALUES (1, 1, 1, 1, 1, 1000, 41000, 9000000000000, 0, 0, 'default', 't', {hash_text})")
        self.assertIn("give it 5 minutes", self.finds("lease_short")["lease_short"]["found"])
        self.assertEqual(self.doctor("--job-lease", "5m"), {})

    def test_dead_jobs(self):
        self.ok("job", "enqueue", "mail")
        self.sql("UPDATE pawl_internal.job_tally SET dead = dead + 1")
        self.finds("jobs_dead")

    def test_paused(self):
        self.quiet("pause", "stream", "s")
        self.assertEqual(list(self.finds("paused")), ["paused"])
        self.quiet("resume", "stream", "s")
        self.assertEqual(self.doctor(), {})

    def test_refused(self):
        self.sql("INSERT INTO pawl_internal.refused (reason, consumer, message_id, payload, payload_hash, received_ms) "
                 "VALUES (2, 'c', 'm', '{}', 1, 1)")
        self.finds("refused")

    def test_schedules(self):
        (self.dir / "p.json").write_text('{"steps": [{"id": "a", "uses": "pawl.send", "with": {"type": "t", "payload": {}}}]}')
        self.ok("task", "create", "mail", "--pipeline", str(self.dir / "p.json"), "--every", "1h")
        self.sql("UPDATE pawl_internal.schedule SET next_ms = 1000")
        self.assertEqual(list(self.finds("schedules_late")), ["schedules_late"])
        self.quiet("task", "pause", "mail")
        self.finds("schedules_paused")

    def test_perspectives(self):
        (self.dir / "orders.yaml").write_text("name: orders\nversion: 1\non: [order.created]\nexec: /bin/true\n")
        self.ok("perspective", "set", str(self.dir / "orders.yaml"))
        self.quiet("perspective", "pause", "orders@1")
        self.assertEqual(list(self.finds("perspectives_paused")), ["perspectives_paused"])
        self.quiet("perspective", "resume", "orders@1")
        self.ok("event", "append", "s", "order.created", "{}")
        self.sql("UPDATE pawl_internal.checkpoint SET status = 3")
        if Setup.dialect == "sqlite":  # there the store counts by itself
            self.sql("UPDATE pawl_internal.perspective_tally SET failed = checkpoints, pending = 0, processing = 0, completed = 0")
        self.finds("perspectives_failed")

    def test_wrong_words(self):
        self.refused(64, "doctor", "doctor", "more")


class Sqlite(Doctor):
    @only("sqlite")
    def test_clock(self):
        self.expect("UPDATE pawl_internal.settings SET clock_base_ms = clock_base_ms + 60000", "clock_skew")

    @only("sqlite")
    def test_durability(self):
        self.assertEqual(list(self.finds("synchronous_normal", args=("--durability", "normal"))), ["synchronous_normal"])

    @only("sqlite")
    def test_trigger(self):
        self.expect("CREATE TRIGGER spy AFTER INSERT ON pawl_internal.message BEGIN SELECT 1; END", "trigger_foreign",
                    "DROP TRIGGER spy")

    @only("sqlite")
    def test_rights(self):
        os.chmod(self.url, 0o666)
        self.assertEqual(list(self.finds("file_rights")), ["file_rights"])
        os.chmod(self.url, stat.S_IRUSR | stat.S_IWUSR)
        self.assertEqual(self.doctor(), {})

    @only("sqlite")
    def test_free_pages(self):
        self.sql("CREATE TABLE spare (data BLOB)")
        self.sql("INSERT INTO spare VALUES (zeroblob(40000000))")
        self.sql("DROP TABLE spare")
        self.assertEqual(list(self.finds("free_pages")), ["free_pages"])

    @only("sqlite")
    def test_damage(self):
        database = sqlite3.connect(self.url)
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute("UPDATE pawl_settings SET lane_count = 5000")
        database.commit()
        database.close()
        for command in ("check", "doctor"):
            result = self.run_pawl(command)
            self.assertEqual(result.code, EXIT_CODES["damaged"], result)
            self.assertIn("pawl_settings", result.err)

    @only("sqlite")
    def test_log(self):
        database = sqlite3.connect(self.url)
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM pawl_settings").fetchall()
        self.ok("send", "order.created", "{}", "--stream", "s")
        os.truncate(self.url + "-wal", 300 * 1024 * 1024)
        found = self.doctor()
        database.close()
        self.assertIn("log_large", found)


class Postgres(Doctor):
    def guc(self, name, value, check):
        self.sql(f"ALTER DATABASE postgres SET {name} = {value}")
        found = self.finds(check)
        self.sql(f"ALTER DATABASE postgres RESET {name}")
        self.assertNotIn(check, self.doctor())
        return found

    def reload(self, name, value, check):
        for text in (f"ALTER SYSTEM SET {name} = {value}", "SELECT pg_reload_conf()"):
            self.sql_plain(text)
        self.until(lambda: check in self.doctor())
        for text in (f"ALTER SYSTEM RESET {name}", "SELECT pg_reload_conf()"):
            self.sql_plain(text)
        self.until(lambda: check not in self.doctor())

    def until(self, met):
        end = time.monotonic() + SECONDS_MAX
        while not met():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def sql_plain(self, text):
        subprocess.run(["psql", "-q", "-d", self.url, "-c", text], check=True, timeout=SECONDS_MAX,
                       stdout=subprocess.DEVNULL)

    @only("postgres")
    def test_server_settings(self):
        self.reload("fsync", "off", "fsync_off")
        self.reload("full_page_writes", "off", "full_page_writes_off")
        self.reload("autovacuum", "off", "autovacuum_off")

    @only("postgres")
    def test_database_settings(self):
        self.guc("synchronous_commit", "off", "synchronous_commit_off")
        self.guc("zero_damaged_pages", "on", "zero_damaged_pages_on")
        self.guc("default_transaction_read_only", "on", "read_only")
        self.guc("session_replication_role", "replica", "triggers_off")
        self.guc("idle_session_timeout", "'10min'", "idle_session_timeout_set")

    @only("postgres")
    def test_schema(self):
        self.expect("ALTER TABLE pawl_internal.lane SET (autovacuum_enabled = false)", "table_autovacuum_off",
                    "ALTER TABLE pawl_internal.lane RESET (autovacuum_enabled)")
        self.expect("ALTER TABLE pawl_internal.refused SET UNLOGGED", "table_unlogged", "ALTER TABLE pawl_internal.refused SET LOGGED")
        self.expect("GRANT EXECUTE ON FUNCTION now_ms() TO PUBLIC", "grants_public",
                    "REVOKE EXECUTE ON FUNCTION now_ms() FROM PUBLIC")
        self.expect(f"GRANT UPDATE ON pawl_internal.lane TO {self.schema}_worker", "grants_write",
                    f"REVOKE UPDATE ON pawl_internal.lane FROM {self.schema}_worker")
        revoke = (f"SELECT 'REVOKE EXECUTE ON FUNCTION ' || p.oid::regprocedure || ' FROM {self.schema}_worker' FROM pg_proc p "
                  "WHERE p.proname = 'heartbeat' AND p.pronamespace = '" + self.schema + "_internal'::regnamespace")
        self.expect(f"DO $$ BEGIN EXECUTE ({revoke}); END $$", "grants_missing")
        self.migrate()
        self.sql("UPDATE pg_index SET indisvalid = false WHERE indexrelid = (SELECT indexrelid FROM pg_index "
                 "WHERE indrelid = 'refused'::regclass LIMIT 1)")
        self.finds("index_invalid")
        self.expect("CREATE FUNCTION public.spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; "
                    "CREATE TRIGGER spy AFTER INSERT ON pawl_internal.dedupe FOR EACH ROW EXECUTE FUNCTION public.spy()",
                    "trigger_foreign", alone=False)
        self.sql("DROP FUNCTION public.spy() CASCADE")

    @only("postgres")
    def test_sessions(self):
        self.sql_plain("ALTER DATABASE postgres SET pawl_doctor.transaction_s = 0")
        self.sql_plain("ALTER DATABASE postgres SET pawl_doctor.idle_s = 0")
        self.sql_plain("ALTER DATABASE postgres SET pawl_doctor.lock_s = 0")
        self.addCleanup(self.sql_plain, "ALTER DATABASE postgres RESET ALL")
        self.assertEqual(self.doctor(), {})
        holder = subprocess.Popen(["psql", "-q", "-d", self.url], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        waiter = subprocess.Popen(["psql", "-q", "-d", self.url], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        lock = f'BEGIN; LOCK TABLE "{self.schema}_internal".spine;\n'.encode()
        try:
            holder.stdin.write(lock)
            holder.stdin.flush()
            self.until(lambda: {"long_transaction", "idle_in_transaction"} <= set(self.doctor()))
            waiter.stdin.write(lock)
            waiter.stdin.flush()
            self.until(lambda: "lock_wait" in self.doctor())
        finally:
            for child in (waiter, holder):
                child.stdin.close()
                child.kill()
                child.wait(SECONDS_MAX)
        self.sql_plain("BEGIN; SELECT 1; PREPARE TRANSACTION 'forgotten'")
        self.finds("prepared_transaction")
        self.sql_plain("ROLLBACK PREPARED 'forgotten'")

    @only("postgres")
    def test_why_names_who_has_locked_the_lane(self):
        message = self.run_pawl("send", "t", "-o", "json").json()["id"]
        holder = subprocess.Popen(["psql", "-q", "-d", self.url], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        try:
            holder.stdin.write(f'BEGIN; SELECT 1 FROM "{self.schema}_internal".lane FOR UPDATE;\n'.encode())
            holder.stdin.flush()
            self.until(lambda: self.run_pawl("why", message, "-o", "json").json()["locked"] == "lane")
            why = self.run_pawl("why", message, "-o", "json").json()
        finally:
            holder.stdin.close()
            holder.kill()
            holder.wait(SECONDS_MAX)
        self.assertEqual((why["cause"], why["locked_by"]), ("no owner", "psql"))
        self.assertRegex(why["explanation"], rf"Its lane is locked by an open transaction of process {why['locked_pid']} "
                                             r"\(psql\) since 2.*; no other worker runs it until that ends\.$")
        self.assertIn(f"pg_terminate_backend({why['locked_pid']})", why["next"])
        self.until(lambda: self.run_pawl("why", message, "-o", "json").json()["locked"] is None)

    @only("postgres")
    def test_connections(self):
        clients = [subprocess.Popen(["psql", "-q", "-d", self.url], stdin=subprocess.PIPE) for _ in range(16)]
        try:
            self.until(lambda: "connections_full" in self.doctor())
        finally:
            for client in clients:
                client.stdin.close()
                client.wait(SECONDS_MAX)

    @only("postgres")
    def test_sizes(self):
        for name, check in (("xid_age", "transaction_ids_low"), ("dedupe_rows", "dedupe_large"),
                            ("history_rows", "history_large"), ("dead_rows", "dead_rows")):
            self.sql_plain(f"ALTER DATABASE postgres SET pawl_doctor.{name} = 0")
            if name in ("dedupe_rows", "history_rows"):
                table = name.split("_", 1)[0]
                self.sql_plain(f"UPDATE pg_class SET reltuples = 10 WHERE oid = '\"{self.schema}_internal\".{table}'::regclass")
            if name == "dead_rows":
                self.quiet("pause", "stream", "s")
                self.quiet("resume", "stream", "s")
            self.until(lambda: check in self.doctor())
            self.sql_plain(f"ALTER DATABASE postgres RESET pawl_doctor.{name}")
            self.assertNotIn(check, self.doctor())


if __name__ == "__main__":
    cli_support.start_postgres = start_postgres
    os.environ["PGOPTIONS"] = "-c default_transaction_read_only=off"  # of psql, which seeds and cures; not of pawl
    sys.exit(main(sys.modules[__name__]))
