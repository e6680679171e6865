"""Colours for code: comments, strings, numbers, words of the language and names that are called, as spans of HTML."""
import html
import re

WORDS = {
    "c": "auto bool break case char const continue default do double else enum extern false float for goto if inline int long NULL return short "
         "signed sizeof static struct switch true typedef union unsigned void volatile while int64_t uint64_t int32_t uint32_t uint8_t size_t",
    "js": "async await break case catch class const continue delete do else export extends false finally for from function if import in "
          "instanceof interface let new null of private public readonly return static switch this throw true try type typeof undefined void while yield",
    "python": "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None "
              "nonlocal not or pass raise return True try while with yield",
    "sql": "add all and any array as asc begin between bigint boolean by call case check commit conflict constraint create cross current_user default "
           "delete desc distinct do drop else end exists extract false filter foreign from full function generated grant group having if immediate in "
           "index inner insert integer interval into is join json jsonb key language lateral left like limit listen locked not notify null numeric on "
           "or order outer over partition pragma primary references returning returns role rollback row rows schema select serial set setof skip "
           "table temp text then timestamptz to trigger true union unique update using uuid values view when where window with",
    "sh": "if then else elif fi for in do done while until case esac function return export local set unset cd exit",
    "json": "true false null", "yaml": "true false null", "ini": "", "http": "GET POST PUT DELETE PATCH",
}
STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
COMMENT = {"c": r"//[^\n]*|/\*.*?\*/", "js": r"//[^\n]*|/\*.*?\*/", "python": r"#[^\n]*", "sql": r"--[^\n]*|/\*.*?\*/",
           "sh": r"(?:(?<=\s)|^)#[^\n]*", "yaml": r"(?:(?<=\s)|^)#[^\n]*", "ini": r"^[#;][^\n]*"}
STRINGS = {"sql": r"'(?:''|[^'])*'|\$(\w*)\$.*?\$\1\$", "js": STRING + r"|`(?:\\.|[^`\\])*`", "python": r'"""(?:.*?)"""|' + STRING,
           "sh": r'"(?:\\.|[^"\\])*"|\'[^\']*\'', "ini": r"(?!)"}
EXTRA = {
    "c": r"(?P<option>^[ \t]*#[ \t]*\w+)",
    "sh": r"(?P<option>(?<=\s)--?[\w-]+)|(?P<call>(?:^|(?<=\n)|(?<=[|&;] )|(?<=\$\())[ \t]*(?:[A-Z_]+=\S+ )*(?:build/)?[a-z][\w./-]*)|(?P<name>\$\{?\w+\}?)",
    "ini": r"(?P<call>^\[[^\]\n]*\])|(?P<option>^[\w-]+(?= *=))", "yaml": r"(?P<option>^[ \t]*(?:- )?[\w.-]+(?=:))",
    "json": r'(?P<option>"(?:\\.|[^"\\\n])*"(?=\s*:))',
}
NUMBER, WORD = r"(?<![\w.])\d[\w.]*", r"[A-Za-z_]\w*"


def html_of(text, language):
    """The text as HTML; a language that is not known stays plain."""
    if language not in WORDS:
        return html.escape(text, quote=False)
    words = set(WORDS[language].split())
    parts = [EXTRA[language]] if language in EXTRA and language == "json" else []
    parts += [f"(?P<comment>{COMMENT[language]})"] if language in COMMENT else []
    parts.append(f"(?P<string>{STRINGS.get(language, STRING)})")
    parts += [EXTRA[language]] if language in EXTRA and language != "json" else []
    parts += [f"(?P<number>{NUMBER})", f"(?P<word>{WORD})"]
    # The dollar quote of SQL refers to its own group, whose number depends on what precedes it.
    pattern = re.compile("|".join(parts).replace(r"\$(\w*)\$.*?\$\1\$", r"\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"), re.S | re.M)
    made, at = [], 0
    for match in pattern.finditer(text):
        kind, said = match.lastgroup, match.group()
        if kind == "tag":
            kind = "string"
        if kind == "word":
            lower = said.lower() if language == "sql" else said
            kind = "word" if lower in words else "call" if text[match.end():match.end() + 1] == "(" and language not in ("sh", "json") else ""
        made.append(html.escape(text[at:match.start()], quote=False))
        made.append(f'<span class="{kind}">{html.escape(said, quote=False)}</span>' if kind else html.escape(said, quote=False))
        at = match.end()
    return "".join(made) + html.escape(text[at:], quote=False)
