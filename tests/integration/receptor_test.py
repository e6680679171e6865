#!/usr/bin/env python3
"""Receptors from outside: several handlers of one message, each on its own; programs and endpoints."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import threading
import time

import cli_support
from cli_support import EXIT_CODES
from worker_test import WorkerTest, alive

SECRET_BYTES = b"0123456789abcdef0123456789abcdef"
SECRET = "whsec_" + base64.b64encode(SECRET_BYTES).decode()


class Endpoint:
    """A real HTTP server whose answers a test chooses."""

    def __init__(self, answer):
        self.calls = []
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                call = {"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body,
                        "at": time.monotonic()}
                endpoint.calls.append(call)
                code, headers = answer(len(endpoint.calls), call)
                try:
                    self.send_response(code)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "2")
                    self.end_headers()
                    self.wfile.write(b"{}")
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class ReceptorTest(WorkerTest):
    """What the tests below share."""

    def receive(self, type_="order.paid", *args):
        return self.ok("send", type_, '{"n": 1}', "--kind", "inbox", "--consumer", "pawl", *args)["id"]

    def inbox(self):
        return next(row for row in self.ok("status")["kinds"] if row["kind"] == "inbox")

    def notes(self, message):
        return {row["receptor"]: row for row in self.ok("message", "receptors", message)}

    def ran(self):
        return self.log.read_text().split() if self.log.exists() else []

    def noter(self, name, rest=""):
        """A program that notes that it ran, and does what is said."""
        return self.script(f'echo {name} >> {self.log}\n{rest}', name + ".sh")

    def dead(self, count=1):
        self.wait(lambda: self.inbox()["dead"] == count, what=f"{count} dead letters")
        return self.ok("message", "list", "--state", "dead", "--kind", "inbox")

    def handlers(self, text):
        path = self.dir / "handlers.ini"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def endpoint(self, answer):
        endpoint = Endpoint(answer)
        self.addCleanup(endpoint.close)
        return endpoint


class SeveralTest(ReceptorTest):
    """Several receptors of one message."""

    def test_each_is_tried_by_itself(self):
        """covers: W27"""
        a, b = self.noter("a"), self.noter("b", '[ "$(grep -c b effects)" -lt 3 ] && exit 75; exit 0')
        message = self.receive()
        self.start("--on", f"ledger@order.*=exec:{a}", "--on", f"mail@*=exec:{b}")
        self.wait(lambda: self.inbox()["done"] == 1, what="the message")
        self.stop()
        self.assertEqual(sorted(self.ran()), ["a", "b", "b", "b"])
        notes = self.notes(message)
        self.assertEqual({k: (v["state"], v["attempts"]) for k, v in notes.items()},
                         {"ledger": ("done", 1), "mail": ("done", 3)})

    def test_a_handler_without_a_name_takes_part(self):
        a, b = self.noter("a"), self.noter("b")
        message = self.receive()
        self.receive("mail.sent")
        self.start("--on", f"order.*=exec:{b}", "--on", f"ledger@order.*=exec:{a}", "--on", f"*=exec:{b}")
        self.wait(lambda: self.inbox()["done"] == 2, what="both messages")
        self.stop()
        self.assertEqual(sorted(self.ran()), ["a", "b", "b"])
        self.assertEqual(set(self.notes(message)), {"ledger", "order.*"})

    def test_failed_for_good_and_redriven(self):
        """The dead letter names the receptor; only that one runs again. covers: W27"""
        a = self.noter("a")
        b = self.noter("b", 'echo "no such customer" >&2; [ -e fixed ] || exit 65')
        message = self.receive()
        self.start("--on", f"ledger@order.*=exec:{a}", "--on", f"mail@order.*=exec:{b}")
        row = self.dead()[0]
        self.assertEqual(row["reason"], "permanent")
        self.assertIn("mail: exit code 65: no such customer", row["error"])
        self.assertEqual({k: v["state"] for k, v in self.notes(message).items()},
                         {"ledger": "done", "mail": "failed for good"})
        (self.dir / "fixed").touch()
        self.ok("message", "retry", message)
        self.wait(lambda: self.inbox()["done"] == 1, what="the redriven message")
        self.stop()
        self.assertEqual(sorted(self.ran()), ["a", "b", "b"])

    def test_attempts_of_its_own(self):
        """One gives up after two attempts, the other succeeds at its fourth."""
        a = self.noter("a", "exit 75")
        b = self.noter("b", '[ "$(grep -c b effects)" -lt 4 ] && exit 75; exit 0')
        message = self.receive()
        self.start("--handlers", self.handlers(f"[short@order.*]\nexec = {a}\nmax-attempts = 2\n"
                                               f"[long@order.*]\nexec = {b}\nmax-attempts = 9\n"))
        row = self.dead()[0]
        self.stop()
        self.assertIn("short: exit code 75", row["error"])
        self.assertNotIn("long", row["error"])
        self.assertEqual({k: (v["state"], v["attempts"]) for k, v in self.notes(message).items()},
                         {"short": ("failed for good", 2), "long": ("done", 4)})

    def test_killed_worker(self):
        """What a receptor has done is not done again when the worker dies beside it."""
        a, b = self.noter("a"), self.noter("b", '[ "$(grep -c b effects)" -lt 2 ] && sleep 60; exit 0')
        message = self.receive()
        on = ["--on", f"ledger@order.*=exec:{a}", "--on", f"slow@order.*=exec:{b}", "--lease", "5s"]
        self.start(*on)
        self.wait(lambda: "ledger" in self.notes(message) and "b" in self.ran(), what="the first receptor")
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.start(*on)
        self.wait(lambda: self.inbox()["done"] == 1, what="the message")
        self.stop()
        self.assertEqual(sorted(self.ran()), ["a", "b", "b"])

    def test_hang_flood_signal(self):
        """covers: J07"""
        good = self.noter("good")
        hanging = f"4711.{os.getpid()}"  # another run of this test may have one too
        bad = {"hang": self.script(f"exec sleep {hanging}", "hang.sh"),
               "flood": self.script("yes | head -c 20000000", "flood.sh"),
               "signal": self.script("kill -SEGV $$", "signal.sh")}
        text = "".join(f"[{name}@{name}.*]\nexec = {path}\ntimeout = 500ms\nmax-attempts = 2\non-dead = skip\n"
                       for name, path in bad.items())
        text += f"[good@*]\nexec = {good}\nmax-attempts = 2\n"
        for name in bad:
            self.receive(name + ".now", "--stream", name)
            self.receive("fine", "--stream", name)
        for n in range(5):
            self.receive("fine", "--stream", f"s{n}")
        self.start("--handlers", self.handlers(text))
        rows = {row["type"]: row["error"] for row in self.dead(3)}
        self.wait(lambda: self.inbox()["done"] == 8, what="the rest")
        self.stop()
        for name, words in (("hang", "did not end within its time limit of 500 ms"), ("flood", "wrote more than"),
                            ("signal", "ended by signal 11")):
            self.assertIn(f"{name}: {words}", rows[name + ".now"])
        self.assertEqual(self.ran(), ["good"] * 11)
        self.assertEqual(alive(hanging), [])

    def test_blocked_stream(self):
        """The stream of a receptor that failed waits when that is its policy; others go on."""
        bad, good = self.script("exit 65", "bad.sh"), self.noter("good")
        self.receive("bad", "--stream", "a")
        self.receive("fine", "--stream", "a")
        self.receive("fine", "--stream", "b")
        self.start("--handlers", self.handlers(f"[first@*]\nexec = {good}\non-dead = block\n[second@bad]\nexec = {bad}\n"))
        self.dead()
        self.wait(lambda: self.inbox()["done"] == 1, what="the other stream")
        time.sleep(0.5)
        self.assertEqual(self.inbox()["done"], 1)
        self.stop()

    def test_paused(self):
        a, b = self.noter("a"), self.noter("b")
        self.assertEqual(self.run_pawl("pause", "handler", "mail").code, 0)
        self.receive()
        self.start("--on", f"ledger@order.*=exec:{a}", "--on", f"mail@order.*=exec:{b}")
        time.sleep(1)
        self.assertEqual(self.ran(), [])
        self.assertEqual(self.run_pawl("resume", "handler", "mail").code, 0)
        self.wait(lambda: self.inbox()["done"] == 1, what="the message")
        self.stop()
        self.assertEqual(sorted(self.ran()), ["a", "b"])

    def test_environment(self):
        a = self.script("env > environment; cat > message.json", "a.sh")
        message = self.receive("order.paid", "--stream", "o-1")
        self.assertEqual(self.run_worker("--on", f"ledger@order.*=exec:{a}").code, 0)
        env = dict(line.split("=", 1) for line in (self.dir / "environment").read_text().splitlines() if "=" in line)
        self.assertEqual((env["PAWL_RECEPTOR"], env["PAWL_ID"], env["PAWL_STREAM"], env["PAWL_KIND"]),
                         ("ledger", message, "o-1", "inbox"))
        self.assertNotIn("DATABASE_URL", env)
        self.assertEqual(json.loads((self.dir / "message.json").read_text())["id"], message)


class EndpointTest(ReceptorTest):
    """Handlers that are HTTP endpoints."""

    def test_headers_and_signature(self):
        endpoint = self.endpoint(lambda n, call: (200, {}))
        (self.dir / "secret").write_text(SECRET + "\n", encoding="utf-8")
        message = self.receive("order.paid", "--stream", "o-1", "--traceparent", "00-1-2-03")
        self.start("--handlers", self.handlers(f"[order.*]\nhttp = {endpoint.url}/in\nsecret-file = secret\n"
                                               "allow-private = true\n"))
        self.wait(lambda: self.inbox()["done"] == 1, what="the message")
        self.stop()
        call, headers = endpoint.calls[0], endpoint.calls[0]["headers"]
        self.assertEqual((call["path"], json.loads(call["body"])), ("/in", {"n": 1}))
        self.assertEqual((headers["ce-id"], headers["ce-type"], headers["ce-subject"], headers["ce-source"],
                          headers["ce-specversion"], headers["traceparent"], headers["content-type"]),
                         (message, "order.paid", "o-1", "/pawl/pawl", "1.0", "00-1-2-03", "application/json"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + call["body"]
        mac = base64.b64encode(hmac.new(SECRET_BYTES, signed, hashlib.sha256).digest()).decode()
        self.assertEqual(headers["webhook-signature"], "v1," + mac)
        self.assertEqual(headers["webhook-id"], message)

    def test_retry_after(self):
        """The server's wish is the delay, and the second receptor does not run again."""
        endpoint = self.endpoint(lambda n, call: (429, {"Retry-After": "2"}) if n == 1 else (200, {}))
        a = self.noter("a")
        message = self.receive()
        self.start("--handlers", self.handlers(f"[hook@order.*]\nhttp = {endpoint.url}/\nallow-private = true\n"
                                               f"[a@order.*]\nexec = {a}\n"))
        self.wait(lambda: self.inbox()["done"] == 1, what="the message")
        self.stop()
        self.assertEqual((len(endpoint.calls), self.ran()), (2, ["a"]))
        self.assertGreaterEqual(endpoint.calls[1]["at"] - endpoint.calls[0]["at"], 1.9)
        self.assertEqual(endpoint.calls[0]["headers"]["idempotency-key"],
                         endpoint.calls[1]["headers"]["idempotency-key"])
        first, second = (int(call["headers"]["pawl-token"]) for call in endpoint.calls)
        self.assertLess(0, first)
        self.assertLess(first, second)
        self.assertEqual(self.notes(message)["hook"]["attempts"], 2)

    def test_no_redirect_and_dead_at_once(self):
        target = self.endpoint(lambda n, call: (200, {}))
        endpoint = self.endpoint(lambda n, call: (302, {"Location": target.url}) if call["path"] == "/moved"
                                 else (422, {}))
        self.receive("moved.x")
        self.receive("wrong.x")
        self.start("--handlers", self.handlers(
            f"[moved.*]\nhttp = {endpoint.url}/moved\nallow-private = true\nmax-attempts = 2\n"
            f"[wrong.*]\nhttp = {endpoint.url}/wrong\nallow-private = true\n"))
        rows = {row["type"]: row for row in self.dead(2)}
        self.stop()
        self.assertEqual(target.calls, [])
        self.assertIn("HTTP status 302", rows["moved.x"]["error"])
        self.assertIn("HTTP status 422", rows["wrong.x"]["error"])
        self.assertEqual((rows["wrong.x"]["attempts"], rows["wrong.x"]["reason"]), (1, "permanent"))

    def test_private_address_is_refused(self):
        endpoint = self.endpoint(lambda n, call: (200, {}))
        self.receive()
        self.start("--on", f"order.*={endpoint.url}/", "--max-attempts", "1")
        row = self.dead()[0]
        self.stop()
        self.assertEqual(endpoint.calls, [])
        self.assertIn("private", row["error"])

    def test_endpoint_that_hangs(self):
        endpoint = self.endpoint(lambda n, call: (time.sleep(30), (200, {}))[1])
        self.receive()
        self.start("--handlers", self.handlers(f"[order.*]\nhttp = {endpoint.url}/\nallow-private = true\n"
                                               "timeout = 500ms\nmax-attempts = 1\n"))
        self.assertIn("did not answer in time", self.dead()[0]["error"])
        self.stop()


class SnoozeTest(ReceptorTest):
    """Not now, and no attempt."""

    def test_program(self):
        handler = self.noter("a", '[ "$(grep -c a effects)" -lt 4 ] && echo "pawl:snooze 200ms" && exit 75; '
                             'echo "$PAWL_ATTEMPT" > attempt')
        self.ok("send", "job")
        self.start("--on", f"*=exec:{handler}", "--max-attempts", "1")
        self.wait(lambda: self.counts()["done"] == 1, what="the message")
        self.stop()
        self.assertEqual((self.ran(), (self.dir / "attempt").read_text()), (["a"] * 4, "1\n"))

    def test_receptor(self):
        a = self.noter("a", '[ "$(grep -c a effects)" -lt 3 ] && echo "pawl:snooze 200ms" && exit 75; exit 0')
        b = self.noter("b")
        message = self.receive()
        self.start("--on", f"a@*=exec:{a}", "--on", f"b@*=exec:{b}", "--max-attempts", "1")
        self.wait(lambda: self.inbox()["done"] == 1, what="the message")
        self.stop()
        self.assertEqual(sorted(self.ran()), ["a", "a", "a", "b"])
        self.assertEqual(self.notes(message)["a"]["attempts"], 1)

    def test_retry_after_and_a_snooze_that_is_none(self):
        """pawl:retry-after chooses the delay of a failure; pawl:snooze with another exit code is a failure."""
        handler = self.noter("a", 'date +%s%N >> times; case $PAWL_ATTEMPT in 1) echo "pawl:retry-after 1500ms"; exit 1;; '
                             '2) echo "pawl:snooze 100ms"; exit 3;; esac')
        self.ok("send", "job")
        self.start("--on", f"*=exec:{handler}", "--max-attempts", "3")
        self.wait(lambda: self.counts()["done"] == 1, what="the message")
        self.stop()
        times = [int(line) / 1e9 for line in (self.dir / "times").read_text().split()]
        self.assertEqual(len(times), 3)
        self.assertGreaterEqual(times[1] - times[0], 1.45)


class InputTest(ReceptorTest):
    """Bad input."""

    def test_command_line(self):
        a = self.noter("a")
        code = EXIT_CODES["invalid"]
        self.refused(code, "there is a receptor 'x' already", "worker", "--on", f"x@a=exec:{a}", "--on", f"x@b=exec:{a}")
        self.refused(code, "the kinds are: exec:COMMAND, pipe:COMMAND, https://…, http://…", "worker", "--on", "a=ftp://x")
        self.refused(code, "the secret is not usable", "worker", "--on", "a=https://example.com/",
                     env={"PAWL_WEBHOOK_SECRET": "short"})

    def test_handlers_file(self):
        a = self.noter("a")
        for text, fragment in (("[a]\ntimeout = 1s\n", ":1: the section has no exec, pipe or http"),
                               (f"[a]\nexec = {a}\nhttp = https://example.com/\n", ":1: the section has more than one of"),
                               (f"[a]\nexec = {a}\nallow-private = true\n", ":1: secret-env, secret-file and allow-private"),
                               ("[a]\nhttp = https://example.com/\nsecret-env = NO_SUCH\n", ":3: the variable of secret-env"),
                               ("[a]\nhttp = https://example.com/\nsecret-file = absent\n", ":3: the file of secret-file"),
                               ("[a]\nhttp = https://example.com/\nallow-private = maybe\n", ":3: allow-private needs"),
                               ("[a]\nhttp = gopher://x\n", ":1: "),
                               (f"[x@a]\nexec = {a}\n[x@b]\nexec = {a}\n", ":3: there is a receptor 'x' already")):
            result = self.run_pawl("worker", "--handlers", self.handlers(text))
            self.assertEqual(result.code, EXIT_CODES["invalid"], result)
            self.assertIn(fragment, result.err)


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
