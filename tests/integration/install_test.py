"""What make install leaves can be found, compiled against and run. Prints TAP.

Usage: install_test.py BUILD ROOT CC...
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import cli_support

BUILD, ROOT, CC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
PROGRAM = """
#include <pawl.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    pawl_store_config config = {.url = argv[argc - 1]};
    pawl_error err;
    pawl_store *store = NULL;
    if (pawl_migrate(&config, &err) != PAWL_OK || pawl_open(&config, &store, &err) != PAWL_OK) {
        fprintf(stderr, "%s\\n", err.text);
        return 1;
    }
    pawl_close(store);
    pawl_uuid id, again;
    char text[PAWL_UUID_TEXT_BYTES];
    if (strcmp(pawl_version(), PAWL_VERSION) != 0 || pawl_version_number() != PAWL_VERSION_NUMBER ||
        pawl_uuid_new(&id, &err) != PAWL_OK || !pawl_uuid_parse(pawl_text(pawl_uuid_format(id, text)), &again) ||
        memcmp(&id, &again, sizeof id) != 0)
        return 2;
    puts(pawl_status_name(PAWL_OK));
    return 0;
}
"""
OTHER = """
project('other', 'c')
library = shared_library('other', 'other.c', install: true)
import('pkgconfig').generate(library, name: 'other', description: 'a library of one number', version: '1')
"""
OTHER_PROGRAM = "int other(void);\nint main(void) { return other() == 7 ? 0 : 1; }\n"


class Install(unittest.TestCase):

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pawl-install-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def run_all(self, *command, **env):
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env={**os.environ, **{key: str(value) for key, value in env.items()}}, timeout=cli_support.SECONDS_MAX)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def compile(self, text, package, pc_dir, sysroot=""):
        """A program made from what pkg-config says, and nothing else."""
        source, program = self.dir / "program.c", self.dir / "program"
        source.write_text(text)
        flags = self.run_all("pkg-config", "--cflags", "--libs", package, PKG_CONFIG_LIBDIR=pc_dir, PKG_CONFIG_SYSROOT_DIR=sysroot)
        self.run_all(*CC, source, "-o", program, *flags.split())
        return program

    def test_a_program_runs_with_the_installed_library(self):
        """Below DESTDIR, as a package is made, with the directories that the build has."""
        text = self.run_all("meson", "introspect", BUILD, "--buildoptions")
        options = {option["name"]: option["value"] for option in cli_support.json.loads(text)}
        prefix, libdir = options["prefix"], options["libdir"]
        self.run_all(ROOT / "tools" / "install", BUILD, prefix, libdir, self.dir / "root")
        top = self.dir / "root" / prefix.lstrip("/")
        self.assertIn(f"prefix={prefix}\n", (top / libdir / "pkgconfig" / "pawl.pc").read_text())
        program = self.compile(PROGRAM, "pawl", top / libdir / "pkgconfig", self.dir / "root")
        said = self.run_all(program, self.dir / "work.db", LD_LIBRARY_PATH=top / libdir)
        self.assertEqual(said, "ok\n")
        listed = self.run_all(top / "bin" / "pawl", "message", "list", "-o", "json", "--database-url", self.dir / "work.db")
        self.assertEqual(listed.strip(), "[]")
        self.only_the_api_is_visible(top / libdir / "libpawl.so.0")
        transports = cli_support.json.loads(self.run_all(top / "bin" / "pawl", "transport", "list", "-o", "json"))
        self.assertEqual({row["transport"]: row["reason"] for row in transports}["amqp"],
                         f"the transport amqp is not installed in {prefix}/{libdir}/pawl: install the package pawl-transports")
        self.run_all(ROOT / "tools" / "uninstall", BUILD, prefix, libdir, self.dir / "root")
        self.assertEqual([path for path in (self.dir / "root").rglob("*") if not path.is_dir()], [])
        self.assertFalse((top / libdir / "pawl").exists())

    def only_the_api_is_visible(self, library):
        """Every symbol is declared in a public header and carries the version of the interface, and the reverse."""
        said = self.run_all("nm", "-D", "--defined-only", library).split("\n")
        symbols = {line.split()[-1] for line in said if line.split()[-2:-1] == ["T"]}
        headers = "".join(path.read_text() for path in (ROOT / "include").glob("*.h"))
        declared = set(re.findall(r"PAWL_API[^;(]*?\b(pawl_\w+)\(", headers))
        self.assertEqual(symbols, {f"{name}@@PAWL_0" for name in declared})

    def test_another_prefix_than_that_of_the_build(self):
        """PREFIX counts when it is given, not when the build directory was made."""
        source, build = self.dir / "source", self.dir / "build"
        source.mkdir()
        (source / "meson.build").write_text(OTHER)
        (source / "other.c").write_text("int other(void);\nint other(void) { return 7; }\n")
        self.run_all("meson", "setup", build, source, "--prefix=/usr/local", "--libdir=lib",
                     CC=" ".join(word for word in CC if not word.startswith("-")))
        self.run_all("ninja", "-C", build)
        for prefix, libdir, destdir in ((self.dir / "first", "lib", ""), (self.dir / "second", "lib/there", ""),
                                        (pathlib.Path("/usr"), "lib/there", self.dir / "stage")):
            said = self.run_all(ROOT / "tools" / "install", build, prefix, libdir, destdir)
            top = pathlib.Path(str(destdir) + str(prefix))
            self.assertIn(f"installed into {top}\n", said)
            if not destdir:
                self.assertIn(f"LD_LIBRARY_PATH={top / libdir}\n", said)
                self.assertIn(f"PKG_CONFIG_PATH={top / libdir}/pkgconfig\n", said)
            program = self.compile(OTHER_PROGRAM, "other", top / libdir / "pkgconfig", destdir)
            self.run_all(program, LD_LIBRARY_PATH=top / libdir)


if __name__ == "__main__":
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    print(f"1..{tests.countTestCases()}", flush=True)
    result = cli_support.TapResult()
    tests.run(result)
    sys.exit(1 if result.failed else 0)
