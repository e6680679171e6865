"""Runs every example of README.md, docs/*.md and examples/*/README.md as it is written, page by page, each page in its own directory; follows every link. Prints TAP.

Usage: docs_test.py PAWL ROOT sqlite|postgres [PAGE]

An example is an indented or a fenced block; the commands of a page share its directory and its `export`s. A comment before it says
when it is something else than commands that must succeed:
    <!-- example: file NAME -->          it is written to NAME
    <!-- example: text -->               it shows something: a form, an answer, a picture
    <!-- example: output -->             what the commands before it printed; … stands for anything in a line, alone for any lines
    <!-- example: sql -->                statements for the SQLite file of the page
    <!-- example: postgres -->           commands that need PostgreSQL; they run there only
    <!-- example: not run, REASON -->    at most NOT_RUN_MAX of them in all
    <!-- query: ... -->                  operations_test.py runs it
    <!-- example setup, then commands, then --> in a line of its own: what the page takes for granted
    <!-- examples: fenced only, what they name may be absent -->    for the whole page: "not found" is an answer too
What does not end by itself (worker, up, server, monitor, --watch) is stopped with Ctrl-C once it works. ID is replaced by the last id that a command
printed. Addresses postgres://… are replaced by the test's; with SQLite such lines are left out.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import cli_support
from cli_support import SECONDS_MAX

PAWL, ROOT, DIALECT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
NOT_RUN_MAX = 4
ENDLESS = {"worker": "event=registered", "up": "event=registered", "server": "event=server_started", "monitor": ""}
FINDINGS = {"doctor": {1, 2}}  # it says what it found
LEFT_OUT = {"backup.md", "sqlite.md", "tutorial.md"} if DIALECT == "postgres" else set()
# Those whose commands need no more than pawl; tests/clients runs the others, example_rabbitmq that with a broker.
EXAMPLES = ["c", "perspectives", "mcp-pipeline", "agent", "catalogue", *(["rabbitmq"] if "BROKER_URL" in os.environ else [])]


def shows(wanted, said):
    """Whether an output is what the page shows: … is anything, blanks at the ends of lines do not count."""
    tidy = lambda text: [line.rstrip() for line in text.strip("\n").split("\n")]
    form = "".join(r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n" for line in tidy(wanted))
    return re.fullmatch(form, "\n".join(tidy(said)) + "\n") is not None


class Block:
    """One example: where it is, what it is, and its lines."""

    def __init__(self, line, kind, text, indented=False):
        self.line, self.kind, self.text, self.indented = line, kind, text, indented


def blocks_of(text):
    """Every example of a page, and the setups, in order."""
    found, kind, fence, lines = [], "", None, text.split("\n")
    block = None
    setup = None
    for number, line in enumerate(lines, 1):
        if setup is not None:
            if line == "-->":
                found.append(Block(number, "setup", "\n".join(setup)))
                setup = None
            else:
                setup.append(line)
        elif line == "<!-- example setup":
            setup = []
        elif fence is not None:
            if line == "```":
                found.append(Block(number, kind or fence, "\n".join(block)))
                fence, kind, block = None, "", None
            else:
                block.append(line)
        elif line.startswith("```"):
            fence, block = line[3:] or "sh", []
        elif line.startswith("    ") and (block is not None or not lines[number - 2].strip() or lines[number - 2].startswith("<!--")):
            block = (block or []) + [line[4:]]
        elif block is not None and not line.strip() and number < len(lines) and lines[number].startswith("    "):
            block.append("")
        else:
            if block is not None:
                found.append(Block(number, kind or "sh", "\n".join(block), True))
                block, kind = None, ""
            marked = re.fullmatch(r"<!-- (?:example: (.*)|(query: .*)) -->", line)
            if marked:
                kind = marked.group(1) or "query"
            elif line.strip():
                kind = ""
    return found


def commands_of(text):
    """Lines, with those that go on joined."""
    return [line for line in text.replace("\\\n", " ").split("\n") if line.strip() and not line.lstrip().startswith("#")]


class Page(unittest.TestCase):

    def __init__(self, path):
        super().__init__()
        self.path = path

    def id(self):
        return f"Docs.{self.path.relative_to(ROOT)}"

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pawl-docs-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        (self.dir / "bin").mkdir()
        (self.dir / "bin" / "pawl").symlink_to(PAWL)
        (self.dir / "build").symlink_to(self.dir / "bin")
        (self.dir / "examples").symlink_to(ROOT / "examples")
        if self.path.parent.parent == ROOT / "examples":
            shutil.copytree(self.path.parent, self.dir, dirs_exist_ok=True)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("PAWL_", "WORKER_", "DATABASE_URL"))}
        self.env.update(PATH=f"{self.dir}/bin:{os.environ['PATH']}", XDG_STATE_HOME=str(self.dir / "state"),
                        PAWL_LISTEN="127.0.0.1:0", ASAN_OPTIONS="exitcode=99", UBSAN_OPTIONS="exitcode=99", SOURCE=str(ROOT))
        self.compiler()
        if DIALECT == "postgres":
            self.env["DATABASE_URL"] = cli_support.Setup.pg_url
            if self.path != ROOT / "README.md":  # whose SQL names the schema
                self.env["PAWL_SCHEMA"] = "docs_" + re.sub(r"\W", "_", self.path.stem.lower())
        self.last_id = "01890a5d-ac96-774b-bcce-b302099a8057"
        self.fine = {0}
        self.said = ""  # by the commands of the last block

    def compiler(self):
        """pkg-config and the loader find the library of this build; if that has sanitizers, so have the examples."""
        build = pathlib.Path(PAWL).parent
        if not (build / "libpawl.so").exists():  # an installed pawl: cc and pkg-config are the system's
            return
        needed = subprocess.run(["readelf", "-d", build / "libpawl.so"], stdout=subprocess.PIPE, text=True, check=True).stdout
        extra = "-fsanitize=address,undefined" if "libasan" in needed else ""
        (self.dir / "bin" / "cc").write_text(f'#!/bin/sh\nexec {shutil.which("cc")} -I{ROOT}/include {extra} "$@"\n')
        (self.dir / "bin" / "cc").chmod(0o755)
        self.env.update(PKG_CONFIG_PATH=str(build / "meson-uninstalled"), LD_LIBRARY_PATH=str(build))

    def runTest(self):
        text = self.path.read_text(encoding="utf-8")
        loose = "<!-- examples: fenced only, what they name may be absent -->" in text
        self.fine = {0, 66} if loose else {0}
        for block in blocks_of(text):
            if loose and block.indented and block.kind == "sh":
                continue
            where = f"{self.path.name}:{block.line}"
            kind, _, rest = block.kind.partition(" ")
            if kind == "file":
                (self.dir / rest).parent.mkdir(parents=True, exist_ok=True)
                (self.dir / rest).write_text(block.text + "\n", encoding="utf-8")
            elif kind == "setup":
                self.bash(where, "set -e\n" + block.text, {0})
            elif kind == "sql":
                if DIALECT == "sqlite":
                    self.bash(where, f"sqlite3 -bail pawl.db {shlex.quote(block.text)}", {0})
            elif kind == "sh" or (kind == "postgres" and DIALECT == "postgres"):
                self.said = ""
                for line in commands_of(block.text):
                    self.command(where, line)
            elif kind == "output":
                self.assertTrue(shows(block.text, self.said), f"{where} shows\n{block.text}\nbut it was\n{self.said}")
            else:
                self.assertIn(kind, ("text", "not", "query", "postgres"), f"{where}: {block.kind}")

    def command(self, where, line):
        exported = re.fullmatch(r"export (\w+)=(\S+)(\s+#.*)?", line)
        if re.search(r"postgres(ql)?://", line):
            if DIALECT == "sqlite":
                return
            line = re.sub(r"postgres(ql)?://[^\s'\"]*", cli_support.Setup.pg_url, line)
        if exported:
            if not (DIALECT == "postgres" and exported.group(1) == "DATABASE_URL"):
                self.env[exported.group(1)] = exported.group(2).strip("'\"")
            return
        line = re.sub(r"\bID\b", str(self.last_id), line)
        words = re.match(r"(?:\w+=\S+ )*(?:build/)?pawl (\w+)", line)
        if "--watch" in line:
            self.endless(where, line, None)
        elif words and words.group(1) in ENDLESS and not re.search("--until-idle|--looks", line):
            self.endless(where, line, ENDLESS[words.group(1)])
        else:
            said = self.bash(where, line, self.fine | FINDINGS.get(words.group(1) if words else "", set()))
            self.said += said
            try:
                self.last_id = str(json.loads(said)["id"])
            except (ValueError, KeyError, TypeError):
                pass

    def bash(self, where, line, fine):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS_MAX, check=False)
        self.assertIn(done.returncode, fine, f"{where}: {line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout

    def endless(self, where, line, works):
        with open(self.dir / "endless.log", "w+", encoding="utf-8") as log:
            process = subprocess.Popen(["bash", "-c", line], cwd=self.dir, env=self.env,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            said = lambda: (self.dir / "endless.log").read_text(encoding="utf-8", errors="replace")
            end = time.monotonic() + SECONDS_MAX
            try:
                while works is not None and (works not in said() or not said()):
                    self.assertIsNone(process.poll(), f"{where}: {line}\n{said()}")
                    self.assertLess(time.monotonic(), end, f"{where}: {line}\n{said()}")
                    time.sleep(0.05)
                while works is None and process.poll() is None and not said():  # it follows something: the first line of it
                    self.assertLess(time.monotonic(), end, f"{where}: {line}")
                    time.sleep(0.05)
                time.sleep(0.3)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGINT)
                code = process.wait(SECONDS_MAX)
            self.assertIn(code, {-signal.SIGINT, 128 + signal.SIGINT} | self.fine, f"{where}: {line}\n{said()}")


class Marks(unittest.TestCase):

    def id(self):
        return "Docs.few_examples_are_not_run"

    def runTest(self):
        marked = [f"{path.name}:{block.line}: {block.kind}" for path in pages() for block in blocks_of(path.read_text(encoding="utf-8"))
                  if block.kind.startswith("not run")]
        self.assertLessEqual(len(marked), NOT_RUN_MAX, marked)
        self.assertEqual([mark for mark in marked if not re.search(r"not run, \w", mark)], [])


class Links(unittest.TestCase):

    def id(self):
        return "Docs.every_link_leads_somewhere"

    @staticmethod
    def anchors(path):
        """As GitHub makes them of headings."""
        headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def runTest(self):
        tracked = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
        dead, reached = [], set()
        for page in map(ROOT.joinpath, filter(None, tracked.split("\0"))):
            prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
            for target in re.findall(r"\]\(([^)\s]+)\)", prose):
                name, _, anchor = target.partition("#")
                path = (page.parent / name).resolve() if name else page
                if re.match(r"https?:", target):
                    continue
                if not path.exists() or (anchor and anchor not in self.anchors(path)):
                    dead.append(f"{page.relative_to(ROOT)}: {target}")
                if page == ROOT / "docs" / "README.md":
                    reached.add(path)
        self.assertEqual(dead, [])
        self.assertEqual({path for path in (ROOT / "docs").glob("*.md")} - reached, {ROOT / "docs" / "README.md"}, "pages that the index lacks")


class Record(unittest.TestCase):
    """What docs/track-record.md says holds a fault is there: a file of the tests, with the name in it."""

    def runTest(self):
        rows = re.findall(r"^\| .* \| `([\w/.]+)`: `(\w[\w-]*)` \| [\w, ]+ \|$", (ROOT / "docs" / "track-record.md").read_text(encoding="utf-8"), re.M)
        self.assertGreater(len(rows), 30)
        missing = [f"{path}: {name}" for path, name in rows if not (ROOT / path).is_file() or name not in (ROOT / path).read_text(encoding="utf-8")]
        self.assertEqual(missing, [])


def pages():
    found = [path for path in sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")]) if path.name not in LEFT_OUT]
    return found + [ROOT / "examples" / name / "README.md" for name in EXAMPLES if DIALECT == "sqlite"]


def own_database():
    """The examples make tables under common names: they get a database of their own on the run's server."""
    cli_support.Setup.root = ROOT
    server = cli_support.start_postgres()
    if not server:
        print("1..0 # SKIP no PostgreSQL here")
        sys.exit(cli_support.SKIP_CODE)
    name = f"docs_{os.getpid()}"
    subprocess.run(["psql", "-q", "-d", server, "-c", f"CREATE DATABASE {name}"], check=True, timeout=SECONDS_MAX)
    cli_support.Setup.pg_url = re.sub(r"/[^/]*$", f"/{name}", server)


if __name__ == "__main__":
    if DIALECT == "postgres":
        own_database()
    wanted = sys.argv[4] if len(sys.argv) > 4 else ""
    tests = unittest.TestSuite([page for page in [*map(Page, pages()), Marks(), Links(), Record()] if wanted in page.id()])
    print(f"1..{tests.countTestCases()}", flush=True)
    result = cli_support.TapResult()
    tests.run(result)
    sys.exit(1 if result.failed else 0)
