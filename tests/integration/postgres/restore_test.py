#!/usr/bin/env python3
"""A database with messages in every state is dumped and restored into another cluster, which counts other transactions: nothing
is lost, nothing that ended runs again, every stream keeps its order. Prints TAP; 77 without PostgreSQL.

Usage: restore_test.py PAWL
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[3] / "tools" / "pg-throwaway"
OLD, NEW = ("01900000-0000-7000-8000-aa000000000%d" % n for n in (1, 2))
STREAMS, BEFORE, LATER, ABROAD = 10, 300, 60, 40


def start():
    done = subprocess.run([sys.executable, TOOL, "start", "--owner-pid", str(os.getpid())], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        print(done.stderr)
        sys.exit(77)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


class Cluster:
    def __init__(self):
        self.info = start()
        self.url = self.info["url"]

    def run(self, program, *args):
        return subprocess.run([f"{self.info['bindir']}/{program}", *args], capture_output=True, text=True, check=False)

    def sql(self, text, fails=False):
        done = self.run("psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", self.url, "-c", text)
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout.split("\n")[:-1]

    def register(self, instance):
        self.sql(f"SELECT pawl_internal.instance_register('{instance}', 's', 'h', 1, NULL, 2, 3600000, 0, 0)")

    def send(self, first, count):
        self.sql(f"SELECT count(pawl.send('t', json_build_object('n', g), 's' || g % {STREAMS})) FROM generate_series({first}, {first + count - 1}) g")

    def claim(self, instance, most):
        rows = self.sql(f"SELECT c.token, c.id, c.payload ->> 'n', c.stream FROM pawl_internal.claim('{instance}', 1::smallint, {most}, "
                        "300000, 0::smallint, 0, NULL) c")
        return [row.split("|") for row in rows]

    def complete(self, instance, grant):
        tokens, ids = (",".join(f"'{row[n]}'" for row in grant) for n in (0, 1))
        answers = self.sql(f"SELECT pawl_internal.complete('{instance}', 1::smallint, ARRAY[{tokens}]::bigint[], ARRAY[{ids}]::uuid[], "
                           f"array_fill(2, ARRAY[{len(grant)}]), false)")[0]
        assert set(answers.strip("{}").split(",")) == {"1"}, answers
        return [int(row[2]) for row in grant]


def restored(pawl):
    home, abroad = Cluster(), Cluster()
    home.sql("DO $$ BEGIN FOR i IN 1 .. 3000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
    environment = dict(os.environ, DATABASE_URL=home.url)
    subprocess.run([pawl, "migrate"], env=environment, check=True, stdout=subprocess.DEVNULL)
    home.register(OLD)
    home.send(1, BEFORE)
    done = home.complete(OLD, home.claim(OLD, 120))
    in_flight = home.claim(OLD, 50)
    assert in_flight
    home.send(BEFORE + 1, LATER)

    with tempfile.TemporaryDirectory() as folder:
        roles = home.run("pg_dumpall", "-d", home.url, "--roles-only").stdout
        (pathlib.Path(folder) / "roles.sql").write_text(roles)
        abroad.run("psql", "-qX", "-d", abroad.url, "-f", f"{folder}/roles.sql")
        dumped = home.run("pg_dump", "-Fc", "-d", home.url, "-f", f"{folder}/dump")
        assert dumped.returncode == 0, dumped.stderr
        back = abroad.run("pg_restore", "-d", abroad.url, f"{folder}/dump")
        assert back.returncode == 0, back.stderr

    # The worker of before goes on, or so it thinks: what it would read is not decided by ids of the other cluster.
    abroad.send(BEFORE + LATER + 1, ABROAD)
    assert "raise the epoch" in abroad.sql(f"SELECT pawl_internal.claim('{OLD}', 1::smallint, 10, 300000, 0::smallint, 0, NULL)", fails=True)
    abroad.register(NEW)  # it finds another cluster, and raises the epoch
    assert abroad.sql("SELECT epoch, epoch_cause FROM pawl_internal.settings") == ["2|3"]
    done += abroad.complete(OLD, in_flight)  # what was granted before is still its
    abroad.sql(f"SELECT pawl_internal.instance_evict('{OLD}')")
    abroad.sql(f"SELECT pawl_internal.heartbeat('{NEW}')")
    streams = {}
    while True:
        grant = abroad.claim(NEW, 30)
        if not grant:
            break
        for _, _, n, stream in grant:
            assert streams.get(stream, 0) < int(n), (stream, streams.get(stream), n)
            streams[stream] = int(n)
        done += abroad.complete(NEW, grant)
    assert len(done) == len(set(done)), "a message ended twice"
    assert sorted(done) == list(range(1, BEFORE + LATER + ABROAD + 1)), "a message was lost"
    checked = subprocess.run([pawl, "check"], env=dict(os.environ, DATABASE_URL=abroad.url), capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    return json.dumps({"messages": len(done), "in_flight": len(in_flight)})


if __name__ == "__main__":
    print("1..1")
    print(f"# {restored(sys.argv[1])}")
    print("ok 1 - a_dump_restored_into_another_cluster_loses_and_doubles_nothing")
