/* What a program says about its next attempt. */
#ifndef HANDLER_WISH_H
#define HANDLER_WISH_H

#include "pawl.h"

enum { WISH_EXIT = 75 /* EX_TEMPFAIL */, WISH_BYTES_MAX = 4096 };

struct wish {
    bool snooze;       /* not now, and it was no attempt */
    int64_t delay_ms;  /* until the next one; -1 = it said nothing */
    char refused[160]; /* why what it wished does not count; "" = it counts, or there was none */
};

/* The first line of its output (of the first WISH_BYTES_MAX bytes) that is "pawl:snooze DURATION" or
 * "pawl:retry-after DURATION". A snooze counts only with exit code WISH_EXIT. */
struct wish wish_read(pawl_str output, bool exited, int exit_code);

/* Adds to the reason of a failure why its wish does not count. */
void wish_explain(const struct wish *wish, char *error, size_t size);

#endif
