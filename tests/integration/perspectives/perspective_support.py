"""Support for tests of perspectives: the example's tables, events, workers, and the models folded from scratch."""
import json
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from cli_support import CliTest, Setup, SECONDS_MAX, main  # noqa: E402 (found by the line above)


RESUMED_MAX = 3


class PerspectiveCase(CliTest):
    """A database with the example's tables, and workers that end with the test."""

    def setUp(self):
        super().setUp()
        self.env["PGOPTIONS"] = f"-c search_path={self.schema}"
        self.migrate()
        self.example = Setup.root / "examples" / "perspectives"
        self.workers = []
        self.stopped = []
        self.resumed = []
        self.addCleanup(self.end_workers)

    @staticmethod
    def dialect():
        return Setup.dialect

    def tables(self):
        for name in ("order_total", "stock", "event_count", "order_total_2"):
            self.sql(f"DROP TABLE IF EXISTS {name}")
        for statement in (self.example / "tables.sql").read_text().split(";"):
            if "CREATE" in statement:
                self.sql(statement[statement.index("CREATE"):])

    def rows(self, query):
        """Rows as tuples of texts."""
        if Setup.dialect == "sqlite":
            import sqlite3
            connection = sqlite3.connect(self.url, timeout=30)
            try:
                return sorted(tuple(str(cell) for cell in row) for row in connection.execute(query))
            finally:
                connection.close()
        done = subprocess.run(["psql", "-qAtX", "-F", "|", "-d", self.url, "-c", query], check=True,
                              env=self.env, stdout=subprocess.PIPE, timeout=SECONDS_MAX)
        return sorted(tuple(line.split("|")) for line in done.stdout.decode().splitlines())

    def end_workers(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGCONT)
                worker.kill()
            worker.wait(timeout=SECONDS_MAX)

    def start_worker(self, *args):
        worker = subprocess.Popen([Setup.pawl, "worker", "--kinds", "perspectives", "--poll", "50ms", *args],
                                  env=self.env, cwd=self.dir, stdout=subprocess.DEVNULL,
                                  stderr=open(self.dir / "worker.log", "ab"))
        self.workers.append(worker)
        return worker

    def resume(self):
        """The worker that was stopped first goes on. Others have replaced it: of those that went on before, the oldest ends,
        so that 30 stops are not 30 more workers, whose connections are more than the server has."""
        self.resumed.append(self.stopped.pop(0))
        self.resumed[-1].send_signal(signal.SIGCONT)
        if len(self.resumed) > RESUMED_MAX:
            self.resumed.pop(0).terminate()

    def work(self, *args):
        """Everything that can be done now is done."""
        result = self.run_pawl("worker", "--kinds", "perspectives", "--poll", "50ms", "--until-idle", *args)
        self.assertEqual(result.code, 0, result)
        return result.err

    def define(self, name, **keys):
        path = self.dir / f"{name}-{keys.get('version', 1)}.json"
        path.write_text(json.dumps({"name": name, **keys}))
        return str(path)

    def append(self, stream, *events):
        lines = "\n".join(json.dumps({"type": kind, "payload": payload}) for kind, payload in events)
        for _ in range(30):
            result = self.run_pawl("event", "append", stream, "--statement-timeout", "5s", "--ndjson", "-",
                                   stdin=lines)
            if result.code != 75:
                break
            while self.stopped:  # one of them may hold SQLite's only write lock
                self.resume()
        self.assertEqual(result.code, 0, result)
        return result.json()

    def all_events(self):
        events, last = [], 0
        while True:
            page = self.ok("event", "list", "--from", str(last + 1), "--limit", "5000")
            if not page:
                return events
            events += page
            last = page[-1]["position"]

    def fold(self):
        """The three models from scratch."""
        totals, stock, counts = {}, {}, {}
        for event in self.all_events():
            kind, payload = event["type"], event["payload"]
            counts[kind] = counts.get(kind, 0) + 1
            if kind.startswith("order."):
                version, amount = totals.get(event["stream"], (0, 0))
                totals[event["stream"]] = (event["version"], amount + payload.get("amount", 0))
            if "sku" in payload and (kind == "order.placed" or kind.startswith("stock.")):
                stock[payload["sku"]] = stock.get(payload["sku"], 0) + payload["delta"]
        return (sorted((s, str(v), str(a)) for s, (v, a) in totals.items()),
                sorted((s, str(q)) for s, q in stock.items()), sorted((t, str(c)) for t, c in counts.items()))

    def models(self):
        return (self.rows("SELECT stream, version, amount FROM order_total"),
                self.rows("SELECT sku, quantity FROM stock"), self.rows("SELECT type, count FROM event_count"))

    def wait_caught_up(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rows = [row for row in self.ok("perspective", "list") if row["state"] in ("live", "filling")]
            if all(row["lag_events"] == 0 and row["processing"] == 0 for row in rows):
                return
            time.sleep(0.1)
        self.fail(f"not caught up: {rows}\n{(self.dir / 'worker.log').read_text()[-3000:]}")
