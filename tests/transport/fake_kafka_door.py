"""A fake of Kafka's front door, for tests: it knows SASL PLAIN and lets nobody in. No Kafka that can run here has it."""
import struct

from fake_listener import FakeListener

API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 17, 36
UNSUPPORTED_VERSION, AUTHENTICATION_FAILED = 35, 58
KNOWN = ((3, 0, 4), (SASL_HANDSHAKE, 0, 1), (API_VERSIONS, 0, 0), (SASL_AUTHENTICATE, 0, 0))


def text(value):
    return struct.pack(">h", len(value)) + value


def versions(error):
    return struct.pack(">hi", error, len(KNOWN)) + b"".join(struct.pack(">hhh", *row) for row in KNOWN)


class Door(FakeListener):
    """Listens on loopback until it is closed; seen: what the clients tried to prove."""

    def __init__(self):
        self.seen = []
        super().__init__()

    def answer(self, api, version, body):
        if api == API_VERSIONS:
            return versions(0 if version == 0 else UNSUPPORTED_VERSION)
        if api == SASL_HANDSHAKE:
            return struct.pack(">hi", 0, 1) + text(b"PLAIN")
        self.seen.append(body)
        return struct.pack(">h", AUTHENTICATION_FAILED) + text(b"Authentication failed: Invalid username or password") + struct.pack(">i", 0)

    def serve(self, connection):
        with connection, connection.makefile("rwb") as file:
            while len(head := file.read(4)) == 4:
                request = file.read(struct.unpack(">i", head)[0])
                api, version, correlation = struct.unpack(">hhi", request[:8])
                body = struct.pack(">i", correlation) + self.answer(api, version, request[8:])
                file.write(struct.pack(">i", len(body)) + body)
                file.flush()
