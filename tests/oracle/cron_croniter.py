#!/usr/bin/env python3
"""Compares our cron with Debian's python3-croniter on random expressions, and explains every difference.

Usage: cron_croniter.py TOOL [--count N]
Each expression is asked for its next four ticks. Where the two differ, a third reading of docs/schedules.md, a walk from
day to day written here, must agree with us, and the difference must belong to a class that is named below. The counts of
the classes are part of the test. Prints TAP.
"""
import calendar
import datetime
import json
import random
import subprocess
import sys

sys.path.append("/usr/lib/python3/dist-packages")
import croniter  # noqa: E402  (Debian's, also when another Python runs this)

TICKS = 4
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
DAYS = "SUN MON TUE WED THU FRI SAT".split()
FIELDS = [("second", 0, 59), ("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 6)]

# Class of difference → why it is one. A difference that fits none fails the test.
CLASSES = {
    "nth and day": "with a day of the month, croniter wants FRI#2 to match as well; either is enough by the rule of cron",
    "nth mixed": "croniter refuses a weekday list with and without #, or forgets what has none",
    "days skipped": "croniter jumps over a short month by a day that it lacks, and so over the days at its beginning",
    "weekday step to 7": "croniter runs 1/2 up to 7, which is Sunday; here a week ends on Saturday",
    "seven with seconds": "with a seconds field, croniter does not know that weekday 7, also in */1, is Sunday",
    "range wraps": "croniter refuses 22-3 and NOV-FEB",
    "step too large": "croniter takes a step that is longer than the field; here it is refused as a mistake",
    "never": "croniter accepts what never comes and fails when it is asked; here it is refused at once",
    "far": "croniter gives up after 50 years",
}
# How many of each there are with these seeds and croniter 1.3.5, which Debian 12 has.
COUNTS = {
    3000: {"nth and day": 125, "nth mixed": 241, "weekday step to 7": 32, "seven with seconds": 4, "range wraps": 130,
           "step too large": 79, "far": 2},
    100000: {"nth and day": 3802, "nth mixed": 8521, "days skipped": 60, "weekday step to 7": 735,
             "seven with seconds": 145, "range wraps": 4959, "step too large": 2897, "never": 40, "far": 154},
}


class Item:
    """One item of a field: its text and the values it stands for."""

    def __init__(self, text, values=(), nth=None, last=False, **traits):
        self.text, self.values, self.nth, self.last, self.traits = text, set(values), nth, last, traits


def word(field, value):
    if field == "month" and random.random() < 0.3:
        return random.choice([str.lower, str.upper, str.title])(MONTHS[value - 1])
    if field == "weekday" and random.random() < 0.3:
        return DAYS[value % 7].lower()
    return str(value)


def random_item(field, low, high):
    size = high - low + 1
    kind = random.random()
    step = random.randint(1, size) if random.random() < 0.98 else random.randint(size + 1, 2 * size)
    large = step > size
    if kind < 0.15:
        return Item(f"*/{step}", range(low, high + 1, step), large=large,
                    seven=field == "weekday" and 7 % step == 0)
    if kind < 0.30:
        value = random.randint(low, high)
        return Item(f"{word(field, value)}/{step}", range(value, high + 1, step), large=large,
                    to_seven=field == "weekday" and (7 - value) % step == 0)
    if kind < 0.55:
        first, last = random.randint(low, high), random.randint(low, high)
        if first > last and (field == "day" or random.random() < 0.9):
            first, last = last, first
        text, step = f"{word(field, first)}-{word(field, last)}", 1
        if random.random() < 0.4:
            step = random.randint(1, size)
            text += f"/{step}"
        end = last if last >= first else last + size
        return Item(text, {(v - low) % size + low for v in range(first, end + 1, step)}, wraps=first > last,
                    seven=field == "weekday" and first > last == 0)
    if field == "day" and kind < 0.65:
        return Item(random.choice("lL"), last=True)
    if field == "weekday" and kind < 0.75:
        value, nth = random.randint(low, high), random.randint(1, 6)
        if nth == 6:
            return Item(f"{value}L", nth=(value, "L"))
        return Item(f"{word(field, value)}#{nth}", nth=(value, nth))
    value = random.randint(low, high)
    if field == "weekday" and value == 0 and random.random() < 0.5:
        return Item("7", [0], seven=True)
    return Item(word(field, value), [value])


class Expression:
    def __init__(self):
        self.fields = []
        for name, low, high in FIELDS:
            if name == "second" and random.random() < 0.8:
                self.fields.append(None)
            elif random.random() < (0.4 if name in ("day", "month", "weekday") else 0.2):
                self.fields.append([Item("*", range(low, high + 1))])
            else:
                count = random.choice([1, 1, 1, 2, 3])
                self.fields.append([random_item(name, low, high) for _ in range(count)])

    def has(self, trait):
        return any(item.traits.get(trait) for field in self.fields if field for item in field)

    def ours(self):
        return " ".join(",".join(item.text for item in field) for field in self.fields if field)

    def theirs(self):
        """croniter has the seconds behind, and writes the last Friday L5."""
        order = self.fields[1:] + [self.fields[0]]
        fix = lambda item: f"L{item.nth[0]}" if item.nth and item.nth[1] == "L" else item.text
        return " ".join(",".join(fix(item) for item in field) for field in order if field)

    def values(self, index):
        field = self.fields[index]
        return {0} if field is None else set().union(*(item.values for item in field))

    def day_matches(self, date):
        length = calendar.monthrange(date.year, date.month)[1]
        weekday = date.isoweekday() % 7
        days, weekdays = self.values(3), self.values(5)
        by_day = date.day in days or (date.day == length and any(i.last for i in self.fields[3]))
        by_weekday = weekday in weekdays or any(
            i.nth and i.nth[0] == weekday and i.nth[1] in ((date.day + 6) // 7, "L" if date.day + 7 > length else 0)
            for i in self.fields[5])
        if date.month not in self.values(4):
            return False
        if len(days) == 31:
            return by_weekday
        return by_day if len(weekdays) == 7 else by_day or by_weekday

    def walk(self, start, years=410):
        """The next ticks, from day to day."""
        ticks, times = [], None
        date, limit = start.date(), start.date() + datetime.timedelta(days=366 * years)
        while date < limit and len(ticks) < TICKS:
            if self.day_matches(date):
                times = times or [datetime.time(h, m, s) for h in sorted(self.values(2)) for m in sorted(self.values(1))
                                  for s in sorted(self.values(0))]
                for time in times:
                    tick = datetime.datetime.combine(date, time)
                    if tick > start:
                        ticks.append(calendar.timegm(tick.timetuple()))
                        if len(ticks) == TICKS:
                            break
            date += datetime.timedelta(days=1)
        return ticks


def croniter_ticks(text, start):
    try:
        found = croniter.croniter(text, start, ret_type=float)
    except croniter.CroniterBadCronError:
        return "refused"
    ticks = []
    try:
        for _ in range(TICKS):
            ticks.append(int(found.get_next()))
    except croniter.CroniterBadDateError:
        ticks.append("none")
    return ticks


def explain(expression, ours, theirs, truth):
    """The class of a difference, or None."""
    both = len(expression.values(3)) < 31 and len(expression.values(5)) < 7
    nth = any(item.nth for item in expression.fields[5])
    plain = any(item.values for item in expression.fields[5])
    if expression.has("large"):
        return "step too large" if ours == "refused" else None
    if ours == "refused":
        return "never" if truth == [] else None
    if ours != truth:
        return None
    if expression.has("wraps") and theirs == "refused":
        return "range wraps"
    if nth and plain and theirs == "refused":
        return "nth mixed"
    if nth and plain:
        return "nth mixed"
    if expression.has("to_seven"):
        return "weekday step to 7"
    if nth and both:
        return "nth and day"
    if theirs != "refused" and theirs[-1] == "none":
        return "far"
    if expression.fields[0] and expression.has("seven"):
        return "seven with seconds"
    if any(day > 28 for day in expression.values(3)):
        return "days skipped"
    return None


def main():
    count = int(sys.argv[sys.argv.index("--count") + 1]) if "--count" in sys.argv else 3000
    random.seed(count)
    cases, questions = [], []
    for _ in range(count):
        expression = Expression()
        start = datetime.datetime(2000, 1, 1) + datetime.timedelta(seconds=random.randrange(38 * 365 * 86400))
        cases.append((expression, start))
        questions.append(f"next UTC {calendar.timegm(start.timetuple())} {TICKS} {expression.ours()}")
    done = subprocess.run([sys.argv[1]], input="\n".join(questions) + "\n", capture_output=True, text=True,
                          timeout=600, check=False)
    answers = done.stdout.split("\n")
    found, unexplained, same = dict.fromkeys(CLASSES, 0), 0, 0
    for (expression, start), answer in zip(cases, answers):
        ours = "refused" if answer.startswith("error") else [int(t) for t in answer.split()]
        theirs = croniter_ticks(expression.theirs(), start)
        if ours == theirs:
            same += 1
            continue
        truth = [] if expression.has("large") else expression.walk(start)
        why = explain(expression, ours, theirs, truth)
        if why is not None:
            found[why] += 1
            continue
        unexplained += 1
        if unexplained <= 10:
            print(f"# {expression.ours()} | {expression.theirs()} after {start}\n#   ours {ours} {answer if ours == 'refused' else ''}"
                  f"\n#   croniter {theirs}\n#   the rule {truth}")
    found = {name: number for name, number in found.items() if number}
    print(f"# croniter: expressions={count} same={same} unexplained={unexplained}")
    print("figures: " + json.dumps({"expressions": count, "violations": unexplained}))
    for name, number in found.items():
        print(f"#   {name}: {number} ({CLASSES[name]})")
    expected = COUNTS.get(count)
    counted = expected is None or expected == found
    if not counted:
        print(f"# expected {expected}\n# found    {found}")
    print("1..2")
    good = done.returncode == 0 and unexplained == 0 and same + sum(found.values()) == count
    print(("ok" if good else "not ok") + " 1 - every difference to croniter is explained")
    print(("ok" if counted else "not ok") + " 2 - there are as many of each class as ever")
    return 0 if good and counted else 1


if __name__ == "__main__":
    sys.exit(main())
