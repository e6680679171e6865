"""The library's binary interface: exported functions and the layout of public structures, compared with their description. Prints TAP.

Usage: abi_test.py LIBRARY SOURCE
       with PAWL_WRITE_ABI=1 in the environment the description is written, not compared

The description (abi/libpawl.abi, made by abidw from the debug information) is that of this tree: any difference fails until it is renewed,
so that a change is made on purpose. If there is a tag v*, the library is also compared with the description of the last one: an incompatible
difference fails, and needs another soname.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[2]).resolve()
STORED = pathlib.Path("tests/packages/abi/libpawl.abi")
INCOMPATIBLE, CHANGED = 8, 4  # bits of abidiff's exit code
SKIP_CODE, SECONDS_MAX = 77, 120


def run(*command):
    return subprocess.run([str(word) for word in command], cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=SECONDS_MAX)


def compare(stored, now, bits):
    done = run("abidiff", stored, now)
    return None if not done.returncode & bits and not done.returncode & 3 else done.stdout


def main():
    if not shutil.which("abidw"):
        print("1..0 # SKIP needs abidw (tools/deps all)")
        return SKIP_CODE
    with tempfile.TemporaryDirectory(prefix="pawl-abi-") as folder:
        now, old = pathlib.Path(folder, "now.abi"), pathlib.Path(folder, "old.abi")
        described = run("abidw", "--exported-interfaces-only", "--headers-dir", "include", "--drop-private-types", "--no-corpus-path", "--no-comp-dir-path",
                        "--no-show-locs", "--out-file", now, pathlib.Path(sys.argv[1]).resolve())
        if described.returncode != 0:
            sys.exit(described.stdout)
        if os.environ.get("PAWL_WRITE_ABI"):
            shutil.copy(now, SOURCE / STORED)
            return 0
        cases = [("as_it_is_described", compare(STORED, now, INCOMPATIBLE | CHANGED), "if it is meant: PAWL_WRITE_ABI=1 with the same arguments")]
        tag = run("git", "describe", "--tags", "--abbrev=0", "--match", "v*")
        if tag.returncode == 0:
            shown = run("git", "show", f"{tag.stdout.strip()}:{STORED}")
            if shown.returncode == 0:
                old.write_text(shown.stdout, encoding="utf-8")
                cases.append(("compatible_with_" + tag.stdout.strip(), compare(old, now, INCOMPATIBLE), "programs linked with it would break: change the soname"))
    print(f"1..{len(cases)}")
    for number, (name, wrong, what) in enumerate(cases, 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - Abi.{name}")
        if wrong:
            print("# " + what + "\n# " + wrong.replace("\n", "\n# "))
    return 1 if any(wrong for _, wrong, _ in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
