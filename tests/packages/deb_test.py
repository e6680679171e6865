"""The packages of make deb, in a Debian root with nothing else: install, work, compile against the library, remove. Prints TAP.

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

    def call(self, *command, **kwargs):
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              text=True, check=False, timeout=SECONDS_MAX, **kwargs)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-6000:]}")
        return done.stdout

    def inside(self, text):
        return self.call("unshare", "--mount", "sh", "-c", ENTER, self.root, text)

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pawl-deb-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.root = self.dir / "root"
        made = os.environ.get("PAWL_TEST_ROOT")
        if made:
            self.call("cp", "-a", made, self.root)
        else:
            archive = self.call("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Codename: bookworm").split()
            self.call("debootstrap", "--variant=minbase", "bookworm", self.root, *archive[:1])
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")

    def test_packages(self):
        debs = os.environ.get("PAWL_TEST_DEBS")
        if not debs:
            self.call("make", "-C", SOURCE, "deb", env={**os.environ, "MAKEFLAGS": ""})
            debs = SOURCE / "build-deb"
        (self.root / "debs").mkdir()
        for path in pathlib.Path(debs).glob("*.deb"):
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


if __name__ == "__main__":
    missing = [name for name in ("debootstrap", "unshare", "dpkg-buildpackage", "lintian") if not shutil.which(name)]
    if missing or os.getuid() != 0:
        print(f"1..0 # SKIP needs root and {', '.join(missing) or 'nothing else'} (tools/deps all)")
        sys.exit(cli_support.SKIP_CODE)
    print("1..1", flush=True)
    result = cli_support.TapResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(DebTest).run(result)
    sys.exit(1 if result.failed else 0)
