#!/usr/bin/env python3
"""Publishing while workers and the broker are killed, judged by a reader of the broker that is not ours.

Usage: publish_soak.py NAME PAWL_PROGRAM [--kafka-mock PROGRAM] [--messages N] [--streams N] [--kills N] [--restarts N]
       [--workers N] [--rate N] [--database URL]

Nothing may be lost; the first occurrences of a stream's messages must be in order; what comes twice has the same id.
Prints TAP. covers: M51 M52 M53 W29
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import brokers

DRAIN_SECONDS_MAX = 150
DEBIAN_PACKAGES = "/usr/lib/python3/dist-packages"


def read_redis(broker, _args):
    rows = json.loads(broker.cli("--json", "XRANGE", "soak", "-", "+"))
    return [json.loads(fields[fields.index("event") + 1]) for _, fields in rows]


def read_nats(broker, args):
    """JetStream's own interface over a plain socket: message by message, by sequence number."""
    import base64
    import socket
    events = []
    with socket.create_connection(("127.0.0.1", broker.port), 5) as connection:
        connection.settimeout(30)
        file = connection.makefile("rwb")
        file.readline()
        file.write(b'CONNECT {"verbose":false,"headers":true}\r\nSUB inbox.read.* 1\r\n')
        number = 1
        while True:
            body = b'{"seq":%d}' % number
            file.write(b"PUB $JS.API.STREAM.MSG.GET.SOAK inbox.read.%d %d\r\n%s\r\n" % (number, len(body), body))
            file.flush()
            line = file.readline()
            while not line.startswith(b"MSG"):
                if line.startswith(b"PING"):
                    file.write(b"PONG\r\n")
                    file.flush()
                line = file.readline()
            size = int(line.split()[-1])
            answer = json.loads(file.read(size + 2))
            if "error" in answer:
                return events
            headers = base64.b64decode(answer["message"]["hdrs"]).decode().split("\r\n")
            fields = dict(header.split(": ", 1) if ": " in header else header.split(":", 1) for header in headers if ":" in header)
            events.append({"id": fields["ce-id"].strip(), "partitionkey": fields["ce-partitionkey"].strip(),
                           "data": json.loads(base64.b64decode(answer["message"]["data"]))})
            number += 1


def pika_channel(broker):
    if DEBIAN_PACKAGES not in sys.path:
        sys.path.append(DEBIAN_PACKAGES)  # for a Python that is not Debian's own
    try:
        import pika
    except ImportError as problem:
        raise brokers.Missing("python3-pika is not installed (package python3-pika)") from problem
    deadline = time.monotonic() + 60
    while True:
        try:
            connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.port))
            return connection.channel()
        except pika.exceptions.AMQPError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)


def read_amqp(broker, _args):
    channel, events = pika_channel(broker), []
    for method, properties, body in channel.consume("soak", inactivity_timeout=1):
        if method is None:
            return events
        data = json.loads(body)  # what came by AMQP 1.0 has its attributes elsewhere, and the data as body
        events.append({"id": properties.message_id, "data": data["data"] if "specversion" in data else data})
    return events


def kcat_rows(broker, *words):
    kcat = brokers.need("kcat", "kcat")
    done = subprocess.run([kcat, "-C", "-q", "-e", "-b", broker.bootstrap, "-t", "soak", "-o", "beginning", "-J", *words],
                          capture_output=True, text=True, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def read_kafka_old(broker, _args):
    return [json.loads(row["payload"]) for row in
            kcat_rows(broker, "-X", "api.version.request=false", "-X", "broker.version.fallback=0.9.0.1")]


def read_loopback(broker, _args):
    """The rows of the other inbox, by psql."""
    rows = broker.query("SELECT json_build_object('id', id, 'data', payload) FROM peer_internal.message_all WHERE kind = 2 ORDER BY seq")
    if rows.returncode != 0:
        raise RuntimeError("psql: " + rows.stderr)
    return [json.loads(line) for line in rows.stdout.splitlines()]


def read_kafka(broker, _args):
    events = []
    for row in kcat_rows(broker):
        headers = dict(zip(row["headers"][::2], row["headers"][1::2]))
        events.append({"id": headers["ce_id"], "partitionkey": headers["ce_partitionkey"],
                       "data": json.loads(row["payload"])})
    return events


def read_file(broker, _args):
    with open(broker.path("soak.jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def awaits_term(worker):
    """Whether the process got as far as taking SIGTERM as a request to stop; before that it ends it, as any program."""
    with open(f"/proc/{worker.pid}/status", encoding="ascii") as lines:
        taken = [int(line.split()[1], 16) for line in lines if line.startswith(("SigCgt:", "SigBlk:"))]
    return any(each >> (signal.SIGTERM - 1) & 1 for each in taken)


class NoBroker(brokers.Broker):
    """A directory: it cannot be killed."""

    def start(self):
        pass

    def crash(self):
        pass


def open_broker(name, args):
    """The broker, its address, where to publish, and the reader."""
    if name == "redis":
        broker = brokers.Redis()
        return broker, lambda: broker.url, "soak", read_redis
    if name == "nats":
        broker = brokers.Nats()
        return broker, lambda: broker.url, "soak", read_nats
    if name in ("amqp", "amqp1"):
        broker = brokers.Rabbit()
        if name == "amqp":
            return broker, lambda: broker.url, "soak", read_amqp
        return broker, lambda: f"amqp1://guest:guest@127.0.0.1:{broker.port}", "/amq/queue/soak", read_amqp
    if name == "kafka":
        broker = brokers.Kafka(args.kafka_mock)
        return broker, lambda: broker.url, "soak", read_kafka
    if name == "kafka_old":
        broker = brokers.OldKafka()
        return broker, lambda: broker.url, "soak", read_kafka_old
    if name == "service_bus":
        broker = brokers.FakeServiceBus()
        return broker, lambda: broker.url, "soak", None
    if name == "loopback":
        broker = brokers.Database()
        return broker, lambda: broker.url, "soak", read_loopback
    broker = NoBroker()
    return broker, lambda: "file:" + broker.path("soak.jsonl"), "soak", read_file


def prepare(args, broker):
    name = args.name
    if name == "loopback":
        args.database = broker.server["url"]
        subprocess.run([args.pawl, "migrate"], env=dict(os.environ, DATABASE_URL=args.database, PAWL_SCHEMA="peer"), check=True,
                       capture_output=True)
    elif name == "nats":
        import transport_test
        transport_test.add_stream(broker, "SOAK", "soak")
    elif name in ("amqp", "amqp1"):
        pika_channel(broker).queue_declare("soak", durable=True)
    elif name == "kafka":
        broker.say("topic soak 8")


class Soak:
    def __init__(self, args, directory, broker, url, to):
        self.args, self.directory, self.broker = args, directory, broker
        self.random = random.Random(args.seed)
        self.env = dict(os.environ, DATABASE_URL=args.database or os.path.join(directory, "soak.db"))
        if args.database:
            self.env["PAWL_SCHEMA"] = "soak" + str(os.getpid())
        self.settings = os.path.join(directory, "transports.ini")
        self.workers = []
        with open(self.settings, "w", encoding="utf-8") as file:
            file.write(f"[transport broker]\nurl = {url}\nconnect-timeout = 3s\nconfirm-timeout = 5s\n{broker.settings}"
                       f"[route order.*]\ntransport = broker\nto = {to}\n" + (f"rate = {args.rate}\n" if args.rate else ""))
        self.errors = open(os.path.join(directory, "stderr"), "w+", encoding="utf-8")

    def pawl(self, *words, **kwargs):
        return subprocess.run([self.args.pawl, *words], env=self.env, capture_output=True, text=True, check=False, **kwargs)

    def send(self):
        per_stream = self.args.messages // self.args.streams
        lines = "".join(json.dumps({"type": "order.created", "stream": f"s{s}", "payload": {"n": n, "s": f"s{s}"}}) + "\n"
                        for n in range(per_stream) for s in range(self.args.streams))
        done = self.pawl("send", "--ndjson", "-", input=lines)
        if done.returncode != 0:
            raise RuntimeError("send: " + done.stderr)
        return per_stream

    def start_worker(self):
        self.workers.append(subprocess.Popen(
            [self.args.pawl, "worker", "--transports", self.settings, "--lease", "3s", "--instance-lease", "2s",
             "--heartbeat", "400ms", "--poll", "100ms", "--concurrency", "4", "--kinds", "outbox"], env=self.env,
            stderr=self.errors, preexec_fn=brokers.die_with_parent))

    def left(self):
        done = self.pawl("status", "-o", "json")
        if done.returncode != 0:
            return None
        return next(kind for kind in json.loads(done.stdout)["kinds"] if kind["kind"] == "outbox")

    def fault(self, kind):
        if kind == "kill":
            victim = self.random.choice(self.workers)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            self.workers.remove(victim)
            self.start_worker()
        else:
            self.broker.crash()

    def run(self):
        for _ in range(self.args.workers):
            self.start_worker()
        faults = ["kill"] * self.args.kills + ["broker"] * self.args.restarts
        self.random.shuffle(faults)
        for kind in faults:
            time.sleep(self.random.uniform(0.05, self.args.pace))
            self.fault(kind)
        deadline = time.monotonic() + DRAIN_SECONDS_MAX
        while time.monotonic() < deadline:
            left = self.left()
            if left and left["ready"] + left["leased"] + left["aside"] == 0:
                return left
            time.sleep(0.2)
        raise RuntimeError(f"not drained within {DRAIN_SECONDS_MAX} s: {self.left()}\n{self.last_lines()}")

    def last_lines(self):
        with open(self.errors.name, encoding="utf-8", errors="replace") as text:
            return "# " + "# ".join(text.readlines()[-30:])

    def stop(self):
        deadline = time.monotonic() + DRAIN_SECONDS_MAX
        for worker in self.workers:
            while worker.poll() is None and not awaits_term(worker) and time.monotonic() < deadline:
                time.sleep(0.01)
            worker.terminate()
        codes = [worker.wait(40) for worker in self.workers]
        self.workers = []
        return codes

    def close(self):
        for worker in self.workers:
            worker.kill()
            worker.wait()
        if self.args.database and self.args.name != "loopback":
            subprocess.run(["psql", "-q", "-d", self.args.database, "-c", "SET client_min_messages = error; "
                            f'DROP SCHEMA IF EXISTS "{self.env["PAWL_SCHEMA"]}", "{self.env["PAWL_SCHEMA"]}_internal" CASCADE'], check=False)
        self.errors.close()


def judge(events, streams, per_stream):
    """(violations, duplicates): first occurrences in order and complete, repeats with the same id."""
    violations, seen, ids, duplicates = [], {}, {}, 0
    for event in events:
        stream, number = event["data"]["s"], event["data"]["n"]
        known = ids.setdefault((stream, number), event["id"])
        if known != event["id"]:
            violations.append(f"{stream} {number} has two ids")
        expected = seen.get(stream, 0)
        if number < expected:
            duplicates += 1
        elif number == expected:
            seen[stream] = number + 1
        else:
            violations.append(f"{stream}: {number} came before {expected}")
            seen[stream] = number + 1
    for stream in range(streams):
        if seen.get(f"s{stream}", 0) != per_stream:
            violations.append(f"lost: s{stream} ends at {seen.get(f's{stream}', 0)} of {per_stream}")
    return violations, duplicates


def soak(args):
    directory = tempfile.mkdtemp(prefix="pawl-publish-")
    broker, url, to, reader = open_broker(args.name, args)
    test = None
    try:
        with broker:
            prepare(args, broker)
            test = Soak(args, directory, broker, url(), to)
            if test.pawl("migrate").returncode != 0:
                raise RuntimeError("migrate failed")
            per_stream = test.send()
            began = time.monotonic()
            left = test.run()
            seconds = time.monotonic() - began
            codes = test.stop()
            events = reader(broker, args)
            violations, duplicates = judge(events, args.streams, per_stream)
            total = per_stream * args.streams
            if left["done"] != total or left["dead"]:
                violations.append(f"done {left['done']}, dead {left['dead']} of {total}")
            if any(codes):
                violations.append(f"exit codes {codes}")
            if test.pawl("check").returncode != 0:
                violations.append("pawl check found something")
            print(f"# {args.name}: {total} messages, {args.streams} streams, {args.workers} workers, {args.kills} workers killed, "
                  f"broker killed and restarted {args.restarts} times, in {seconds:.1f} s: read back {len(events)}, "
                  f"lost {total - len(events) + duplicates}, out of order {sum('came before' in v for v in violations)}, "
                  f"duplicates {duplicates} (all with the id of the first)")
            print("figures: " + json.dumps({"messages_published": total, f"kills_{'postgres' if args.database else 'sqlite'}": args.kills,
                                            "broker_crashes": args.restarts, "duplicates_filtered": duplicates, "violations": len(violations)}))
            for violation in violations[:20]:
                print("# " + violation)
            if violations:
                print(test.last_lines())
            return not violations
    finally:
        if test:
            test.close()
        shutil.rmtree(directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("name")
    parser.add_argument("pawl")
    parser.add_argument("--kafka-mock", default="")
    parser.add_argument("--messages", type=int, default=10000)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--restarts", type=int, default=1)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--rate", type=int, default=500, help="messages per second and worker, so that it lasts")
    parser.add_argument("--pace", type=float, default=0.6)
    parser.add_argument("--database", default="")
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    if args.seed is None:
        args.seed = int.from_bytes(os.urandom(4), "little")
    args.pawl = os.path.abspath(args.pawl)
    print("1..1", flush=True)
    try:
        good = soak(args)
    except brokers.Missing as problem:
        print(f"ok 1 # SKIP {problem}")
        return brokers.SKIP_CODE
    except (RuntimeError, OSError, subprocess.SubprocessError) as problem:
        print(f"# {problem}")
        good = False
    print(f"{'ok' if good else 'not ok'} 1 - {args.name} keeps everything in order while workers and the broker die, seed {args.seed}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
