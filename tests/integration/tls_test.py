#!/usr/bin/env python3
"""The program over TLS to a real server: the right certificate, a stranger's, and another host's name. Prints TAP.

Usage: tls_test.py PAWL SOURCE_ROOT; exit code 77 without PostgreSQL or openssl.
"""
import grp
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile

PAWL, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXIT_UNAVAILABLE = 69


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def authority(folder, name):
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout",
            f"{folder}/{name}.key", "-out", f"{folder}/{name}.crt")


def server_certificate(folder):
    """For localhost and nothing else."""
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", f"{folder}/server.key", "-out",
            f"{folder}/server.csr")
    pathlib.Path(f"{folder}/names").write_text("subjectAltName=DNS:localhost\n", encoding="ascii")
    openssl("x509", "-req", "-in", f"{folder}/server.csr", "-CA", f"{folder}/ours.crt", "-CAkey", f"{folder}/ours.key",
            "-CAcreateserial", "-days", "2", "-extfile", f"{folder}/names", "-out", f"{folder}/server.crt")
    os.chmod(f"{folder}/server.key", 0o600)
    if os.getuid() == 0:  # the server runs as an ordinary user
        user = pwd.getpwnam("postgres")
        for path in (folder, f"{folder}/server.key", f"{folder}/server.crt"):
            os.chown(path, user.pw_uid, grp.getgrgid(user.pw_gid).gr_gid)
    os.chmod(folder, 0o755)


def start(folder):
    command = [sys.executable, ROOT / "tools" / "pg-throwaway", "start", "--owner-pid", str(os.getpid()), "--set", "ssl=on",
               "--set", f"ssl_cert_file={folder}/server.crt", "--set", f"ssl_key_file={folder}/server.key"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        sys.exit(77)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def migrate(url, **environment):
    return subprocess.run([PAWL, "migrate", "-o", "json"], capture_output=True, text=True, check=False,
                          env={**os.environ, "DATABASE_URL": url, **environment}, timeout=60)


def main():
    if shutil.which("openssl") is None:
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="pawl-tls-")
    authority(folder, "ours")
    authority(folder, "strangers")
    server_certificate(folder)
    info = start(folder)
    url = info["url"].replace("127.0.0.1", "localhost")
    by_address = info["url"]

    def verified():
        done = migrate(f"{url}?sslmode=verify-full&sslrootcert={folder}/ours.crt")
        assert done.returncode == 0, done.stderr

    def stranger_refused():
        done = migrate(f"{url}?sslmode=verify-full&sslrootcert={folder}/strangers.crt")
        assert done.returncode == EXIT_UNAVAILABLE, done
        assert "certificate" in done.stderr, done.stderr

    def wrong_name_refused():
        done = migrate(f"{by_address}?sslmode=verify-full&sslrootcert={folder}/ours.crt")
        assert done.returncode == EXIT_UNAVAILABLE, done
        assert "does not match host name" in done.stderr or "certificate" in done.stderr, done.stderr

    def secret_from_environment():
        done = migrate(f"{url}?sslmode=verify-full&sslrootcert={folder}/strangers.crt", PGPASSWORD="hunter2")
        assert "hunter2" not in done.stdout + done.stderr

    # covers: J51
    cases = [("a verified server is used", verified), ("a stranger's certificate is refused", stranger_refused),
             ("a certificate for another name is refused", wrong_name_refused),
             ("a password of the environment is not shown", secret_from_environment)]
    print(f"1..{len(cases)}")
    failed = 0
    for number, (name, case) in enumerate(cases, 1):
        try:
            case()
            print(f"ok {number} - {name}")
        except AssertionError as fault:
            failed += 1
            print(f"# {fault}")
            print(f"not ok {number} - {name}")
    subprocess.run([sys.executable, ROOT / "tools" / "pg-throwaway", "stop", info["dir"]], check=False)
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


main()
