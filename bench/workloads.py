"""The workloads by name: what is measured, against what, and the ratio to reach first."""
import os
import pathlib
import resource
import statistics
import sys
import types

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "transport"


class Workload:
    def __init__(self, run, what, reps=3):
        self.run, self.what, self.reps = run, what, reps


def ratios(pawl, other):
    """Repetition by repetition: the two of a pair ran one after the other, so the machine's mood is the same."""
    return statistics.median(a / b for a, b in zip(pawl, other))


def row(case, pawl, against, other, unit="/s", target=None, at_most=False):
    """One line of a table. pawl and other are lists, one figure per repetition; other may be empty or a limit."""
    value = statistics.median(pawl)
    result = {"case": case, "unit": unit, "pawl": value, "pawl_all": pawl, "against": against, "other": None,
              "other_all": [], "ratio": None, "target": target, "ok": None, "target_text": ""}
    if other:
        result["other"] = statistics.median(other)
        result["other_all"] = other
        result["ratio"] = ratios(pawl, other)
    if target is not None:
        measured = result["ratio"] if other else value
        result["ok"] = measured <= target if at_most else measured >= target
        result["target_text"] = ("≤ " if at_most else "≥ ") + f"{target:g}" + ("" if other else f" {unit}")
    return result


def pairs(reps, *contestants):
    """Runs the contestants in turn, reps times; returns one list of rates per contestant (None: not there)."""
    found = [[] for _ in contestants]
    for _ in range(reps):
        for rates, contestant in zip(found, contestants):
            result = contestant()
            if result is not None:
                rates.append(result["rate"])
    return [rates if len(rates) == reps else None for rates in found]


def put_one(lab):
    rows = []
    seconds = lab.size(3, 1)
    for connections in (1, 16):
        setting = {"batch": 1, "threads": connections, "seconds": seconds}
        pawl, floor, graphile, boss = pairs(
            lab.reps(),
            lambda: lab.measure("put", lab.postgres(), **setting),
            lambda: lab.measure("put", lab.postgres(), side="floor", **setting),
            lambda: lab.peer("graphile", mode="put-one", connections=connections, duration=seconds),
            lambda: lab.peer("pgboss", mode="put-one", connections=connections, duration=seconds))
        case = f"{connections} connection{'s' if connections > 1 else ''}"
        rows.append(row(case, pawl, "single INSERT", floor, target=0.8))
        rows += [row(case, pawl, name, rates) for name, rates in (("Graphile Worker", graphile), ("pg-boss", boss))
                 if rates]
    return rows


def put_batch(lab):
    setting = {"batch": 1000, "messages": lab.size(200000)}
    pawl, floor, pgq, graphile, boss = pairs(
        lab.reps(),
        lambda: lab.measure("put", lab.postgres(), **setting),
        lambda: lab.measure("put", lab.postgres(), side="floor", **setting),
        lambda: lab.pgq("put", **setting),
        lambda: lab.peer("graphile", mode="put-batch", items=lab.size(50000)),
        lambda: lab.peer("pgboss", mode="put-batch", items=lab.size(50000)))
    case = "1,000 per call"
    rows = [row(case, pawl, "INSERT … unnest", floor, target=0.5)]
    rows += [row(case, pawl, name, rates)
             for name, rates in (("PgQ", pgq), ("Graphile Worker", graphile), ("pg-boss", boss)) if rates]
    return rows


def drain_ordered(lab):
    rows = []
    messages = lab.size(200000)
    for streams in (1000, 100000):
        for instances in (1, 4):
            for batch in (100, 500, 1000):
                setting = {"messages": messages, "streams": streams, "batch": batch, "threads": instances}
                beside_pgq = (streams, instances, batch) == (1000, 1, 1000)
                pawl, floor, pgq = pairs(
                    lab.reps(),
                    lambda: lab.measure("drain", lab.postgres(), **setting),
                    lambda: lab.measure("drain", lab.postgres(), side="floor", **setting),
                    lambda: lab.pgq("drain", **setting) if beside_pgq else None)
                case = f"{streams:,} streams, {instances} instance{'s' if instances > 1 else ''}, batches of {batch:,}"
                rows.append(row(case, pawl, "read + delete by id", floor, target=0.3))
                if pgq:
                    rows.append(row(case, pawl, "PgQ", pgq))
    return rows


def backlog(lab):
    reps = lab.reps()
    most = lab.size(10000000, 100000)
    result = lab.measure("backlog", lab.postgres(), messages=most, batch=100, samples=lab.size(40, 20), reps=reps,
                         streams=100000)
    first = result["levels"][0]["claim_us"]
    rows = []
    for level in result["levels"]:
        last = level is result["levels"][-1]
        rows.append(row(f"claim of 100, {level['waiting']:,} waiting", [us / 1000 for us in level["claim_us"]],
                        "10,000 waiting", [us / 1000 for us in first], unit="ms",
                        target=1.5 if last and len(rows) else None, at_most=True))
    return rows


def scaled(lab, name, values, setting_of, target):
    """The same work at growing values: pawl against itself at the value that comes first."""
    found = {value: [] for value in values}
    for _ in range(lab.reps()):
        for value in values:
            result = lab.measure("drain", lab.postgres(), **setting_of(value))
            found[value].append(result["rate"])
    base = values[0]
    rows = []
    for value in values:
        # How many times slower than the base: the target is a factor of time.
        line = row(f"{value:,} {name}", found[value], f"{base:,} {name}", found[base])
        line["ratio"] = statistics.median(b / a for a, b in zip(found[value], found[base]))
        if value != base:
            line["target"], line["target_text"] = target, f"time ≤ {target:g}×"
            line["ok"] = line["ratio"] <= target
        rows.append(line)
    return rows


def streams(lab):
    # At least as many messages as streams, so that every stream exists.
    values = (1000, 1, 100000, 1000000) if not lab.quick else (1000, 1, 20000)
    return scaled(lab, "streams", values,
                  lambda value: {"streams": value, "batch": 500, "messages": max(lab.size(200000), value)}, 1.5)


def fleet(lab):
    values = (1, 2, 4, 8, 64)
    rows = scaled(lab, "instances", values,
                  lambda value: {"streams": 100000, "batch": 500, "threads": value, "messages": lab.size(200000)}, 2.0)
    for line in rows:
        if not line["case"].startswith("64"):
            line["ok"], line["target_text"] = None, ""
    return rows


def steady(lab):
    seconds = lab.size(60, 6)
    free, held = [], []
    rows = []
    for _ in range(lab.reps(1)):
        free.append(lab.measure("steady", lab.postgres(), seconds=seconds, batch=500))
        held.append(lab.measure("steady", lab.postgres(), seconds=seconds, batch=500, hold=True))
    line = row(f"{seconds} s, transaction held open", [each["rate"] for each in held], "none held",
               [each["rate"] for each in free], target=0.7)
    rows.append(line)
    last = row("its last window", [each["windows"][-1] for each in held], "none held",
               [each["windows"][-1] for each in free])
    rows.append(last)
    line["windows_held"] = [each["windows"] for each in held]
    line["windows_free"] = [each["windows"] for each in free]
    line["table_bytes_held"] = [each["table_bytes"] for each in held]
    line["table_bytes_free"] = [each["table_bytes"] for each in free]
    return rows


def empty(lab):
    rows = []
    for case, side, store in (("batch_process in C, PostgreSQL", "pawl", lab.postgres()),
                              ("pawl.process_work_batch in SQL", "sql", lab.postgres()),
                              ("batch_process in C, SQLite", "pawl", lab.sqlite())):
        try:
            found = [lab.measure("empty", store, side=side, samples=lab.size(1000, 100)) for _ in range(lab.reps())]
        except RuntimeError as problem:
            if "does not exist" not in str(problem):
                raise
            print(f"bench: {case}: not in this schema, left out", file=sys.stderr)
            continue
        rows.append(row(case + ", p50", [each["p50_us"] / 1000 for each in found], "", [], unit="ms", target=1.0,
                        at_most=True))
        rows.append(row(case + ", p99", [each["p99_us"] / 1000 for each in found], "", [], unit="ms"))
    return rows


def embedded(lab):
    rows = []
    for level in ("FULL", "NORMAL"):
        mode = {} if level == "FULL" else {"normal": True}
        store = lab.sqlite()
        setting = {"batch": 1000, "messages": lab.size(200000), **mode}
        pawl, floor, peer = pairs(
            lab.reps(),
            lambda: lab.measure("put", store, **setting),
            lambda: lab.measure("put", store, side="floor", **setting),
            lambda: lab.peer("plainjob", mode="put-batch", items=lab.size(50000), file=store, synchronous=level))
        rows.append(row(f"put, 1,000 per call, {level}", pawl, "SQLite INSERT", floor, target=0.4))
        if peer:
            rows.append(row(f"put, 1,000 per call, {level}", pawl, "plainjob", peer))
        setting["streams"] = 1000
        pawl, floor, peer = pairs(
            lab.reps(),
            lambda: lab.measure("drain", store, **setting),
            lambda: lab.measure("drain", store, side="floor", **setting),
            lambda: lab.peer("plainjob", mode="drain", items=lab.size(10000, 1000), file=store, synchronous=level))
        rows.append(row(f"drain, 1,000 per call, {level}", pawl, "SQLite read + delete", floor, target=0.4))
        if peer:
            rows.append(row(f"drain, 1,000 per call, {level}", pawl, "plainjob", peer, target=20))
    return rows


def worker(lab):
    messages = lab.size(200000)
    setting = {"messages": messages, "streams": 1000, "batch": 1000, "threads": 2, "seconds": 300}
    pawl, graphile, boss, graphile_ordered, boss_ordered = pairs(
        lab.reps(),
        lambda: lab.measure("worker", lab.postgres(), **setting),
        lambda: lab.peer("graphile", mode="drain", items=lab.size(100000), local=2000),
        lambda: lab.peer("pgboss", mode="drain", items=lab.size(100000)),
        lambda: lab.peer("graphile", mode="drain", items=lab.size(100000), queues=1000),
        lambda: lab.peer("pgboss", mode="drain", items=lab.size(100000), queues=1000))
    against = (("Graphile Worker, unordered", graphile, 2), ("pg-boss, unordered", boss, 4),
               ("Graphile Worker, 1,000 named queues", graphile_ordered, 8),
               ("pg-boss, key_strict_fifo, 1,000 keys", boss_ordered, 8))
    rows = [row("no-op, 1,000 streams", pawl, name, rates, target=target) for name, rates, target in against if rates]
    return rows or [row("no-op, 1,000 streams", pawl, "", [])]


def jobs(lab):
    messages = lab.size(200000)
    worker, store, graphile, boss = pairs(
        lab.reps(),
        lambda: lab.measure("jobs-worker", lab.postgres(), messages=messages, batch=1000, threads=2, seconds=120),
        lambda: lab.measure("jobs", lab.postgres(), messages=messages, batch=1000, threads=4),
        lambda: lab.peer("graphile", mode="drain", items=lab.size(100000), local=2000),
        lambda: lab.peer("pgboss", mode="drain", items=lab.size(100000)))
    against = (("Graphile Worker", graphile, 1.5), ("pg-boss", boss, None))
    rows = []
    for case, pawl in (("two whole workers", worker), ("the store's calls, 4 instances", store)):
        found = [row(case, pawl, name, rates, target=target) for name, rates, target in against if rates]
        rows += found or [row(case, pawl, "", [])]
    return rows


def append(lab):
    rows = []
    seconds = lab.size(2, 1)
    for writers in (1, 8):
        for batch in (1, 10, 100):
            setting = {"batch": batch, "threads": writers, "seconds": seconds, "streams": 1000}
            beside = {"connections": writers, "batch": batch, "duration": seconds, "streams": 1000}
            pawl, floor, message_db, emmett = pairs(
                lab.reps(1),
                lambda: lab.measure("append", lab.postgres(), **setting),
                lambda: lab.measure("append", lab.postgres(), side="floor", **setting),
                lambda: lab.peer("messagedb", **beside),
                lambda: lab.peer("emmett", **beside))
            case = f"{writers} writer{'s' if writers > 1 else ''}, {batch} per append"
            rows.append(row(case, pawl, "INSERT", floor, target=0.4))
            rows += [row(case, pawl, name, rates) for name, rates in (("Message DB", message_db), ("Emmett", emmett)) if rates]
    for batch in (1, 10, 100):
        setting = {"batch": batch, "seconds": seconds, "streams": 1000}
        pawl, floor = pairs(lab.reps(1), lambda: lab.measure("append", lab.sqlite(), **setting),
                            lambda: lab.measure("append", lab.sqlite(), side="floor", **setting))
        rows.append(row(f"SQLite, 1 writer, {batch} per append", pawl, "SQLite INSERT", floor, target=0.4))
    return rows


def project(lab):
    rows = []
    events = lab.size(200000)
    for streams in (1, 1000, 100000 if not lab.quick else 10000):
        for name, store in (("PostgreSQL", lab.postgres()), ("SQLite", lab.sqlite())):
            setting = {"messages": events, "streams": streams, "batch": 1000, "threads": 2, "seconds": 120}
            floors = {"floor": "read + upsert by hand"}
            if name == "PostgreSQL":
                floors["checkpoints"] = "the same with a checkpoint per stream"
            pawl, *found = pairs(lab.reps(1), lambda: lab.measure("project", store, **setting),
                                 *(lambda side=side: lab.measure("project", store, side=side, **setting) for side in floors))
            for (side, words), floor in zip(floors.items(), found):
                rows.append(row(f"{name}, {streams:,} stream{'s' if streams > 1 else ''}", pawl, words, floor,
                                target=0.4 if side == "floor" else None))
    return rows


def runs(lab):
    rows = []
    items = lab.size(1000000)
    for page in (30, 1000):
        found = pairs(
            lab.reps(),
            lambda: lab.measure("runs", lab.postgres(), side="floor", messages=items, batch=page),
            lambda: lab.measure("runs", lab.postgres(), messages=items, batch=page, threads=1),
            lambda: lab.measure("runs", lab.postgres(), messages=items, batch=page, threads=4))
        for workers, rates in zip((1, 4), found[1:]):
            rows.append(row(f"pages of {page:,}, {workers} worker{'s' if workers > 1 else ''}", rates,
                            "the same upserts, no coordination", found[0]))
    return rows


def latency(lab):
    count = lab.size(500, 100)
    reps = lab.reps()
    pawl, floor, durable, graphile, boss = [], [], [], [], []
    for _ in range(reps):
        pawl.append(lab.measure("latency", lab.postgres(), samples=count, threads=4))
        floor.append(lab.measure("notify", lab.postgres(), samples=count))
        durable.append(lab.measure("notify", lab.postgres(), samples=count, side="row"))
        graphile.append(lab.peer("graphile", mode="latency", items=count))
        boss.append(lab.peer("pgboss", mode="latency", items=count))
    rows = []
    for name, target in (("p50", 3), ("p99", None)):
        mine = [each[f"{name}_us"] / 1000 for each in pawl]
        line = row(f"100/s, {name}", mine, "NOTIFY round trip", [each[f"{name}_us"] / 1000 for each in floor], unit="ms",
                   target=target, at_most=True)
        if name == "p99":
            # 10 ms where the floor allows: a floor that takes 5 ms by itself does not.
            allowed = max(10.0, 2 * line["other"])
            line["target"], line["target_text"], line["ok"] = allowed, f"≤ {allowed:.1f} ms", line["pawl"] <= allowed
        rows.append(line)
        rows.append(row(f"100/s, {name}", mine, "the same with a row written each way",
                        [each[f"{name}_us"] / 1000 for each in durable], unit="ms"))
        for peer, found in (("Graphile Worker", graphile), ("pg-boss with NOTIFY", boss)):
            if all(found):
                rows.append(row(f"100/s, {name}", mine, peer, [each[f"{name}_ms"] for each in found], unit="ms"))
    return rows


def idle(lab):
    rows = []
    for store_name, store in (("PostgreSQL", lab.postgres(quiet=True)), ("SQLite", lab.sqlite())):
        span = 120 if store_name == "PostgreSQL" else 60  # what happens seldom happens every two minutes
        found = [lab.measure("idle", store, seconds=lab.size(span, 5), threads=4) for _ in range(lab.reps(1))]
        if store_name == "PostgreSQL":
            rows.append(row("PostgreSQL, transactions per minute", [each["transactions_per_minute"] for each in found], "", [],
                            unit="/min", target=12, at_most=True))
        rows.append(row(f"{store_name}, CPU seconds per hour", [each["cpu_seconds_per_hour"] for each in found], "", [],
                        unit="s/h", target=5, at_most=True))
        rows.append(row(f"{store_name}, resident memory", [each["resident_mib"] for each in found], "", [], unit="MiB",
                        target=16, at_most=True))
    return rows


HEARTBEAT_S = 5  # how often a worker passes on what it has counted
STEP_S = 10  # of the history: the first call of a step inserts and looks, the later ones add


def cpu_seconds(lab):
    """What the measured programs have used that have ended, and the server with its connections that have."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    server = pathlib.Path(f"/proc/{lab.server['pid']}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
    return used.ru_utime + used.ru_stime + sum(map(int, server[11:15])) / os.sysconf("SC_CLK_TCK")


def history(lab):
    """The share of the history in the CPU time of messages that are put and handled: counting each, and passing the counts on."""
    rows = []
    load = {"messages": lab.size(200000), "streams": 1000, "batch": 1000, "threads": 2, "seconds": 300}
    lab.postgres()
    for store_name, store in (("PostgreSQL", lab.postgres()), ("SQLite", lab.sqlite())):
        shares, calls = [], []
        for _ in range(lab.reps(1)):
            before = cpu_seconds(lab)
            lab.measure("worker", store, **load)
            ns = (cpu_seconds(lab) - before) * 1e9 / load["messages"]
            cost = lab.measure("history", store, seconds=lab.size(60, 15))
            more_us = cost["first_us"] - cost["without_us"] + (STEP_S / HEARTBEAT_S - 1) * (cost["later_us"] - cost["without_us"])
            calls.append(more_us / STEP_S / 1e4)
            shares.append(100 * cost["counting_ns"] / ns + calls[-1])
        rows.append(row(f"{store_name}, the calls, of the time of a core", calls, "", [], unit="%"))
        rows.append(row(f"{store_name}, with counting, of a worker that does all it can", shares, "", [], unit="%", target=1, at_most=True))
    return rows


def embedded_worker(lab):
    rows = []
    for level in ("FULL", "NORMAL"):
        mode = {} if level == "FULL" else {"normal": True}
        pawl, peer = pairs(
            lab.reps(),
            lambda: lab.measure("worker", lab.sqlite(), messages=lab.size(200000), streams=1000, batch=1000, threads=2,
                                seconds=300, **mode),
            lambda: lab.peer("plainjob", mode="drain", items=lab.size(10000, 1000), file=lab.sqlite(), synchronous=level))
        rows.append(row(f"no-op, 1,000 streams, {level}", pawl, "plainjob" if peer else "", peer or [],
                        target=20 if peer else None))
    return rows


def broker_of(lab, name):
    """A broker as the tests start it; not started yet. Then what a floor needs to find it, and where to publish."""
    sys.path.insert(0, str(TESTS))
    import publish_soak  # pylint: disable=import-outside-toplevel,import-error
    args = types.SimpleNamespace(name=name, kafka_mock=str(lab.program.parents[1] / "tests" / "transport" / "kafka_mock"))
    broker, url, to, _ = publish_soak.open_broker(name, args)

    def ready():
        publish_soak.prepare(args, broker)
        if name == "kafka":
            host, port = broker.bootstrap.split(",")[0].split(":")
            return url(), to, [host, port, to]
        return url(), to, ["127.0.0.1", str(broker.port), broker.path("soak.jsonl") if name == "file" else to]
    return broker, ready


def transports(lab):
    """The outbox through a broker, against the broker's own client library with the same events and no database."""
    rows = []
    messages = lab.size(10000)
    for name, library in (("redis", "hiredis"), ("nats", "libnats"), ("amqp", "librabbitmq"), ("amqp1", "qpid-proton"),
                          ("kafka", "librdkafka"), ("file", "write + fdatasync")):
        broker, ready = broker_of(lab, name)
        with broker:
            url, to, where = ready()
            with open(broker.path("bench.ini"), "w", encoding="utf-8") as file:
                file.write(f"[transport broker]\nurl = {url}\n[route *]\ntransport = broker\nto = {to}\n")
            setting = {"messages": messages, "streams": 1000, "batch": 1000, "threads": 4, "seconds": 100}
            pawl, alone, no_op = pairs(
                lab.reps(),
                lambda: lab.measure("worker", lab.postgres(), transports=file.name, **setting),
                lambda: lab.call([str(lab.program.parent / f"floor-{name}"), *where, str(messages), "1000"], lab.directory, None),
                lambda: lab.measure("worker", lab.postgres(), **setting))
        rows += [row(name, pawl, library, alone), row(name, pawl, "no-op handler", no_op)]
    return rows


WORKLOADS = {
    "put-one": Workload(put_one, "One message per transaction."),
    "put-batch": Workload(put_batch, "1,000 messages per call."),
    "drain-ordered": Workload(drain_ordered, "200,000 messages through the store API, completion fused with the next "
                                             "claim."),
    "backlog": Workload(backlog, "What a claim costs while more and more waits (filled through the put, 5,000 per call)."),
    "streams": Workload(streams, "The drain over few and many streams; the ratio is time against 1,000 streams."),
    "fleet": Workload(fleet, "The same work shared by more registered instances; the ratio is time against one."),
    "steady": Workload(steady, "One producer and one consumer, batches of 500, autovacuum on.", reps=1),
    "empty": Workload(empty, "A call that finds nothing to do."),
    "worker": Workload(worker, "200,000 no-op messages through the whole worker, C handler, two at once; the peers drain 100,000 "
                               "no-op jobs."),
    "jobs": Workload(jobs, "200,000 pooled no-op jobs, completion fused with the next claim: through two whole workers with a C handler, and "
                           "through the store API alone. The peers drain 100,000; Graphile Worker has two worker processes."),
    "append": Workload(append, "Events appended to 1,000 streams. The peers are one Node.js process with as many connections.", reps=1),
    "project": Workload(project, "A read model of 200,000 events by the whole worker, SQL perspective, batches of 1,000; by hand: "
                                 "pages of 1,000 events by position.", reps=1),
    "runs": Workload(runs, "1,000,000 items into run_item through the pages of one run with 32 partitions; the floor is one process."),
    "latency": Workload(latency, "From before the put until the handler runs, 100 per second."),
    "idle": Workload(idle, "A worker that has nothing to do.", reps=1),
    "history": Workload(history, "What the history costs a worker: twelve handlers and four queues counted, passed on with every heartbeat.", reps=1),
    "transports": Workload(transports, "10,000 outbox messages of 1,000 streams published and confirmed, against the broker's own client "
                                       "library that publishes the same events, 500 unconfirmed, with no database and no order "
                                       "kept after a failure, and against the same worker with a handler that "
                                       "does nothing, which is the most that the store lets through. Kafka is librdkafka's mock, whose answers wait 40 ms for each other "
                                       "(docs/transports.md, Real and fake)."),
    "embedded": Workload(embedded, "SQLite, 1,000 streams."),
    "embedded-worker": Workload(embedded_worker, "200,000 no-op messages through the whole worker on SQLite."),
}
