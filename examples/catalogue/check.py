#!/usr/bin/env python3
"""Consolidates the import: every product of the shop is in the table, once, as the shop has it.

Reads {"products": N, "items": N} from its input, and the rows of the table from the database that
CATALOGUE_DATABASE names. Exit code 65 (never again) when something is missing.
"""
import json
import os
import sqlite3
import subprocess
import sys

import server


def rows():
    query = "SELECT sku, name, price, stock FROM product ORDER BY sku"
    address = os.environ["CATALOGUE_DATABASE"]
    if not address.startswith("postgres"):
        return [tuple(row) for row in sqlite3.connect(address, timeout=10).execute(query)]
    done = subprocess.run(["psql", "-qAtX", "-F", "\t", "-d", address, "-c", query], check=True, capture_output=True,
                          text=True)
    split = [line.split("\t") for line in done.stdout.splitlines()]
    return [(sku, name, int(price), int(stock)) for sku, name, price, stock in split]


def main():
    told = json.load(sys.stdin)
    expected = sorted((p["sku"], p["name"], p["price"], p["stock"]) for p in server.catalogue(told["products"]))
    if rows() != expected:
        print(f"the table has {len(rows())} products, the shop {len(expected)}, or they differ", file=sys.stderr)
        sys.exit(65)
    print(json.dumps({"checked": len(expected)}))


if __name__ == "__main__":
    main()
