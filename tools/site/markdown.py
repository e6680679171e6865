"""The Markdown that this project's pages use, as HTML: headings, paragraphs, lists, tables, code, images, links, emphasis."""
import html
import re

import highlight

ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")
LANGUAGES = {"mjs": "js", "mts": "js", "js": "js", "py": "python", "c": "c", "h": "c", "sql": "sql", "json": "json", "yaml": "yaml", "sh": "sh",
             "ini": "ini", "handlers": "ini", "service": "ini"}


def slug(heading):
    """The anchor that GitHub makes of a heading; tests/integration/docs_test.py knows the same rule."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def plain(text):
    """A line without its marks, for titles and the search."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*\*?|`|\\(?=[|*_])", "", text)


class Page:
    """One page: `html`, `title`, `headings` as (level, anchor, text), and `sections` as (anchor, text) for the search."""

    def __init__(self, text, link):
        """link(target) says where a target leads in the site."""
        self.link, self.headings, self.sections, self.anchors = link, [], [["", []]], {}
        self.title = ""
        self.html = "\n".join(self.blocks(text.split("\n")))

    # Blocks

    def blocks(self, lines, tight=False):
        made, at, kind = [], 0, ""
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
            elif line.lstrip().startswith("<!--"):
                mark = re.fullmatch(r"<!-- example: (.*) -->", line)
                kind = mark.group(1) if mark else ""
                while "-->" not in lines[at]:
                    at += 1
                at += 1
            elif line.startswith("```"):
                end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("```")), len(lines))
                made.append(self.code(lines[at + 1:end], line[3:].split(" ")[0] or "", kind))
                at, kind = end + 1, ""
            elif line.startswith("    "):
                end = at
                while end < len(lines) and (lines[end].startswith("    ") or (not lines[end].strip() and any(
                        lines[n].startswith("    ") for n in range(end, min(end + 2, len(lines)))))):
                    end += 1
                made.append(self.code([text[4:] for text in lines[at:end]], "", kind or "sh"))
                at, kind = end, ""
            elif re.match(r"#{1,6} ", line):
                made.append(self.heading(line))
                at += 1
            elif line.startswith("|"):
                end = at
                while end < len(lines) and lines[end].startswith("|"):
                    end += 1
                made.append(self.table(lines[at:end]))
                at = end
            elif ITEM.match(line):
                at, text = self.list(lines, at)
                made.append(text)
            else:
                end = at
                while end < len(lines) and lines[end].strip() and not re.match(r"```|#{1,6} |\||<!--", lines[end]) and not (
                        end > at and ITEM.match(lines[end])):
                    end += 1
                text = " ".join(part.strip() for part in lines[at:end])
                self.say(text)
                made.append(self.inline(text) if tight else f"<p>{self.inline(text)}</p>")
                at = end
        return made

    def heading(self, line):
        marks, text = line.split(" ", 1)
        anchor = slug(text)
        self.anchors[anchor] = self.anchors.get(anchor, -1) + 1
        if self.anchors[anchor]:
            anchor = f"{anchor}-{self.anchors[anchor]}"
        level = len(marks)
        self.title = self.title or plain(text)
        self.headings.append((level, anchor, plain(text)))
        self.sections.append([anchor, [plain(text)]])
        return f'<h{level} id="{anchor}">{self.inline(text)} <a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a></h{level}>'

    def list(self, lines, at):
        indent = len(ITEM.match(lines[at]).group(1))
        tag = "ol" if lines[at].lstrip()[0].isdigit() else "ul"
        made = []
        while at < len(lines):
            match = ITEM.match(lines[at])
            if not match or len(match.group(1)) != indent:
                break
            body = [match.group(3)]
            inner = len(lines[at]) - len(match.group(3))
            at += 1
            while at < len(lines):
                line = lines[at]
                deeper = len(line) - len(line.lstrip()) > indent
                if not line.strip():
                    after = next((text for text in lines[at:] if text.strip()), "")
                    if not len(after) - len(after.lstrip()) > indent:
                        break
                elif not deeper and (ITEM.match(line) or re.match(r"```|#{1,6} |\||<!--", line)):
                    break
                body.append(line[min(inner, len(line) - len(line.lstrip())):])
                at += 1
            made.append(f"<li>{' '.join(self.blocks(body, tight=True))}</li>")
            while at < len(lines) and not lines[at].strip() and any(ITEM.match(text) for text in lines[at + 1:at + 2]):
                at += 1
        return at, f"<{tag}>{''.join(made)}</{tag}>"

    def table(self, lines):
        rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:].rstrip("|") if not line.endswith("\\|")
                                                                       else line.strip()[1:])] for line in lines]
        marks = rows[1]
        align = [' class="number"' if mark.endswith(":") else "" for mark in marks] + [""] * 20
        for row in [rows[0], *rows[2:]]:
            self.say(" ".join(row))
        line = lambda row, tag: "<tr>" + "".join(f"<{tag}{align[n]}>{self.inline(cell)}</{tag}>" for n, cell in enumerate(row)) + "</tr>"
        head = f"<thead>{line(rows[0], 'th')}</thead>" if any(rows[0]) else ""
        return f'<div class="wide"><table>{head}<tbody>{"".join(line(row, "td") for row in rows[2:])}</tbody></table></div>'

    def code(self, lines, language, kind):
        text = "\n".join(lines).strip("\n")
        word, _, name = kind.partition(" ")
        caption = ""
        if word == "file":
            caption = f"<figcaption>{html.escape(name)}</figcaption>"
            language = language or LANGUAGES.get(name.rpartition(".")[2], "text")
        elif word == "output":
            caption, language = "<figcaption>prints</figcaption>", language or "text"
        elif word in ("text", "sql"):
            language = language or word
        if not language:
            language = "json" if text[:1] in "{[" else "sh"
        self.say(text)
        return f'<figure class="code {word}">{caption}<pre tabindex="0"><code>{highlight.html_of(text, language)}</code></pre></figure>'

    def say(self, text):
        self.sections[-1][1].append(plain(text))

    # Inside a line

    def inline(self, text):
        kept = []

        def keep(made):
            kept.append(made)
            return f"\0{len(kept) - 1}\0"

        text = re.sub(r"(`+)(.+?)\1(?!`)", lambda match: keep(f"<code>{html.escape(match.group(2).strip())}</code>"), text)
        text = re.sub(r"\\([\\`*_{}\[\]()#+.!|<>-])", lambda match: keep(html.escape(match.group(1))), text)
        text = html.escape(text, quote=False)
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", lambda match: keep(
            f'<img alt="{html.escape(match.group(1))}" src="{self.link(match.group(2))}" loading="lazy">'), text)
        text = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", lambda match: keep(f'<a href="{self.link(match.group(2))}">') + match.group(1) + keep("</a>"), text)
        text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"(?<![\w*])\*([^\s*](?:[^*]*[^\s*])?)\*(?![\w*])", r"<em>\1</em>", text)
        while "\0" in text:
            text = re.sub(r"\0(\d+)\0", lambda match: kept[int(match.group(1))], text)
        return text
