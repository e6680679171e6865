"""The server as a whole: starting, tokens, assets, the document of its routes.

Usage: server_test.py PAWL HELPER ROOT sqlite|postgres [NAME]
"""
import gzip
import os
import pty
import re
import stat
import subprocess
import sys

import server_support
from server_support import ServerTest, Setup


class ServerLifeTest(ServerTest):

    def test_tokens_are_made_once_and_private(self):
        self.start_server()
        path = self.dir / "state" / "pawl" / "http-tokens"
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(set(self.tokens), {"operator", "viewer", "worker"})
        self.assertNotIn(self.tokens["operator"], self.server_log())  # what is no terminal may be kept
        self.assertEqual(self.request("GET", "/healthz", role=None).body, b"ok\n")
        self.assertEqual(self.request("GET", "/readyz", role=None).body, b"ready\n")

    def test_a_terminal_is_told_the_operator_s_token_once(self):
        self.migrate()
        path = self.dir / "state" / "pawl" / "http-tokens"
        for first in (True, False):
            master, slave = pty.openpty()
            process = subprocess.Popen([Setup.pawl, "server", "--listen", "127.0.0.1:0"], stderr=slave, env=self.env, cwd=self.dir)
            self.addCleanup(self.stop_server, process)
            os.close(slave)
            said = b""
            while not re.search(rb"http://127.0.0.1:\d+/\S*\r?\n", said):
                said += os.read(master, 65536)
            self.server_log = lambda: ""  # there is none
            self.stop_server(process)
            os.close(master)
            token = re.search(r"operator = (\w+)", path.read_text()).group(1)
            self.assertEqual(f"#token={token}".encode() in said, first, said)

    def test_second_start_keeps_the_tokens_and_does_not_print_them(self):
        process = self.start_server()
        tokens = dict(self.tokens)
        self.stop_server(process)
        self.start_server(migrate=False)
        self.assertEqual(self.tokens, tokens)
        self.assertNotIn(tokens["operator"], self.server_log())

    def test_a_token_file_that_others_may_read_is_refused(self):
        process = self.start_server()
        self.stop_server(process)
        os.chmod(self.dir / "state" / "pawl" / "http-tokens", 0o644)
        result = self.run_pawl("server", "--listen", "127.0.0.1:0")
        self.assertEqual(result.code, 73, result)
        self.assertIn("chmod 600", result.err.splitlines()[-1], result)  # PostgreSQL: behind the line about the role

    def test_another_bind_needs_tls_or_a_proxy(self):
        self.migrate()
        self.refused(65, "--tls-cert", "server", "--listen", "0.0.0.0:0")
        self.refused(65, "--tls-key", "server", "--listen", "127.0.0.1:0", "--tls-cert", "x.pem")
        self.refused(65, "127.0.0.1:7295", "server", "--listen", "nowhere")
        self.refused(65, "https://pawl.example.org", "server", "--listen", "0.0.0.0:0", "--public-url", "pawl.example.org")
        self.refused(65, "unprotected", "server", "--listen", "0.0.0.0:0", "--public-url", "http://pawl.example.org")

    def test_assets_are_served_with_etag_and_gzip(self):
        self.start_server()
        plain = self.request("GET", "/", role=None)
        self.assertEqual(plain.status, 200, plain)
        self.assertTrue(plain.headers["Content-Security-Policy"].startswith("default-src 'none'"))
        self.assertEqual(plain.body, (Setup.root / "web" / "index.html").read_bytes())
        zipped = self.request("GET", "/ui/anything", role=None, headers={"Accept-Encoding": "gzip"})
        self.assertEqual(zipped.headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(zipped.body), plain.body)
        again = self.request("GET", "/", role=None, headers={"If-None-Match": plain.headers["ETag"]})
        self.assertEqual((again.status, again.body), (304, b""))
        self.problem(404, "no such route", "GET", "/nothing.js", role=None)
        refused = self.problem(405, "only be read", "POST", "/", role=None)
        self.assertEqual(refused.headers["Allow"], "GET, HEAD")


if __name__ == "__main__":
    sys.exit(server_support.main(sys.modules[__name__]))
