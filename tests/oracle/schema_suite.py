#!/usr/bin/env python3
"""Runs the official JSON Schema test suite of Debian's libtest-json-schema-acceptance-perl.

Usage: schema_suite.py TOOL [--verbose]
Drafts 2020-12 and draft-07, with the optional groups. Documents that tests refer to are given to the compiler; nothing is
fetched. The metaschemas come from python3-jsonschema. Prints the counts, and TAP with one case per file.
"""
import json
import pathlib
import subprocess
import sys

SUITE = pathlib.Path("/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance")
META = pathlib.Path("/usr/lib/python3/dist-packages/jsonschema/schemas")

# What is not supported, and why: (file, group) → reason; a group of None is the whole file.
UNSUPPORTED = {
    ("optional/format/idn-hostname.json", None): "the rules of IDNA2008 need Unicode tables; the format is not checked",
    ("optional/cross-draft.json", None): "refers to a schema of a third draft (2019-09)",
}


def documents():
    for path in sorted((SUITE / "remotes").rglob("*.json")):
        yield "http://localhost:1234/" + str(path.relative_to(SUITE / "remotes")), json.loads(path.read_text())
    yield "http://json-schema.org/draft-07/schema", json.loads((META / "draft7.json").read_text())
    yield "https://json-schema.org/draft/2020-12/schema", json.loads((META / "draft2020-12.json").read_text())
    vocabularies = json.loads((META / "vocabularies.json").read_text())
    for schema in vocabularies.get("draft2020-12", vocabularies).values():
        if isinstance(schema, dict) and "2020-12" in schema.get("$id", ""):
            yield schema["$id"], schema


def cases(draft):
    base = SUITE / "tests" / draft
    for path in sorted(base.rglob("*.json")):
        yield str(path.relative_to(base)), json.loads(path.read_text())


def main():
    lines, wanted = [], []
    for uri, schema in documents():
        lines.append(["document", uri, schema])
        wanted.append(("document", uri))
    for draft in ("draft2020-12", "draft7"):
        for name, groups in cases(draft):
            for group in groups:
                formats = name.startswith(("optional/format/", "optional/content", "optional/ecmascript-regex"))
                lines.append(["schema", draft == "draft7", formats, group["schema"]])
                wanted.append(("schema", draft, name, group["description"]))
                for test in group["tests"]:
                    lines.append(["value", test["data"]])
                    wanted.append(("value", draft, name, group["description"], test["description"], test["valid"]))
    text = "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines)
    done = subprocess.run([sys.argv[1]], input=text, capture_output=True, text=True, timeout=200, check=False)
    answers = done.stdout.split("\n")[:-1]
    if done.returncode != 0 or len(answers) != len(wanted):
        print(done.stderr[-3000:])
        print(f"Bail out! {len(answers)} of {len(wanted)} answers")
        return 1
    totals, files = {}, {}
    for want, answer in zip(wanted, answers):
        if want[0] == "document" and answer != "ok":
            print(f"# document {want[1]}: {answer}")
        if want[0] == "schema" and answer != "ok" and "--verbose" in sys.argv:
            print(f"# {want[1]} {want[2]}: {want[3]}: {answer}")
        if want[0] != "value":
            continue
        _, draft, name, group, test, valid = want
        reason = UNSUPPORTED.get((name, None)) or UNSUPPORTED.get((name, group))
        kind = "unsupported" if reason else "optional" if name.startswith("optional/") else "required"
        good = answer.split(" ")[0] == ("valid" if valid else "invalid")
        count = totals.setdefault((draft, kind), [0, 0])
        count[0] += good
        count[1] += 1
        if not reason:
            file = files.setdefault(f"{draft}/{name}", [0, 0])
            file[0] += good
            file[1] += 1
            if not good:
                print(f"# {draft}/{name}: {group}: {test}: should be {valid}: {answer}")
    for (draft, kind), (good, count) in sorted(totals.items()):
        print(f"# {draft} {kind}: {good} of {count}")
    for (name, group), reason in UNSUPPORTED.items():
        print(f"# unsupported: {name}{' ' + group if group else ''}: {reason}")
    print(f"1..{len(files)}")
    for number, (name, (good, count)) in enumerate(files.items(), 1):
        print(f"{'ok' if good == count else 'not ok'} {number} - {name} {good}/{count}")
    return 0 if all(good == count for good, count in files.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
