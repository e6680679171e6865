/* What the end of a program means, the same for every kind of work: its exit code, and its directives about
 * the next attempt, the lines pawl:snooze and pawl:retry-after in its output.
 */
#ifndef HANDLER_PROGRAM_END_H
#define HANDLER_PROGRAM_END_H

#include "handler/table.h"
#include "process/process.h"

enum { PROGRAM_SNOOZE_EXIT = 75 /* EX_TEMPFAIL */, PROGRAM_ERROR_BYTES = 1312 };

struct program_verdict {
    enum handler_outcome outcome; /* HANDLED_NOT_RUN: it was told to end */
    int64_t delay_ms;             /* until the next attempt; -1 = not given */
    char error[PROGRAM_ERROR_BYTES];
};

/* The first line of its output (of the first PROCESS_STDOUT_KEPT bytes) that is "pawl:snooze DURATION" or
 * "pawl:retry-after DURATION" counts; a snooze only with exit code PROGRAM_SNOOZE_EXIT. If the directive
 * cannot be honoured, the error says why. timeout_ms: its limit, 0 = unknown. */
struct program_verdict program_judge(const struct process_end *end, pawl_str output, int64_t timeout_ms);

#endif
