"""A fake NATS server, for tests: it misbehaves in the ways that no real server can be made to."""
import json
import ssl
import time

from fake_listener import FakeListener

FLOOD_SECONDS_MAX = 40  # a client that never gives up is a failed case, not a test that never ends
CHATTER = b"+OK\r\n" * 200000  # more than a client takes at once, so that it never has to wait for more
STORED, FULL = b'{"stream":"S","seq":1}', b'{"error":{"code":503,"description":"no room"}}'


def message(subject, body):
    return b"MSG %s 1 %d\r\n%s\r\n" % (subject, len(body), body)


class FakeNats(FakeListener):
    """early: what it says in the clear right behind its first line. flood: a word of the client ("PING", "HPUB") that
    is answered with +OK without end. stranger: a confirmation to another inbox comes before the true answer, a refusal."""

    def __init__(self, certificate=None, early=b"", flood=None, stranger=False):
        self.early, self.flood, self.stranger, self.tls = early, flood, stranger, None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*certificate)
        super().__init__()

    def serve(self, connection):
        info = {"headers": True, "max_payload": 1000000, "tls_required": self.tls is not None}
        try:
            with connection:
                connection.sendall(b"INFO " + json.dumps(info).encode() + b"\r\n" + self.early)
                if self.tls:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                with connection, connection.makefile("rb") as file:
                    self.talk(connection, file)
        except OSError:
            pass  # the client has left

    def talk(self, connection, file):
        while words := file.readline().split():
            name = words[0].decode()
            reply = {"PING": b"PONG\r\n"}.get(name, b"")
            if name == "HPUB":
                file.read(int(words[-1]) + 2)
                reply = message(words[2], FULL if self.stranger else STORED)
                if self.stranger:
                    reply = message(b"x" * words[2].index(b".") + words[2][words[2].index(b"."):], STORED) + reply
            end = time.monotonic() + FLOOD_SECONDS_MAX
            while name == self.flood and time.monotonic() < end:
                connection.sendall(CHATTER)
            connection.sendall(reply)
