#!/usr/bin/env python3
"""Writes a table of store operations that call the real ones through SWEPT (sweep.h), from src/store/operations.

Usage: wrap.py OPERATIONS_DIR OUTPUT
"""
import pathlib
import re
import sys

# The header, the member of struct store_ops, and whether it is a pointer.
GROUPS = {"core": "core", "view": "view", "events": "events", "relay": "relay", "jobs": "jobs", "runs": "runs", "alerts": "alerts"}
POINTERS = ("relay", "jobs", "runs", "alerts")
# Those with a request key: after PAWL_UNKNOWN the same call is made again.
KEYED = {("core", "messages_put"), ("core", "messages_claim"), ("core", "batch_process"), ("events", "checkpoints_claim"),
         ("jobs", "enqueue"), ("jobs", "claim")}
STRUCT = re.compile(r"const (struct \w+)")
OPERATION = re.compile(r"^(OPERATION|LISTS)\((\w+),\s*(.*?)\)$", re.M | re.S)


def parameters(kind, rest):
    """The parameters after the store: `const struct x *in, struct arena *arena, …`."""
    if kind == "OPERATION":
        return " ".join(rest.split())
    depth = 0
    for at, char in enumerate(rest):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return " ".join(rest[1:at].split())
    raise SystemExit(f"wrap.py: no end of {rest}")


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    names, functions, tables = [], [], []
    for group, member in GROUPS.items():
        text = re.sub(r"/\*.*?\*/", "", (folder / f"{group}.h").read_text(encoding="utf-8"), flags=re.S)
        arrow = "->" if group in POINTERS else "."
        rows = []
        for kind, name, rest in OPERATION.findall(text):
            params = parameters(kind, rest)
            given = ", ".join(re.search(r"(\w+)$", part.strip())[1] for part in params.split(","))
            keyed = (group, name) in KEYED
            key = "!uuid_is_nil(in->request)" if keyed else "false"
            given_key = f"    {STRUCT.match(params)[1]} with_key = *in;\n" \
                "    sweep_give_key(&with_key.request);\n    in = &with_key;\n" if keyed else ""
            functions.append(f"static pawl_status swept_{group}_{name}(struct store *store, {params}) {{\n{given_key}"
                             f"    SWEPT(store, {len(names)}, {key}, sweep_real(store)->ops->{member}{arrow}{name}(sweep_real(store), {given}));\n}}\n")
            names.append(f'    "{group}.{name}",')
            rows.append(f"    .{name} = swept_{group}_{name},")
        tables.append(f"static const struct store_{group}_ops swept_{group} = {{\n" + "\n".join(rows) + "\n};\n")
    output.write_text(f"enum {{ SWEPT_OPERATIONS = {len(names)} }};\nstatic const char *const swept_names[SWEPT_OPERATIONS] = {{\n"
                      + "\n".join(names) + "\n};\n" + "".join(functions) + "".join(tables), encoding="utf-8")


if __name__ == "__main__":
    main()
