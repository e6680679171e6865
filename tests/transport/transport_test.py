#!/usr/bin/env python3
"""One transport against its real broker: the conformance program, then readers that are not ours.

Usage: transport_test.py NAME CONFORMANCE_PROGRAM PAWL_PROGRAM [KAFKA_MOCK]
Prints TAP; exit code 77 when the broker is not installed.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import brokers
import fake_kafka_door
import fake_nats


def assigned(words):
    return [f"{key.replace('__', '.')}={value}" for key, value in words.items()]


class Tap:
    def __init__(self):
        self.count, self.failed, self.skipped = 0, 0, 0

    def conformance(self, program, module, url, **words):
        self.take(module, subprocess.run([program, module, url, *assigned(words)], capture_output=True, text=True, check=False, timeout=120))

    def frozen(self, program, module, broker, **words):
        """The broker stops for good once the program has its sessions."""
        command = [program, module, words.pop("url", broker.url), "only=frozen", *assigned(words)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            first = process.stdout.readline()
            if first.startswith("# ready"):
                broker.freeze()
            output, _ = process.communicate("\n", timeout=150)
            self.take(module, subprocess.CompletedProcess(command, process.returncode, first + output, ""))

    def take(self, module, done):
        for line in done.stdout.splitlines():
            if line.startswith(("ok ", "not ok ")):
                self.count += 1
                good, rest = line.startswith("ok "), line.split(" - ", 1)[1]
                self.failed += not good
                print(f"{'ok' if good else 'not ok'} {self.count} - {rest}")
            elif not line.startswith("1.."):
                print("# " + line.lstrip("# "))
        if done.returncode not in (0, 1):
            self.case(False, f"{module} conformance ended with {done.returncode}", done.stderr)
        elif done.returncode == 1 or done.stderr:
            print("# " + done.stderr.replace("\n", "\n# "))

    def case(self, good, name, detail=""):
        self.count += 1
        self.failed += not good
        if not good:
            print("# " + str(detail)[-2000:].replace("\n", "\n# "))
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)

    def skip(self, name, reason):
        self.count += 1
        self.skipped += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def npm_reads(tap, kind, address, source, prefix):
    """A client from npm, of other people, reads the first message that the conformance program published."""
    try:
        words = [brokers.node(), str(brokers.NPM / "read.mjs"), kind, address, source]
    except brokers.Missing as problem:
        tap.skip(f"a client from npm reads the event of {kind}", problem)
        return
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    row = json.loads(done.stdout) if done.returncode == 0 and done.stdout else {"headers": {}}
    event = {name[len(prefix):]: value for name, value in row["headers"].items() if name.startswith(prefix)} if prefix else row.get("body", {})
    data = row.get("body", {}) if prefix else event.get("data", {})
    tap.case(event.get("specversion") == "1.0" and event.get("type") == "order.created" and event.get("id") == row.get("id") and
             event.get("partitionkey", "").startswith("s-") and "n" in data,
             f"a client from npm reads the CloudEvent of {kind}, its id is the broker's message id", done.stdout + done.stderr)


def redis(tap, program, _args):
    with brokers.Redis(tls=True) as broker:
        closed = brokers.free_port()
        broker.cli("SET", "a.string", "not a stream")
        tap.conformance(program, "redis", broker.url, to="pawl.test", **{"from": "pawl.test"},
                        closed=f"redis://127.0.0.1:{closed}", denied=f"redis://:wrong-secret@127.0.0.1:{broker.port}",
                        secret="wrong-secret", tls_wrong=f"rediss://127.0.0.1:{broker.tls_port}", ca=broker.path("ca.pem"),
                        unroutable="a.string")
        # An independent reader: the server's own command-line client.
        text = broker.cli("--json", "XRANGE", "pawl.test", "-", "+", "COUNT", "1")
        fields = json.loads(text)[0][1] if text.strip().startswith("[") else []
        event = json.loads(dict(zip(fields[::2], fields[1::2]))["event"]) if fields else {}
        tap.case(event.get("specversion") == "1.0" and event.get("type") == "order.created" and event["data"]["n"] == 1,
                 "redis-cli reads the CloudEvent", text)
        # What the group was given and the stream no longer has is acknowledged, and the answer is not mistaken for another.
        where = {"to": "gone", "from": "gone"}
        tap.conformance(program, "redis", broker.url, only="hold", **where)
        broker.cli("XTRIM", "gone", "MAXLEN", "0")
        tap.conformance(program, "redis", broker.url, only="rounds", **where)
        tap.case(broker.cli("XPENDING", "gone", "pawl").split()[:1] == ["0"], "nothing stays open for the group",
                 broker.cli("XPENDING", "gone", "pawl"))
        tap.frozen(program, "redis", broker, to="cold", **{"from": "cold"})


def file(tap, program, _args):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "events.jsonl")
        tap.conformance(program, "file", "file:" + path, to="pawl.test", **{"from": "pawl.test"})
        tap.conformance(program, "file", f"file:{directory}/", to="plain", **{"from": "plain"}, unroutable="../escape")
        with open(path, encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines]
        tap.case(events[0]["specversion"] == "1.0" and events[0]["partitionkey"] == "s-1", "a JSON parser reads the lines",
                 events[:1])
        # A line that is too long is refused by name, and what comes after it is read.
        event = {"specversion": "1.0", "id": "01890a5d-ac96-774b-bcce-b302099a8057", "source": "/x", "type": "t", "data": {"n": 7}}
        with open(os.path.join(directory, "long.jsonl"), "w", encoding="utf-8") as lines:
            lines.write('"' + "x" * (33 << 20) + '"\n' + json.dumps(event) + "\n")
        for expected in ("malformed", '{"n": 7}'):
            tap.conformance(program, "file", f"file:{directory}/", only="receive", **{"from": "long"}, expect=expected)
        file_syncs(tap, program, directory)


def file_syncs(tap, program, directory):
    """A file that is new survives a crash only when its directory was flushed too."""
    if shutil.which("strace") is None:
        tap.skip("the directory of a new file is flushed", "strace is not installed")
        return
    trace = os.path.join(directory, "trace")
    # The look for leaks does not work in a traced process.
    env = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
    subprocess.run(["strace", "-f", "-y", "-e", "trace=fsync", "-o", trace, program, "file", f"file:{directory}/", "only=publish",
                    "to=fresh", "from=fresh"], env=env, check=True, capture_output=True, timeout=60)
    with open(trace, encoding="utf-8") as lines:
        flushed = [line.split("<", 1)[1].split(">", 1)[0] for line in lines if "fsync(" in line]
    new = [f"{directory}/fresh.jsonl", f"{directory}/fresh.jsonl.pawl.place.new"]
    after = dict(zip(flushed, flushed[1:]))
    tap.case([after.get(name) for name in new] == [directory] * 2, "the directory of a new file is flushed", flushed)


def nats(tap, program, _args):
    with brokers.Nats() as broker:
        add_stream(broker)
        tap.conformance(program, "nats", broker.url, to="orders.one", **{"from": "orders.one"},
                        closed=f"nats://127.0.0.1:{brokers.free_port()}", unroutable="nobody.listens", large=2000000)
        npm_reads(tap, "nats", f"127.0.0.1:{broker.port}", "ORDERS", "ce-")
        # The answer of a stream is told from an error whatever the stream is called.
        for number, name in enumerate(("error", "s" * 240)):
            add_stream(broker, name, f"odd.{number}")
            tap.conformance(program, "nats", broker.url, only="publish", to=f"odd.{number}")
        # The group's place is never given up, not even for a moment.
        made = [row["created"] for row in consumers(broker)]
        tap.conformance(program, "nats", broker.url, only="rounds", to="orders.one", **{"from": "orders.one"})
        tap.case(len(made) == 1 and [row["created"] for row in consumers(broker)] == made, "a reader goes on with the group's consumer",
                 [made, consumers(broker)])
        tap.frozen(program, "nats", broker, to="orders.cold", **{"from": "orders.cold"})
    secured = brokers.Nats(tls=True)
    with secured:
        tap.conformance(program, "nats", secured.url, only="open", ca=secured.path("ca.pem"),
                        tls_wrong=f"nats+tls://127.0.0.1:{secured.port}")
    guarded = brokers.Nats()
    guarded.password = "right-secret"
    with guarded:
        tap.conformance(program, "nats", guarded.url, only="open", secret="wrong-secret",
                        denied=f"nats://pawl:wrong-secret@127.0.0.1:{guarded.port}")
    nats_account(tap, program)
    nats_fakes(tap, program)


def nats_account(tap, program):
    """What an account may not do concerns single messages."""
    limited = brokers.Nats()
    limited.accounts = """no_auth_user: root
        accounts { A { jetstream: enabled, limits { max_payload: 4000 }, users: [
            { user: root, password: root },
            { user: pawl, password: pawl, permissions { publish { deny: ["orders.secret"] } } } ] } }"""
    with limited:
        add_stream(limited)
        url = f"nats://pawl:pawl@127.0.0.1:{limited.port}"
        tap.conformance(program, "nats", url, only="forbidden", to="orders.one", forbidden="orders.secret")
        stored = nats_ask(limited, "STREAM.INFO.ORDERS", {})["state"]
        tap.case(stored["messages"] == 3, "what the account may publish is stored once", stored)
        tap.conformance(program, "nats", url, only="open", to="orders.one", large=4000)
        for group in ("a b", "a.b", "a*", ">", "a\tb", "\x7f"):
            tap.conformance(program, "nats", url, only="group", **{"from": "orders.one"}, group=group, says="use letters")


def nats_fakes(tap, program):
    with tempfile.TemporaryDirectory() as directory:
        brokers.certificates(directory, "localhost")
        certificate = (os.path.join(directory, "cert.pem"), os.path.join(directory, "key.pem"))
        for early in (b"", b"PONG\r\n"):
            with fake_nats.FakeNats(certificate, early) as fake:
                url, ca = f"nats+tls://localhost:{fake.port}", os.path.join(directory, "ca.pem")
                if early:
                    tap.conformance(program, "nats", url, only="open", ca=ca, clear=url, says="speaks before TLS")
                else:
                    tap.conformance(program, "nats", url, only="publish", to="x", ca=ca)
    with fake_nats.FakeNats() as fake:
        tap.conformance(program, "nats", f"nats://127.0.0.1:{fake.port}", only="cut", to="x")
    with fake_nats.FakeNats(stranger=True) as fake:
        tap.conformance(program, "nats", f"nats://127.0.0.1:{fake.port}", only="refused", to="x")
    with fake_nats.FakeNats(flood="PING") as fake:
        tap.conformance(program, "nats", fake_url := f"nats://127.0.0.1:{fake.port}", only="open", closed=fake_url)
    with fake_nats.FakeNats(flood="HPUB") as fake:
        tap.conformance(program, "nats", f"nats://127.0.0.1:{fake.port}", only="chatter", to="x")


def add_stream(broker, name="ORDERS", subjects="orders.>"):
    nats_ask(broker, "STREAM.CREATE." + name, {"name": name, "subjects": [subjects], "storage": "file",
                                               "duplicate_window": 120000000000, "retention": "limits", "num_replicas": 1})


def consumers(broker, name="ORDERS"):
    return nats_ask(broker, "CONSUMER.LIST." + name, {})["consumers"]


def nats_ask(broker, subject, question):
    """Speaks the NATS protocol by hand: a reader and maker of streams that shares no code with ours."""
    body = json.dumps(question).encode()
    with socket.create_connection(("127.0.0.1", broker.port), 5) as connection:
        connection.settimeout(10)
        file = connection.makefile("rwb")
        file.readline()
        file.write(b'CONNECT {"verbose":false,"headers":true}\r\nSUB inbox.test 1\r\nPUB $JS.API.' + subject.encode() +
                   b" inbox.test %d\r\n" % len(body) + body + b"\r\n")
        file.flush()
        while True:
            line = file.readline()
            if line.startswith(b"MSG"):
                answer = json.loads(file.readline())
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer
            if line.startswith(b"PING"):
                file.write(b"PONG\r\n")
                file.flush()


def amqp(tap, program, _args):
    with brokers.Rabbit(tls=True) as broker:
        tap.conformance(program, "amqp", broker.url, to="pawl.test", **{"from": "pawl.test"},
                        closed=f"amqp://127.0.0.1:{brokers.free_port()}",
                        denied=f"amqp://guest:wrong-secret@127.0.0.1:{broker.port}", secret="wrong-secret",
                        tls_wrong=f"amqps://127.0.0.1:{broker.tls_port}", ca=broker.path("ca.pem"),
                        unroutable="nobody.listens", large=2000000)
        tap.conformance(program, "amqp", broker.url, only="publish", to="pawl.test")
        npm_reads(tap, "amqp", f"127.0.0.1:{broker.port}", "pawl.test", "")
        tap.frozen(program, "amqp", broker, to="cold", **{"from": "cold"})


def amqp1(tap, program, _args):
    with brokers.Rabbit(tls=True) as broker:
        url = f"amqp1://guest:guest@127.0.0.1:{broker.port}"
        tap.conformance(program, "amqp1", url, to="/queue/pawl.test", **{"from": "/queue/pawl.test"},
                        closed=f"amqp1://127.0.0.1:{brokers.free_port()}",
                        denied=f"amqp1://guest:wrong-secret@127.0.0.1:{broker.port}", secret="wrong-secret",
                        tls_wrong=f"amqp1+tls://guest:guest@127.0.0.1:{broker.tls_port}", ca=broker.path("ca.pem"),
                        unroutable="/exchange/nobody.listens/x", large=2000000)
        tap.conformance(program, "amqp1", url, only="publish", to="/queue/pawl.test")
        npm_reads(tap, "amqp1", f"127.0.0.1:{broker.port}", "/queue/pawl.test", "cloudEvents_")
        tap.frozen(program, "amqp1", broker, url=url, to="/queue/cold", **{"from": "/queue/cold"})


def count_judged(tap, text):
    """Takes the cases of a TAP text over."""
    lines = [line for line in text.splitlines() if line.startswith(("ok ", "not ok "))]
    for line in lines:
        tap.case(line.startswith("ok "), line.split(" - ", 1)[1], text)
    return len(lines)


def service_bus(tap, program, _args):
    """A fake that Microsoft's own client accepts first; then ours against the same. covers: W31 M51"""
    with brokers.FakeServiceBus() as fake:
        text = fake.judge("judge", "judged")
        tap.case(count_judged(tap, text) == 10, "Microsoft's client accepts the fake Service Bus", text)
        fake.say("lock 2")  # what a reader had comes again after that, also when the reader is gone
        closed = brokers.free_port()
        tap.conformance(program, "amqp1", fake.url, to="pawl.test", **{"from": "pawl.test"}, option__sas="true",
                        closed=f"amqp1://a:b@127.0.0.1:{closed}", denied=f"amqp1://root:wrong-secret@127.0.0.1:{fake.port}",
                        secret="wrong-secret", unroutable="nobody.listens", large=400000)
        service_bus_exchange(tap, program, fake)
        service_bus_tokens(tap, program, fake)
    certified = type("Certified", (brokers.FakeServiceBus,), {"certified": "localhost"})
    with certified(tls=True) as fake:
        sb = f"sb://{fake.key_name}:{fake.key}@"
        tap.conformance(program, "amqp1", f"{sb}localhost:{fake.tls_port}", only="publish", to="pawl.test", ca=fake.path("ca.pem"),
                        tls_wrong=f"{sb}127.0.0.1:{fake.tls_port}")
        tap.case(fake.say("state")["queues"]["pawl.test"]["ready"] == 1, "sb:// proves key and certificate", fake.say("state"))


def service_bus_exchange(tap, program, fake):
    """What we publish Microsoft's client reads, and the other way round."""
    tap.conformance(program, "amqp1", fake.url, only="publish", to="judged", option__sas="true")
    text = fake.judge("read", "judged", "1")
    event = json.loads(text.splitlines()[0]) if text.startswith("{") else {}
    properties = event.get("properties", {})
    tap.case(event.get("body", {}).get("n") == 1 and properties.get("cloudEvents_type") == "order.created" and
             event["id"] == properties.get("cloudEvents_id") and event["contentType"] == "application/json",
             "Microsoft's client reads the CloudEvent, its id is the message id", text)
    attributes = {"cloudEvents_specversion": "1.0", "cloudEvents_id": "01890a5d-ac96-774b-bcce-b302099a8059",
                  "cloudEvents_source": "/other", "cloudEvents_type": "order.created"}
    fake.judge("send", "pawl.test", stdin=json.dumps({"body": {"n": 7}, "messageId": "x", "applicationProperties": attributes}) + "\n")
    tap.conformance(program, "amqp1", fake.url, only="receive", **{"from": "pawl.test"}, option__sas="true", expect='{"n":7}')
    state = fake.say("state")["queues"]["pawl.test"]
    tap.case(state == {"ready": 0, "locked": 0}, "what was acknowledged is settled", state)


def service_bus_tokens(tap, program, fake):
    """Tokens are renewed before they end; one that ends all the same costs no message."""
    before = fake.say("state")["tokens"]
    tap.conformance(program, "amqp1", fake.url, only="steady", to="judged", option__sas="true", **{"option__token-lifetime": "4s"},
                    seconds=9)
    after = fake.say("state")["tokens"]
    tap.case(after["accepted"] >= before["accepted"] + 4 and after["expired"] == before["expired"],
             f"a token of 4 s is put {after['accepted'] - before['accepted']} times in 9 s, no link ends", (before, after))
    timer = threading.Timer(2, fake.say, ["expire"])
    timer.start()
    tap.conformance(program, "amqp1", fake.url, only="steady", to="judged", option__sas="true", seconds=4, reopens=1)
    timer.join()
    tap.case(fake.say("state")["tokens"]["expired"] > 0, "the fake ended the link of a token that was over", fake.say("state"))
    fake.say("quota 0")
    tap.conformance(program, "amqp1", fake.url, only="refused", to="judged", option__sas="true")
    tap.conformance(program, "amqp1", fake.url, only="open", option__sas="true", **{"option__token-lifetime": "1s"},
                    denied=fake.url)


def kafka(tap, program, args):
    with brokers.Kafka(args[0]) as broker:
        broker.say("topic pawl.test 4")
        broker.say("topic read 1")
        broker.say("topic wide 5000")
        subprocess.run([brokers.need("kcat", "kcat"), "-P", "-b", broker.bootstrap, "-t", "wide", "-p", "4999"], input="no event",
                       text=True, check=True, timeout=60)
        tap.conformance(program, "kafka", broker.url, only="receive", **{"from": "wide"}, expect="malformed")
        tap.conformance(program, "kafka", broker.url, to="pawl.test", **{"from": "pawl.test"},
                        closed=f"kafka://127.0.0.1:{brokers.free_port()}", large=21000000)
        tap.conformance(program, "kafka", broker.url, only="publish", to="read")
        npm_reads(tap, "kafka", broker.bootstrap.split(",")[0], "read", "ce_")
        broker.say("topic cold 1")
        tap.frozen(program, "kafka", broker, to="cold", **{"from": "cold"})
    with fake_kafka_door.Door() as door:
        tap.conformance(program, "kafka", f"kafka://127.0.0.1:{door.port}", only="open", secret="wrong-secret",
                        denied=f"kafka://pawl:wrong-secret@127.0.0.1:{door.port}")
        tap.case(any(b"wrong-secret" in proof for proof in door.seen), "the fake door was asked with user and password", door.seen)


OLD_KAFKA = {"option__structured": "true", "option__kafka.enable.idempotence": "false",
             "option__kafka.api.version.request": "false", "option__kafka.broker.version.fallback": "0.9.0.1"}


def kafka_old(tap, program, _args):
    """A real broker, though an old one. kcat reads what was published."""
    with brokers.OldKafka(tls=True) as broker:
        tap.conformance(program, "kafka", broker.url, to="pawl.test", **{"from": "pawl.test"}, **OLD_KAFKA,
                        closed=f"kafka://127.0.0.1:{brokers.free_port()}", unroutable="nobody.made.it", large=2000000,
                        tls_wrong=f"kafka+tls://127.0.0.1:{broker.tls_port}", ca=broker.path("ca.pem"))
        done = subprocess.run([brokers.need("kcat", "kcat"), "-C", "-q", "-e", "-b", broker.bootstrap, "-t", "pawl.test", "-o", "beginning",
                               "-J", "-X", "api.version.request=false", "-X", "broker.version.fallback=0.9.0.1"],
                              capture_output=True, text=True, check=False, timeout=60)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        events = [dict(json.loads(row["payload"]), key=row["key"]) for row in rows]
        tap.case(len(events) >= 100 and all(e["specversion"] == "1.0" and e["key"] == e["partitionkey"] for e in events),
                 f"kcat reads {len(events)} CloudEvents, the stream is the key", done.stdout[:500] + done.stderr)


def main():
    name, program = sys.argv[1:3]
    tap = Tap()
    try:
        globals()[name](tap, program, sys.argv[4:])
    except brokers.Missing as problem:
        print(f"1..0 # SKIP {problem}")
        return brokers.SKIP_CODE
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
