#!/usr/bin/env python3
"""The manual page and the completions of the shells, which the program makes from its table of commands.

Usage: completion_test.py PAWL HELPER ROOT sqlite [NAME]
"""
import os
import re
import shutil
import subprocess
import sys

from cli_support import CliTest, Setup, main

SECONDS_MAX = 60


def shell(name, *args, stdin=""):
    """The scripts ask the program `pawl`, so it is on the path."""
    env = dict(os.environ, PATH=os.path.dirname(os.path.abspath(Setup.pawl)) + os.pathsep + os.environ["PATH"])
    return subprocess.run([name, *args], input=stdin, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS_MAX, check=False)


class ManualPage(CliTest):
    def page(self):
        result = self.run_pawl("help", "man")
        self.assertEqual((result.code, result.err), (0, ""), result)
        return result.out

    def test_names_everything(self):
        page = self.page()
        for line in self.run_pawl("help", "markdown").out.splitlines():
            if line.startswith("### pawl "):
                self.assertIn(f'.SS "{line[4:]}'.replace("-", "\\-"), page)
        for text in (".SH EXIT STATUS", ".SH ENVIRONMENT", "\\fBDATABASE_URL", "\\-\\-database\\-url"):
            self.assertIn(text, page)
        self.assertTrue(page.isascii())

    def test_mandoc_has_nothing_to_say(self):
        if shutil.which("mandoc") is None:
            self.skipTest("mandoc is not installed")
        (self.dir / "pawl.1").write_text(self.page(), encoding="utf-8")
        done = shell("mandoc", "-T", "lint", "-W", "warning", str(self.dir / "pawl.1"))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        text = re.sub(".\b", "", shell("mandoc", "-T", "utf8", str(self.dir / "pawl.1")).stdout)
        for line in ("pawl message retry", "--database-url", "EXIT STATUS"):
            self.assertTrue(line in text, line)

    def test_groff_has_nothing_to_say(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        done = shell("groff", "-man", "-ww", "-z", "-K", "utf8", stdin=self.page())
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Completion(CliTest):
    def script(self, name):
        result = self.run_pawl("help", "completion", name)
        self.assertEqual((result.code, result.err), (0, ""), result)
        path = self.dir / f"completion.{name}"
        path.write_text(result.out, encoding="utf-8")
        return path

    def bash(self, *words):
        """What bash would offer for the last word."""
        quoted = " ".join("'" + word + "'" for word in ("pawl",) + words)
        text = (f"source {self.script('bash')}\nCOMP_WORDS=({quoted})\nCOMP_CWORD={len(words)}\n_pawl\n"
                'printf "%s\\n" "${COMPREPLY[@]}"\n')
        done = shell("bash", "--norc", "-u", "-c", text)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("sen"), ["send"])
        self.assertEqual(self.bash("message", "retr"), ["retry"])
        self.assertEqual(self.bash("-o", "json", "message", "de"), ["delete"])
        self.assertEqual(self.bash("--output", "=", "json", "message", "de"), ["delete"])
        self.assertEqual(self.bash("status", "-o", "nd"), ["ndjson"])
        self.assertEqual(self.bash("status", "--output", "=", "w"), ["wide"])
        self.assertEqual(self.bash("message", "list", "--ki"), ["--kind"])
        self.assertEqual(self.bash("send", "order.created", "--strea"), ["--stream"])
        self.assertIn("outbox", self.bash("message", "list", "--kind", ""))
        self.assertEqual(self.bash("help", "completion", "f"), ["fish"])
        self.assertEqual(self.bash("help", "message", "retr"), ["retry"])
        self.assertEqual(self.bash("xyzzy", ""), [])
        self.assertNotIn("--stream", self.bash("version", "--"))
        self.assertIn("--database-url", self.bash("version", "--"))

    def test_bash_offers_every_first_word(self):
        firsts = {line.split()[2] for line in self.run_pawl("help", "markdown").out.splitlines()
                  if line.startswith("### pawl ")}
        self.assertEqual(set(self.bash("")), firsts)

    def test_zsh_reads_it(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed (make test-all installs it)")
        path = self.script("zsh")
        self.assertTrue(path.read_text(encoding="utf-8").startswith("#compdef pawl\n"))
        done = shell("zsh", "-f", "-n", str(path))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        # The function run by hand, with stand-ins for the calls that need a terminal.
        text = ('fake_show() { print -rl -- "${(@P)1}"; }\n_describe() { fake_show "${@[-1]}"; }\n'
                '_files() { print files; }\n_message() { print "$@"; }\ncompadd() { shift; print -rl -- "$@"; }\n'
                'compdef() { :; }\n'
                f"source {path}\nwords=(pawl message re)\nCURRENT=3\n_pawl\n"
                "words=(pawl status -o n)\nCURRENT=4\n_pawl\nwords=(pawl send T --s)\nCURRENT=4\n_pawl\n")
        done = shell("zsh", "-f", "-c", text)
        self.assertEqual(done.returncode, 0, done.stdout)
        names = [line.split(":")[0] for line in done.stdout.splitlines()]
        for name in ("retry", "ndjson", "--stream", "--schema"):
            self.assertIn(name, names)

    def test_fish_completes(self):
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed (make test-all installs it)")
        path = self.script("fish")
        done = shell("fish", "--no-config", "--no-execute", str(path))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        for line, wanted in (("pawl sen", "send"), ("pawl message retr", "retry"), ("pawl -o json message del", "delete"),
                             ("pawl status -o nd", "ndjson"), ("pawl send T --strea", "--stream"),
                             ("pawl help completion ba", "bash"), ("pawl help message retr", "retry")):
            with self.subTest(line=line):
                done = shell("fish", "--no-config", "-c", f"source {path}; complete -C '{line}'")
                self.assertEqual([row.split("\t")[0] for row in done.stdout.splitlines()], [wanted], done.stdout)

    def test_unknown_shell(self):
        self.refused(64, "bash, zsh or fish", "help", "completion")
        self.refused(64, 'the shell "tcsh"', "help", "completion", "tcsh")


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
