#!/usr/bin/env python3
"""Messages from one service to another and back, through a broker or the database itself.

Usage: relay_test.py BROKER PAWL_PROGRAM INBOX_WORKER_PROGRAM [--storm N] [--kafka-mock PROGRAM]
BROKER is redis, nats, amqp, amqp1, kafka, kafka_old, service_bus (a fake), file or loopback. PostgreSQL (PAWL_TEST_PG_URL) when there is one, else SQLite.
Prints TAP.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid

import brokers
import publish_soak
import transport_test

WAIT_SECONDS_MAX = 60


class Service:
    """One service with a schema (PostgreSQL) or a file (SQLite) of its own."""

    def __init__(self, test, name):
        self.test, self.name = test, name
        self.schema = f"{name}_{uuid.uuid4().hex[:10]}" if test.pg else "pawl"
        self.url = test.pg or str(test.dir / f"{name}.db")
        self.effects, self.settings = test.dir / f"{name}.effects", test.dir / f"{name}.ini"
        self.env = dict(os.environ, DATABASE_URL=self.url, PAWL_SCHEMA=self.schema)
        self.log = open(test.dir / f"{name}.log", "a", encoding="utf-8")
        self.workers = []
        self.pawl("migrate")

    def pawl(self, *words, stdin=None):
        done = subprocess.run([self.test.args.pawl, *words], env=self.env, input=stdin, capture_output=True, text=True,
                              check=False, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout.startswith(("[", "{")) else done.stdout

    def send(self, rows):
        self.pawl("send", "--ndjson", "-", stdin="".join(json.dumps(row) + "\n" for row in rows))

    def start(self):
        self.workers.append(subprocess.Popen(
            [self.test.args.worker, self.url, self.schema, self.name, str(self.settings), str(self.effects)],
            env=self.env, stderr=self.log, preexec_fn=brokers.die_with_parent))

    def lines(self):
        return [line.split("\t") for line in self.effects.read_text().splitlines()] if self.effects.exists() else []

    def counts(self, kind):
        return next(row for row in self.pawl("status", "-o", "json")["kinds"] if row["kind"] == kind)

    def stop(self):
        for worker in self.workers:
            worker.terminate()
        codes = [worker.wait(40) for worker in self.workers]
        self.workers = []
        return codes

    def close(self):
        for worker in self.workers:
            worker.kill()
            worker.wait()
        self.log.close()
        if self.test.pg:
            subprocess.run(["psql", "-q", "-d", self.url, "-c", "SET client_min_messages = error; "
                            f'DROP SCHEMA IF EXISTS "{self.schema}", "{self.schema}_internal" CASCADE'], check=False)


class Test(transport_test.Tap):
    def __init__(self, args):
        super().__init__()
        self.args, self.dir = args, pathlib.Path(tempfile.mkdtemp(prefix="pawl-relay-"))
        self.pg = os.environ.get("PAWL_TEST_PG_URL", "")
        self.services = []

    def service(self, name):
        self.services.append(Service(self, name))
        return self.services[-1]

    def wait(self, done):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not done() and time.monotonic() < deadline:
            time.sleep(0.1)
        return done()

    def logs(self):
        return "".join("\n".join((self.dir / f"{s.name}.log").read_text().splitlines()[-15:]) for s in self.services)

    def close(self):
        for service in self.services:
            service.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def settings(test, broker, url, to, peer, own, other):
    """What a service publishes to its peer, and reads from it."""
    name = test.args.broker
    if name == "loopback":
        database = "" if test.pg else f"database-url = {peer.url}\n"
        return (f"[transport peer]\nurl = loopback:{peer.schema}\nconsumer = {peer.name}\n{database}"
                f"[route *]\ntransport = peer\nto = {other}\n")
    prefix = to.replace("soak", "")
    return (f"[transport peer]\nurl = {url}\nconnect-timeout = 3s\n{broker.settings}[route *]\ntransport = peer\nto = {prefix}{other}\n"
            f"[subscribe {prefix}{own}]\ntransport = peer\n")


def prepare(name, broker):
    for place in ("to.shop", "to.billing"):
        if name == "nats":
            transport_test.add_stream(broker, place.replace(".", "_").upper(), place)
        elif name in ("amqp", "amqp1"):
            publish_soak.pika_channel(broker).queue_declare(place, durable=True)
        elif name == "kafka":
            broker.say(f"topic {place} 4")
    if name == "service_bus":
        broker.say("lock 2")


def both_ways(test, shop, billing):
    """covers: P66 P67 P68 P69 W29 W30 B3.7 BX.6"""
    count, streams = 200, 10
    shop.start()
    billing.start()
    shop.send([{"type": "order.asked", "stream": f"s{n % streams}", "topic": "orders", "payload": {"n": n // streams},
                "correlation_id": "aa890a5d-ac96-774b-bcce-b302099a8057"} for n in range(count)])
    test.case(test.wait(lambda: len(shop.lines()) >= count), f"{test.args.broker}: {count} questions, {count} answers",
              f"{len(billing.lines())} questions arrived, {len(shop.lines())} answers\n{test.logs()}")
    for service, what in ((billing, "questions"), (shop, "answers")):
        seen, good = collections.defaultdict(list), True
        for _, stream, payload, *_ in service.lines():
            seen[stream].append(json.loads(payload)["n"])
        good = all(numbers == list(range(count // streams)) for numbers in seen.values()) and len(seen) == streams
        test.case(good, f"{test.args.broker}: {what} once each, in the order of their streams", dict(seen))
    test.case(all(line[4].startswith("aa") for line in billing.lines() + shop.lines()),
              f"{test.args.broker}: the correlation id goes along", shop.lines()[:2])
    ids = {row["id"] for s in (shop, billing) for row in s.pawl("instance", "list", "-o", "json")}
    test.case(len(ids) == 2, "two services, two instance ids", ids)


def outbox_row(event):
    """An outbox takes an id as often as it comes; the inbox at the other end does not."""
    return {"id": event["id"], "type": event["type"], "stream": event["partitionkey"], "payload": event["data"], "topic": "orders"}


def storm_event(number):
    return {"specversion": "1.0", "id": str(uuid.uuid4()), "source": "/storm", "type": "order.storm", "partitionkey": f"s{number % 50}",
            "datacontenttype": "application/json", "data": {"n": number}}


def storm(test, billing, publish):
    """covers: M47 M50 B2.9 B2.10"""
    count = test.args.storm
    before = len(billing.lines())
    events = [storm_event(n) for n in range(count)]
    for _ in range(5):
        publish(events)
    test.wait(lambda: billing.counts("inbox")["duplicate"] >= count * 4 and len(billing.lines()) >= before + count)
    time.sleep(0.5)
    effects, known = len(billing.lines()) - before, billing.counts("inbox")["duplicate"]
    print("figures: " + json.dumps({"storm_messages": count, "violations": int(effects != count)}))
    test.case(effects == count and known >= count * 4,
              f"{test.args.broker}: {count} messages delivered five times each: {effects} effects, {known} duplicates",
              billing.counts("inbox"))


def odd_ones(test, billing, publish):
    """An id with another payload, what is no event, an id that is not a UUID."""
    before, first = len(billing.lines()), storm_event(0)
    publish([first])
    publish([dict(first, data={"n": -1}), {"specversion": "1.0", "id": "x", "source": "/storm", "data": 1},
             dict(first, id="not-a-uuid", data={"n": -2})])
    good = test.wait(lambda: len(billing.pawl("message", "refused", "-o", "json")) == 2 and len(billing.lines()) == before + 2)
    rows = billing.pawl("message", "refused", "-o", "json")
    test.case(good and {row["reason"] for row in rows} == {"conflict", "malformed"},
              f"{test.args.broker}: a conflict and a malformed event are kept, the rest flows", rows)


def handover(test, billing, shop):
    """A killed reader's subscription moves to another instance; nothing is lost."""
    before, count = len(billing.lines()), 300
    billing.start()
    shop.send([{"type": "order.moved", "stream": f"h{n % 10}", "topic": "orders", "payload": {"n": n // 10}} for n in range(count)])
    time.sleep(0.3)
    first = billing.workers.pop(0)
    first.kill()
    first.wait()
    moved = lambda: {tuple(line[1:3]) for line in billing.lines()[before:] if line[0] == "order.moved"}
    good = test.wait(lambda: len(moved()) == count)
    test.case(good, f"{test.args.broker}: a killed reader's subscription moves on, {len(moved())} of {count} arrive", test.logs())


def send_nats(broker, events):
    """By hand, as in transport_test."""
    with socket.create_connection(("127.0.0.1", broker.port), 5) as connection:
        connection.settimeout(30)
        file = connection.makefile("rwb")
        file.readline()
        file.write(b'CONNECT {"verbose":false}\r\n')
        for event in events:
            body = json.dumps(event).encode()
            file.write(b"PUB to.billing %d\r\n%s\r\n" % (len(body), body))
        file.write(b"PING\r\n")
        file.flush()
        while not file.readline().startswith(b"PONG"):
            pass


def send_pika(broker, events):
    channel = publish_soak.pika_channel(broker)
    for event in events:
        channel.basic_publish("", "to.billing", json.dumps(event).encode())
    channel.connection.close()


def send_kcat(broker, events):
    words = [word for line in broker.settings.splitlines() if line.startswith("kafka.") for word in ("-X", line[6:].replace(" ", ""))]
    lines = "".join(f"{event.get('partitionkey', '')}\t{json.dumps(event)}\n" for event in events)
    subprocess.run([brokers.need("kcat", "kcat"), "-P", "-b", broker.bootstrap, "-t", "to.billing", "-K", "\t", *words], input=lines, text=True,
                   check=True, capture_output=True)


def send_redis(broker, events):
    lines = "".join(f"XADD to.billing * event '{json.dumps(event)}'\n" for event in events)
    subprocess.run(["redis-cli", "-p", str(broker.port)], input=lines, text=True, check=True, capture_output=True)


def send_file(broker, events):
    with open(broker.path("to.billing.jsonl"), "a", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def send_service_bus(broker, events):
    """Microsoft's client; the fake's queue answers only when it has them."""
    said = broker.judge("send", "to.billing", stdin="".join(json.dumps({"body": event}) + "\n" for event in events))
    if said:
        raise RuntimeError(said)


SENDERS = {"redis": send_redis, "nats": send_nats, "amqp": send_pika, "amqp1": send_pika, "kafka": send_kcat, "kafka_old": send_kcat,
           "service_bus": send_service_bus, "file": send_file}


def run(test):
    name = test.args.broker
    broker, url, to, _ = publish_soak.open_broker("file" if name == "loopback" else name, test.args)
    if name == "file":
        url = lambda: f"file:{broker.dir}/"
    with broker:
        if name != "loopback":
            prepare(name, broker)
        shop, billing = test.service("shop"), test.service("billing")
        shop.settings.write_text(settings(test, broker, url(), to, billing, "to.shop", "to.billing"))
        billing.settings.write_text(settings(test, broker, url(), to, shop, "to.billing", "to.shop"))
        both_ways(test, shop, billing)
        if name == "loopback":
            storm(test, billing, lambda events: shop.send([outbox_row(event) for event in events]))
        else:
            storm(test, billing, lambda events: SENDERS[name](broker, events))
            odd_ones(test, billing, lambda events: SENDERS[name](broker, events))
        if name != "loopback":
            handover(test, billing, shop)
        codes = shop.stop() + billing.stop()
        test.case(not any(codes), "the workers stop cleanly", f"{codes}\n{test.logs()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("broker")
    parser.add_argument("pawl")
    parser.add_argument("worker")
    parser.add_argument("--storm", type=int, default=200)
    parser.add_argument("--kafka-mock", default="")
    args = parser.parse_args()
    args.pawl, args.worker = os.path.abspath(args.pawl), os.path.abspath(args.worker)
    test = Test(args)
    try:
        run(test)
    except brokers.Missing as problem:
        print(f"1..0 # SKIP {problem}")
        return brokers.SKIP_CODE
    except (RuntimeError, OSError, subprocess.SubprocessError) as problem:
        test.case(False, f"{args.broker}: the test itself", f"{problem}\n{test.logs()}")
    finally:
        test.close()
    return test.end()


if __name__ == "__main__":
    sys.exit(main())
