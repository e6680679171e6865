#!/usr/bin/env python3
"""Runs the page of examples/rabbitmq with a RabbitMQ: docs_test.py does it, this starts the broker. Exit code 77: there is none.

Usage: example_test.py PAWL ROOT
"""
import os
import pathlib
import subprocess
import sys

import brokers

SECONDS_MAX = 100


def main():
    pawl, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    broker = brokers.Rabbit()
    try:
        broker.start()
    except brokers.Missing as missing:
        print(missing)
        return 77
    try:
        done = subprocess.run([sys.executable, root / "tests/integration/docs_test.py", pawl, root, "sqlite", "examples/rabbitmq"],
                              env={**os.environ, "BROKER_URL": broker.url}, stdout=subprocess.PIPE, text=True, timeout=SECONDS_MAX, check=False)
        print(done.stdout)
        return 0 if done.returncode == 0 and "ok 1 - " in done.stdout else 1
    finally:
        broker.kill()
        broker.close()


if __name__ == "__main__":
    sys.exit(main())
