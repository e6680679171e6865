"""A stand-in for an OTLP collector, because no real one is packaged: it keeps what it is sent and answers as it is told."""
import http.server
import json
import threading
import time


class FakeCollector:
    """answers: what to say to each request in turn, the last one for ever: (status, headers, body, seconds to wait)."""

    def __init__(self, *answers):
        self.answers = list(answers) or [(200, {}, b"{}", 0)]
        self.requests = []
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with outer.lock:
                    outer.requests.append((self.path, dict(self.headers), json.loads(body), time.monotonic()))
                    answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                status, headers, text, wait = answer
                outer.ending.wait(wait)
                try:
                    self.send_response(status)
                    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass  # whoever asked is gone

            def log_message(self, *_):
                pass

        self.ending = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.ending.set()
        self.server.shutdown()
        self.server.server_close()

    def bodies(self):
        with self.lock:
            return [body for _, _, body, _ in self.requests]

    def spans(self):
        """Every span, with its attributes as a dictionary."""
        found = []
        for body in self.bodies():
            for resource in body["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        values = {one["key"]: one["value"] for one in span["attributes"]}
                        found.append({**span, "attributes": {key: value.get("stringValue", value.get("intValue"))
                                                             for key, value in values.items()}})
        return found
