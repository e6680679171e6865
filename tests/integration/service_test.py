#!/usr/bin/env python3
"""What a service manager is told, and the units of the package. Prints TAP.

Usage: service_test.py PAWL HELPER ROOT sqlite
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import unittest

import cli_support
from cli_support import SECONDS_MAX, CliTest, Setup

UNITS = {"pawl-server.service": "pawl.pawl-server.service", "pawl-worker@.service": "pawl.pawl-worker@.service"}
EXPOSURE_MAX = 20  # tenths, as systemd-analyze counts them


class ServiceTest(CliTest):

    def notified(self, *command, abstract=False):
        """What the program says to NOTIFY_SOCKET: until two signs of life, and then until it has ended."""
        name = f"\0pawl-{os.getpid()}" if abstract else str(self.dir / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(name)
            manager.settimeout(SECONDS_MAX)
            env = {**self.env, "NOTIFY_SOCKET": name.replace("\0", "@"), "WATCHDOG_USEC": "100000"}
            with subprocess.Popen([Setup.pawl, *command], env=env, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                said = []
                while said.count("WATCHDOG=1") < 2:
                    said.append(manager.recv(100).decode())
                process.send_signal(signal.SIGTERM)
                while "STOPPING=1" not in said:
                    said.append(manager.recv(100).decode())
                self.assertEqual(process.wait(SECONDS_MAX), 0)
        return said

    def test_a_worker(self):
        self.migrate()
        said = self.notified("worker", "--on", "*=exec:true")
        self.assertEqual(said[0], "READY=1")
        self.assertEqual(said.count("READY=1"), 1)
        self.assertEqual(said.count("STOPPING=1"), 1)

    def test_a_server(self):
        said = self.notified("server", "--listen", "127.0.0.1:0", "--token-file", str(self.dir / "tokens"), abstract=True)
        self.assertEqual(said[0], "READY=1")
        self.assertEqual(said[-1], "STOPPING=1")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze here")
    def test_the_units_are_valid_and_hardened(self):
        for name, file in UNITS.items():
            text = (Setup.root / "debian" / file).read_text()
            (self.dir / name).write_text(text.replace("/usr/bin/pawl", Setup.pawl))
            for words in (["verify", "--man=no"], ["security", "--offline=true", f"--threshold={EXPOSURE_MAX}", "--no-pager"]):
                done = subprocess.run(["systemd-analyze", *words, self.dir / name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True, check=False, timeout=SECONDS_MAX)
                self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}")


if __name__ == "__main__":
    sys.exit(cli_support.main(sys.modules[__name__]))
