#!/usr/bin/env python3
"""A catalogue that is tiresome to import: slow pages, 429s, items that come twice, and a crash.

Usage: server.py PORT DIRECTORY [--products N] [--slow-ms N] [--crash-at N]

GET /products?from=A&to=B&limit=N[&cursor=C] answers {"products": […], "next": "C"|null, "total": N} with the
products whose price is from A to below B. DIRECTORY keeps what must survive a crash of the server: that it has
crashed once already, and how often it did what (stats.json).
"""
import argparse
import http.server
import json
import os
import pathlib
import threading
import time
import urllib.parse


def catalogue(count):
    """Every product has a price of its own, so ranges of prices split the catalogue without overlap."""
    return [{"sku": f"P-{i:06d}", "price": i, "name": f"Product {i}", "stock": i * 7919 % 101} for i in range(count)]


class Catalogue(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, code, value, headers=()):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        shop = self.server.shop
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/products":
            self.page(shop, query)
        else:
            self.answer(404, {"error": "there is only /products"})

    def page(self, shop, query):
        number, busy = shop.begin()
        try:
            if busy > shop.options.busy_max or number % 17 == 0:
                shop.count("throttled")
                self.answer(429, {"error": "too many at once"}, [("Retry-After", "1")])
                return
            if number >= shop.options.crash_at > 0 and not shop.crashed.exists():
                shop.crashed.touch()
                os._exit(1)  # in the middle of an answer: the connection breaks
            if number % 11 == 0:
                time.sleep(shop.options.slow_ms / 1000)
            self.products(shop, query)
        finally:
            shop.end()

    def products(self, shop, query):
        low, high, limit = (int(query[key]) for key in ("from", "to", "limit"))
        after = int(query.get("cursor", "-1"))
        wanted = [p for p in shop.products[max(low, 0):max(high, 0)]]
        rest = [p for p in wanted if p["price"] > after]
        items = rest[:limit]
        last = items[-1]["price"] if items else after
        # The last product of the page before comes once more, as happens where a catalogue changes while it is read.
        if after >= low and len(items) == limit:
            items = [shop.products[after]] + items[:-1]
            last = items[-1]["price"]
            shop.count("repeated")
        more = any(p["price"] > last for p in wanted)
        shop.count("pages")
        self.answer(200, {"products": items, "next": str(last) if more else None, "total": len(wanted)})

    def log_message(self, format, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # who asked was killed while it waited


class Shop:
    def __init__(self, options):
        self.options = options
        self.products = catalogue(options.products)
        self.crashed = pathlib.Path(options.directory) / "crashed"
        self.lock = threading.Lock()
        self.number = self.busy = 0
        self.file = pathlib.Path(options.directory) / "stats.json"
        self.stats = json.loads(self.file.read_text()) if self.file.exists() else {
            "pages": 0, "throttled": 0, "repeated": 0}

    def begin(self):
        with self.lock:
            self.number += 1
            self.busy += 1
            return self.number, self.busy

    def end(self):
        with self.lock:
            self.busy -= 1

    def count(self, what):
        with self.lock:
            self.stats[what] += 1
            # Written aside and renamed: a crash in the middle must not leave half a file.
            fresh = self.file.with_suffix(".new")
            fresh.write_text(json.dumps(self.stats))
            fresh.replace(self.file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("directory")
    parser.add_argument("--products", type=int, default=2000)
    parser.add_argument("--slow-ms", type=int, default=300)
    parser.add_argument("--busy-max", type=int, default=5)
    parser.add_argument("--crash-at", type=int, default=25)
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Catalogue)
    server.shop = Shop(options)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
