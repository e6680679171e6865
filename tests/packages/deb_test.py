"""The packages of make deb, in a Debian root with nothing else: install, work, compile against the library, remove; and the steps of the
Containerfile, which installs them, in such a root. Prints TAP.

Usage: deb_test.py SOURCE

PAWL_TEST_ROOT names a root from debootstrap to copy instead of making one; PAWL_TEST_DEBS a directory of packages to take.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "integration"))
import cli_support  # noqa: E402  pylint: disable=wrong-import-position

SECONDS_MAX = 1200
PACKAGES = {"pawl", "pawl-transports", "libpawl0", "libpawl-dev"}
# A root has its own view of processes, and the devices of this machine.
ENTER = ('mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" /usr/bin/env -i HOME=/root '
         'PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -ec "$1"')
PROGRAM = """
#include <pawl.h>
int main(void) {
    pawl_store_config config = {.url = "/tmp/api.db"};
    pawl_error err;
    pawl_store *store = 0;
    pawl_outgoing message = {.type = pawl_text("order.created"), .payload = pawl_text("{}")};
    return pawl_migrate(&config, &err) != PAWL_OK || pawl_open(&config, &store, &err) != PAWL_OK ||
           pawl_send(store, 0, &message, 1, 0, &err) != PAWL_OK;
}
"""


class DebTest(unittest.TestCase):

    @staticmethod
    def call(*command, **kwargs):
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              text=True, check=False, timeout=SECONDS_MAX, **kwargs)
        if done.returncode != 0:
            raise AssertionError(f"{command}\n{done.stdout[-6000:]}")
        return done.stdout

    def inside(self, text):
        return self.call("unshare", "--mount", "sh", "-c", ENTER, self.root, text)

    @classmethod
    def setUpClass(cls):
        """The packages, and a root that each test copies."""
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="pawl-deb-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.made = os.environ.get("PAWL_TEST_ROOT") or cls.dir / "made"
        if not os.environ.get("PAWL_TEST_ROOT"):
            archive = cls.call("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Codename: bookworm").split()
            cls.call("debootstrap", "--variant=minbase", "bookworm", cls.made, *archive[:1])
        cls.debs = os.environ.get("PAWL_TEST_DEBS")
        if not cls.debs:
            cls.call("make", "-C", SOURCE, "deb", env={**os.environ, "MAKEFLAGS": ""})
            cls.debs = SOURCE / "build-deb"

    def setUp(self):
        self.root = self.dir / self.id().rpartition(".")[2]
        self.call("cp", "-a", self.made, self.root)
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")

    def test_packages(self):
        (self.root / "debs").mkdir()
        for path in pathlib.Path(self.debs).glob("*.deb"):
            if path.name.split("_")[0] in PACKAGES:
                shutil.copy(path, self.root / "debs")
        self.assertEqual({path.name.split("_")[0] for path in (self.root / "debs").iterdir()}, PACKAGES)

        self.inside("apt-get update -qq; apt-get install -qq -y --no-install-recommends /debs/pawl_*.deb")
        version = re.search(r"version: '(.*)'", (SOURCE / "meson.build").read_text()).group(1)
        self.assertEqual(self.inside("pawl --version"), f"pawl {version}\n")
        self.inside("getent passwd _pawl; test -e /lib/systemd/system/pawl-worker@.service")
        self.inside("cd /tmp; export DATABASE_URL=/tmp/pawl.db; pawl migrate; pawl send order.created '{}' --stream a;"
                    "pawl worker --on '*=exec:tee /tmp/got' --until-idle; grep -q order.created /tmp/got")
        self.assertIn("install the package pawl-transports", self.inside("pawl transport list -o json"))

        self.inside("apt-get install -qq -y --no-install-recommends /debs/*.deb gcc libc6-dev pkg-config")
        listed = cli_support.json.loads(self.inside("pawl transport list -o json"))
        self.assertEqual([row["transport"] for row in listed if not row["available"]], [])
        (self.root / "tmp" / "program.c").write_text(PROGRAM)
        self.inside("cd /tmp; cc -Wall -Werror program.c -o program $(pkg-config --cflags --libs pawl); ./program;"
                    "DATABASE_URL=api.db pawl message list -o json | grep -q order.created")

        self.inside("apt-get purge -qq -y pawl pawl-transports libpawl0 libpawl-dev")
        self.assertEqual(self.inside("find /usr /lib /etc -xdev -name '*pawl*' -not -path '/debs/*'"), "")

    def test_containerfile(self):
        """COPY, RUN, ENV, USER, WORKDIR, ENTRYPOINT and CMD, in their order; the base image is the root of the test."""
        text = (SOURCE / "Containerfile").read_text(encoding="utf-8").replace("\\\n", "")
        steps = re.findall(r"^([A-Z]+) (.*)$", text, re.M)
        self.assertEqual([what for word, what in steps if word == "FROM"], ["debian:bookworm-slim"])
        kept = {"WORKDIR": "/", "USER": "root"}
        environment = []
        for word, what in steps:
            if word == "COPY":
                *sources, target = what.split()
                folder = self.root / target.strip("/")
                folder.mkdir(parents=True)
                for pattern in sources:
                    found = list(pathlib.Path(self.debs).glob(pattern.removeprefix("build-deb/")))
                    self.assertEqual(len(found), 1, pattern)
                    shutil.copy(found[0], folder)
            elif word == "RUN":
                self.inside(f"cd {kept['WORKDIR']}; {what}")
            elif word == "ENV":
                environment += what.split()
            else:
                kept[word] = what
        self.assertEqual(list((self.root / "var/lib/apt/lists").iterdir()), [])
        words = [*cli_support.json.loads(kept["ENTRYPOINT"]), *cli_support.json.loads(kept["CMD"])]
        start = f"cd {kept['WORKDIR']} && exec setpriv --reuid {kept['USER']} --regid {kept['USER']} --clear-groups env {' '.join(environment)}"
        self.inside(f"{start} PAWL_LISTEN=127.0.0.1:0 timeout --preserve-status -s {kept['STOPSIGNAL'].removeprefix('SIG')} 5 {' '.join(words)} 2>/tmp/log")
        log = (self.root / "tmp" / "log").read_text(encoding="utf-8")
        self.assertIn("event=server_started", log)
        self.assertIn("event=stopped", log)
        self.assertEqual((self.root / "var/lib/pawl/pawl.db").stat().st_mode & 0o777, 0o600)


if __name__ == "__main__":
    missing = [name for name in ("debootstrap", "unshare", "dpkg-buildpackage", "lintian") if not shutil.which(name)]
    if missing or os.getuid() != 0:
        print(f"1..0 # SKIP needs root and {', '.join(missing) or 'nothing else'} (tools/deps all)")
        sys.exit(cli_support.SKIP_CODE)
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(DebTest)
    print(f"1..{tests.countTestCases()}", flush=True)
    result = cli_support.TapResult()
    tests.run(result)
    sys.exit(1 if result.failed else 0)
