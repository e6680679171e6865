#!/usr/bin/env python3
"""A throw-away server is gone when its owner is, however the owner died. Prints TAP; 77 without PostgreSQL."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "pg-throwaway"
SECONDS_MAX = 15


def start(owner_pid):
    done = subprocess.run([sys.executable, TOOL, "start", "--owner-pid", str(owner_pid)], capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        print(done.stderr)
        sys.exit(77)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def alive(pid):
    try:
        return ") Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def eventually(condition):
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def owner_killed():
    owner = subprocess.Popen(["sleep", "600"])
    info = start(owner.pid)
    pid = int(info["pid"])
    assert alive(pid) and os.path.isdir(info["dir"])
    owner.kill()
    owner.wait()
    assert eventually(lambda: not alive(pid)), "the server lives on"
    assert eventually(lambda: not os.path.exists(info["dir"])), "the directory stays"


def stopped_on_request():
    info = start(os.getpid())
    done = subprocess.run([sys.executable, TOOL, "stop", info["dir"]], check=False)
    assert done.returncode == 0
    assert not os.path.exists(info["dir"]) and not alive(int(info["pid"]))


def supervisor_killed():
    info = start(os.getpid())
    supervisor = int(pathlib.Path(info["dir"], "supervisor.pid").read_text())
    os.kill(supervisor, signal.SIGKILL)
    assert eventually(lambda: not alive(int(info["pid"]))), "the server outlives its supervisor"
    shutil.rmtree(info["dir"], ignore_errors=True)


def main():
    cases = (owner_killed, stopped_on_request, supervisor_killed)
    failed = 0
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        try:
            case()
            print(f"ok {number} - {case.__name__}")
        except AssertionError as problem:
            failed += 1
            print(f"not ok {number} - {case.__name__}\n# {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
