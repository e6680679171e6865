#!/usr/bin/env python3
"""The static site of the documentation: whole, without another host, and alive in a browser from file://. Prints TAP.

Usage: site_test.py ROOT [browser]

Without `browser` the pages are read as they are written; with it, Chromium opens them (skipped when there is none).
"""
import html
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "tests" / "integration"))
import cli_support  # noqa: E402 (found by the line above)

VOID = {"meta", "link", "img", "input", "br"}
SECONDS_MAX = 120
NARROW = 400
# What a browser is asked, in the page: whether it is wider than the window, and which elements are the reason.
WIDE = """<script>addEventListener('load', () => { document.documentElement.dataset.wide = [...document.querySelectorAll('body *')]
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre, .wide, #site_pages, .skip, #site_found'))
  .map((e) => e.tagName + ' ' + e.textContent.slice(0, 40)).join('; '); });</script></head>"""


class Reader(html.parser.HTMLParser):
    """Anchors and links of a page; every element must be closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.code, self.faults = [], set(), [], [], []
        self.feed(text)
        self.faults += [f"not closed: {tag}" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in values:
            if values["id"] in self.ids:
                self.faults.append(f"twice: {values['id']}")
            self.ids.add(values["id"])
        self.links += [(tag, values[name]) for name in ("href", "src") if name in values]
        if tag == "pre":
            self.code.append("")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"closed out of turn: {tag} in line {self.getpos()[0]}")

    def handle_data(self, data):
        if "pre" in self.open:
            self.code[-1] += data


class SiteTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="pawl-site-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        subprocess.run([sys.executable, "-B", ROOT / "tools" / "site" / "build.py", cls.dir], check=True, stdout=subprocess.DEVNULL, timeout=SECONDS_MAX)
        cls.pages = {path.name: Reader(path.read_text(encoding="utf-8")) for path in cls.dir.glob("*.html")}


class Written(SiteTest):

    def test_pages_are_whole(self):
        self.assertEqual([f"{name}: {fault}" for name, page in self.pages.items() for fault in page.faults], [])
        wanted = {f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md")} - {"README.html"} | {"index.html", "contents.html"}
        self.assertEqual(wanted - set(self.pages), set())

    def test_links(self):
        dead = []
        for name, page in self.pages.items():
            for tag, target in page.links:
                file, _, anchor = target.partition("#")
                if re.match(r"\w+:", target):
                    self.assertEqual(tag, "a", f"{name} takes {target} from another host")
                elif not (self.dir / (file or name)).is_file() or (anchor and anchor not in self.pages[file or name].ids):
                    dead.append(f"{name}: {target}")
        self.assertEqual(dead, [])
        for asset in ("style.css", "site.js"):
            self.assertNotRegex((self.dir / asset).read_text(encoding="utf-8"), r"https?://|@import|url\(")

    def test_code_is_as_it_was_written(self):
        """Colouring changes no character: the blocks of a page are in it."""
        for name in ("tutorial", "handlers", "sql"):
            text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
            fenced = [block.strip("\n") for block in re.findall(r"^```\w*[^\n]*\n(.*?)^```", text, re.M | re.S)]
            self.assertEqual([block for block in fenced if block not in self.pages[f"{name}.html"].code], [])

    def test_every_word_is_there(self):
        """No text of a table or a paragraph gets lost, and no mark of Markdown is left."""
        for path in (ROOT / "docs").glob("*.md"):
            if path.name == "README.md":
                continue
            shown = (self.dir / f"{path.stem}.html").read_text(encoding="utf-8")
            shown = re.sub(r"<pre.*?</pre>", " ", re.search("<article>(.*)</article>", shown, re.S).group(1), flags=re.S)
            said = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<code>.*?</code>", "", shown, flags=re.S)))
            self.assertNotRegex(said, r"\*\*|^\||\]\(|```|\0", path.name)
            source = re.sub(r"^```.*?^```|^    .*?$|<!--.*?-->|`[^`\n]*`|\[[^\]]*\]\([^)]*\)", " ", path.read_text(encoding="utf-8"), flags=re.M | re.S)
            self.assertEqual(set(re.findall(r"[A-Za-z]{4,}", source)) - set(re.findall(r"[A-Za-z]{4,}", said + re.sub(r"<[^>]+>", " ", shown))), set(), path.name)

    def test_search_has_every_section(self):
        rows = json.loads(re.fullmatch(r"window\.PAWL_PAGES = (.*);\n", (self.dir / "search.js").read_text(encoding="utf-8")).group(1))
        self.assertIn(["tutorial.html", "3-the-inbox-a-payment-once"], [[row[0], row[2]] for row in rows])
        for file, _, anchor, _, _ in rows:
            self.assertTrue(not anchor or anchor in self.pages[file].ids, f"{file}#{anchor}")


class Opened(SiteTest):

    def dom(self, name, query="", *more):
        with tempfile.TemporaryDirectory(prefix="pawl-chromium-", ignore_cleanup_errors=True) as profile:
            return subprocess.run([shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                                   "--virtual-time-budget=5000", "--dump-dom", *more, f"file://{self.dir}/{name}{query}"],
                                  check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=SECONDS_MAX).stdout

    def found(self, words):
        return re.search(r'<section id="site_found"(.*?)</section>', self.dom("index.html", "?q=" + words), re.S).group(1)

    def test_search(self):
        found = self.found("exactly+once")
        self.assertNotIn("hidden", found.split(">")[0])
        self.assertRegex(found, r'href="[\w-]+\.html#?[\w-]*"')
        self.assertIn("<mark>", found)
        self.assertEqual(re.search(r'href="([^"#]+)', self.found("upgrade")).group(1), "upgrading.html")  # another form of the word, and the title first
        self.assertIn("Nothing has", self.found("xyzzyplugh"))

    def test_no_page_is_wider_than_a_telephone(self):
        """Chromium's own window is not below 500 px wide, so a frame of that width holds the page."""
        wide = []
        for name in ("index.html", "tutorial.html", "worker.html", "protocol.html", "cli.html"):
            text = (self.dir / name).read_text(encoding="utf-8")
            (self.dir / "inner.html").write_text(text.replace("</head>", WIDE), encoding="utf-8")
            (self.dir / "outer.html").write_text(
                f'<iframe src="inner.html" width="{NARROW}" height="800"></iframe><script>addEventListener("message", () => 0);'
                "addEventListener('load', () => { const inner = document.querySelector('iframe').contentDocument;"
                "document.documentElement.dataset.wide = inner ? inner.documentElement.dataset.wide : 'no document'; });</script>", encoding="utf-8")
            found = re.search(r'data-wide="([^"]*)"', self.dom("outer.html", "", "--allow-file-access-from-files"))
            self.assertIsNotNone(found, name)
            wide += [f"{name}: {found.group(1)}"] if found.group(1) else []
        self.assertEqual(wide, [])


if __name__ == "__main__":
    opened = "browser" in sys.argv[2:]
    if opened and not shutil.which("chromium"):
        print("1..0 # SKIP no chromium (tools/deps all)")
        sys.exit(cli_support.SKIP_CODE)
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(Opened if opened else Written)
    print(f"1..{tests.countTestCases()}", flush=True)
    result = cli_support.TapResult()
    tests.run(result)
    sys.exit(1 if result.failed else 0)
