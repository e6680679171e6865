#!/usr/bin/env python3
"""Makes a static site of the documentation: every page that README.md and docs/README.md lead to, with navigation and search.

Usage: build.py DIRECTORY

The parts of the navigation are the sections of docs/README.md, their pages its links, in that order. The site needs no server and no other host.
"""
import html
import json
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

import highlight
from markdown import LANGUAGES, Page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOME, INDEX = "README.md", "docs/README.md"
NAMES = {HOME: "index.html", INDEX: "contents.html"}
BYTES_MAX = 400_000  # of a file that is shown as it is
FILE_LINK = re.compile(r'<a href="([^"#]+)(#[^"]*)?">[\w./-]+\.md</a>')


def name_of(path):
    """The file of a page: the site is flat, so every link is a name."""
    if path in NAMES:
        return NAMES[path]
    stem = path.removeprefix("docs/").removesuffix("/").removesuffix("/README.md")
    return (stem.removesuffix(".md") if path.endswith(".md") else stem).replace("/", "-") + ".html"


class Site:

    def __init__(self, out):
        self.out, self.pages, self.images = out, {}, set()
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False).stdout.split("\0")
        self.files = [name for name in tracked if name and (ROOT / name).exists()] or [
            str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and "build" not in path.parts[len(ROOT.parts)]]
        self.parts = self.read_parts()
        waiting = [HOME, INDEX]
        while waiting:
            path = waiting.pop(0)
            if path not in self.pages:
                waiting += self.read(path)

    def read_parts(self):
        """[(title, [path])] of the index."""
        parts = []
        for section in re.split(r"^## ", (ROOT / INDEX).read_text(encoding="utf-8"), flags=re.M)[1:]:
            targets = re.findall(r"\]\(([^)#\s]+)\)", section)
            paths = [posixpath.normpath(posixpath.join("docs", target)) for target in targets if not re.match(r"\w+:", target)]
            paths = [path + "/README.md" if (ROOT / path / "README.md").is_file() else path for path in paths]
            parts.append((section.split("\n")[0].split(":")[0], list(dict.fromkeys(paths))))
        return parts

    def read(self, path):
        """Reads one page; gives the paths that it leads to."""
        found = []

        def link(target):
            if re.match(r"\w+:", target):
                return html.escape(target)
            name, _, anchor = target.partition("#")
            to = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
            if (ROOT / to / "README.md").is_file():
                to += "/README.md"
            if to.endswith(".png"):
                self.images.add(to)
                return posixpath.basename(to)
            found.append(to)
            return name_of(to) + ("#" + anchor if anchor else "")

        file = ROOT / path
        if file.is_dir():
            inside = [name for name in self.files if posixpath.dirname(name) == path]
            title = lambda name: re.search(r"^# (.*)", (ROOT / name).read_text(encoding="utf-8"), re.M).group(1) if name.endswith(".md") else name
            text = f"# {posixpath.basename(path).capitalize()}\n\n" + "\n".join(
                f"- [{title(name)}]({posixpath.basename(path)}/{posixpath.basename(name)})" for name in inside)
            self.pages[path] = Page(text, link)
        elif path.endswith(".md"):
            self.pages[path] = Page(file.read_text(encoding="utf-8"), link)
        else:
            text = file.read_text(encoding="utf-8")
            if len(text) > BYTES_MAX:
                raise SystemExit(f"build.py: {path} is too long to show")
            page = Page(f"# {path}\n", link)
            page.html += f'<figure class="code"><pre tabindex="0"><code>{highlight.html_of(text, LANGUAGES.get(path.rpartition(".")[2], ""))}</code></pre></figure>'
            page.sections[-1][1].append(text)
            self.pages[path] = page
        return found

    def title(self, path):
        return "pawl" if path == HOME else "All pages" if path == INDEX else self.pages[path].title

    def named(self, match):
        """A link whose text is a file's name gets the page's title."""
        title = next(self.title(path) for path in self.pages if name_of(path) == match.group(1))
        return f'<a href="{match.group(1)}{match.group(2) or ""}">{html.escape(title)}</a>'

    def navigation(self, current):
        made = []
        for title, paths in self.parts:
            items = "".join(f'<li><a href="{name_of(path)}"{" aria-current=page" if path == current else ""}>{html.escape(self.title(path))}</a></li>'
                            for path in paths)
            made.append(f"<details{' open' if current in paths or current in (HOME, INDEX) else ''}><summary>{html.escape(title)}</summary><ul>{items}</ul></details>")
        return "".join(made)

    def around(self, current):
        """Links to the pages before and after this one."""
        order = [HOME, *dict.fromkeys(path for _, paths in self.parts for path in paths)]
        if current not in order:
            return ""
        at = order.index(current)
        ends = [("prev", "Previous", order[at - 1] if at else None), ("next", "Next", order[at + 1] if at + 1 < len(order) else None)]
        return '<nav class="around" aria-label="Previous and next page">' + "".join(
            f'<a rel="{rel}" href="{name_of(path)}"><small>{word}</small>{html.escape(self.title(path))}</a>' if path else "<span></span>"
            for rel, word, path in ends) + "</nav>"

    def contents(self, page):
        rows = [f'<li><a href="#{anchor}">{html.escape(text)}</a></li>' for level, anchor, text in page.headings if level == 2]
        return f'<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>{"".join(rows)}</ul></nav>' if len(rows) > 1 else ""

    def write(self):
        self.out.mkdir(parents=True, exist_ok=True)
        for old in self.out.iterdir():
            old.unlink()
        frame = (HERE / "page.html").read_text(encoding="utf-8")
        names = {}
        for path, page in self.pages.items():
            name = name_of(path)
            if names.setdefault(name, path) != path:
                raise SystemExit(f"build.py: {path} and {names[name]} have one name")
            part = next((title for title, paths in self.parts if path in paths), "")
            fill = {"title": html.escape(self.title(path)), "navigation": self.navigation(path), "body": page.html, "around": self.around(path),
                    "contents": self.contents(page), "part": html.escape(part)}
            text = re.sub(r"\{\{(\w+)\}\}", lambda match: fill[match.group(1)], frame)
            (self.out / name).write_text(FILE_LINK.sub(self.named, text), encoding="utf-8")
        rows = [[name_of(path), self.title(path), anchor, next((text for _, a, text in page.headings if a == anchor), ""), re.sub(r"\s+", " ", " ".join(said))]
                for path, page in self.pages.items() for anchor, said in page.sections if said and path != INDEX]
        (self.out / "search.js").write_text("window.PAWL_PAGES = " + json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + ";\n", encoding="utf-8")
        for asset in ("style.css", "site.js"):
            shutil.copy(HERE / asset, self.out)
        shutil.copy(ROOT / "web" / "icon.svg", self.out)
        for image in self.images:
            shutil.copy(ROOT / image, self.out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    site = Site(pathlib.Path(sys.argv[1]))
    site.write()
    print(f"{len(site.pages)} pages: {site.out / 'index.html'}")
