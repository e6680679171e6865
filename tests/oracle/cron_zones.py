#!/usr/bin/env python3
"""Judges our zones and cron ticks by walking through time with Python's zoneinfo.

Usage: cron_zones.py TOOL [--all]
For every change of a zone's offset from 2000 to 2037, and twelve schedules, the ticks around the change must be those
that the rule of docs/schedules.md gives when it is followed minute by minute. Offsets are compared at random instants.
--all: every zone of the system; otherwise a selection. Prints TAP.
"""
import calendar
import datetime
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import zoneinfo

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1)
FROM = calendar.timegm((2000, 1, 1, 0, 0, 0))
UNTIL = calendar.timegm((2038, 1, 1, 0, 0, 0))
SOME = """Europe/Berlin Europe/Dublin America/New_York America/St_Johns America/Caracas America/Sao_Paulo Australia/Lord_Howe
Australia/Sydney Pacific/Apia Pacific/Chatham Pacific/Kiritimati Africa/Casablanca Africa/Cairo Africa/Juba Asia/Gaza Asia/Tehran
Asia/Pyongyang Asia/Kathmandu Asia/Colombo Antarctica/Troll Antarctica/Casey America/Nuuk Asia/Kolkata UTC""".split()


def offset(zone, at):
    return int(datetime.datetime.fromtimestamp(at, zone).utcoffset().total_seconds())


def changes(zone, step=6 * 3600):
    """Instants at which the offset changes, found by looking every six hours."""
    before = offset(zone, FROM)
    for at in range(FROM + step, UNTIL + step, step):
        now = offset(zone, at)
        if now != before:
            low, high = at - step, at
            while high - low > 1:
                middle = (low + high) // 2
                if offset(zone, middle) == before:
                    low = middle
                else:
                    high = middle
            yield high, before, offset(zone, high)
            before = now


class Shape:
    """A schedule as a test on a naive wall time, and as the text that our parser reads."""

    def __init__(self, text, minute, hour, day=lambda d: True):
        self.text, self.minute, self.hour, self.day = text, minute, hour, day
        self.fixed = not all(hour(h) for h in range(24))

    def matches(self, wall):
        return self.minute(wall.minute) and self.hour(wall.hour) and self.day(wall)


def at_time(wall):
    return Shape(f"{wall.minute} {wall.hour} * * *", lambda m: m == wall.minute, lambda h: h == wall.hour)


def is_last_sunday(date):
    return date.isoweekday() == 7 and date.day + 7 > calendar.monthrange(date.year, date.month)[1]


def shapes(first, last):
    """Twelve; first and last are the wall times between which the clock jumped or went back."""
    every = lambda _: True
    return [
        Shape("* * * * *", every, every),
        Shape("*/15 * * * *", lambda m: m % 15 == 0, every),
        Shape("17 * * * *", lambda m: m == 17, every),
        Shape("*/5 2 * * *", lambda m: m % 5 == 0, lambda h: h == 2),
        Shape("0 0 * * *", lambda m: m == 0, lambda h: h == 0),
        Shape("30 1-3 * * *", lambda m: m == 30, lambda h: 1 <= h <= 3),
        Shape("*/20 */2 * * *", lambda m: m % 20 == 0, lambda h: h % 2 == 0),
        Shape("0,59 22-1 * * *", lambda m: m in (0, 59), lambda h: h in (22, 23, 0, 1)),
        Shape("0 2 * * SUNL", lambda m: m == 0, lambda h: h == 2, is_last_sunday),
        at_time(first),
        at_time(first + (last - first) / 2 // datetime.timedelta(minutes=1) * datetime.timedelta(minutes=1)),
        at_time(last),
    ]


def walk(walls, start, shape):
    """The ticks by the rule, minute by minute; walls[i] is what the clock shows at start + 60 i."""
    minute = datetime.timedelta(minutes=1)
    ticks, highest = [], walls[0] - minute
    for i, wall in enumerate(walls):
        if not shape.fixed:
            ticked = shape.matches(wall)
        else:
            ticked = False
            while highest < wall:
                highest += minute
                ticked = ticked or shape.matches(highest)
        if ticked:
            ticks.append(start + 60 * i)
    return ticks


class Tool:
    def __init__(self, path):
        self.path, self.questions = path, []

    def ask(self, question):
        self.questions.append(question)

    def answers(self):
        done = subprocess.run([self.path], input="\n".join(self.questions) + "\n", capture_output=True, text=True,
                              timeout=3000, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return done.stdout.split("\n")[:-1]


def main():
    tool, some = Tool(sys.argv[1]), "--all" not in sys.argv
    names = SOME if some else sorted(n for n in zoneinfo.available_timezones() if n != "localtime")
    random.seed(6)
    expected, seen, walked = [], {}, {}
    transitions = 0
    for name in names:
        zone = zoneinfo.ZoneInfo(name)
        for _ in range(200):
            at = random.randrange(-2000000000, 16000000000)
            tool.ask(f"offset {name} {at} 0")
            expected.append(str(offset(zone, at)))
        # Zones with the same file have the same changes: find them once, judge each name.
        path = next(pathlib.Path(p) / name for p in zoneinfo.TZPATH if (pathlib.Path(p) / name).exists())
        print_of = hashlib.sha256(path.read_bytes()).digest()
        if print_of not in seen:
            seen[print_of] = list(changes(zone))
        for at, before, after in seen[print_of]:
            transitions += 1
            start, end = at - 5 * 3600 - abs(after - before), at + 30 * 3600 + abs(after - before)
            offsets = tuple((t - at, offset(zone, t)) for t in range(start, end, 900))
            first = EPOCH + datetime.timedelta(seconds=at + min(before, after))
            last = EPOCH + datetime.timedelta(seconds=at + max(before, after))
            key = (at + before, tuple(o - before for _, o in offsets), at % 900)
            if key not in walked:
                walls = [EPOCH + datetime.timedelta(seconds=t + offset(zone, t)) for t in range(start, end, 60)]
                walked[key] = [(s.text, [t - at for t in walk(walls, start, s)]) for s in shapes(first, last)]
            for text, ticks in walked[key]:
                tool.ask(f"range {name} {start} {end} {text}")
                expected.append(" ".join(str(at + t) for t in ticks))
    answers = tool.answers()
    missed = doubled = wrong = 0
    for question, want, got in zip(tool.questions, expected, answers):
        if want != got:
            wrong += 1
            missed += len(set(want.split()) - set(got.split()))
            doubled += len(set(got.split()) - set(want.split()))
            if wrong <= 10:
                print(f"# {question}\n#   want {want}\n#   got  {got}")
    ranges = sum(q.startswith("range") for q in tool.questions)
    print(f"# cron: zones={len(names)} transitions={transitions} shapes=12 compared={ranges} "
          f"ticks={sum(len(e.split()) for e, q in zip(expected, tool.questions) if q.startswith('range'))} "
          f"missed={missed} doubled={doubled} offsets={len(expected) - ranges}")
    print("figures: " + json.dumps({"zones": len(names), "zone_changes": transitions, "ranges": ranges, "violations": wrong}))
    good = wrong == 0 and len(answers) == len(expected) and ranges == transitions * 12 and transitions > 0
    print("1..1")
    print(("ok" if good else "not ok") + " 1 - offsets and ticks around every change are those of the rule")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
