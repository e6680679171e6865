/* Directives about the next attempt: pawl:snooze and pawl:retry-after lines in a program's output. */
#ifndef HANDLER_DIRECTIVE_H
#define HANDLER_DIRECTIVE_H

#include "pawl.h"

enum { DIRECTIVE_EXIT = 75 /* EX_TEMPFAIL */, DIRECTIVE_BYTES_MAX = 4096 };

struct directive {
    bool snooze;       /* not now; no attempt is counted */
    int64_t delay_ms;  /* until the next one; -1 = not given */
    char problem[160]; /* why the directive is ignored; "" = it counts, or there was none */
};

/* The first line of its output (of the first DIRECTIVE_BYTES_MAX bytes) that is "pawl:snooze DURATION" or
 * "pawl:retry-after DURATION". A snooze counts only with exit code DIRECTIVE_EXIT. */
struct directive directive_read(pawl_str output, bool exited, int exit_code);

/* Adds to the reason of a failure why its directive was ignored. */
void directive_explain(const struct directive *directive, char *error, size_t size);

#endif
