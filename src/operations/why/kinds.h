/* pawl why for jobs, runs, streams, perspectives, schedules, tasks and instances. */
#ifndef OPERATIONS_WHY_KINDS_H
#define OPERATIONS_WHY_KINDS_H

#include "operations/front/request.h"

/* What is told about one thing. */
struct why_told {
    bool thorough; /* asked for by its kind: look at everything, however long that takes */
    int64_t now_ms;
    bool found;
    bool cut;    /* not found, but not everything was looked at */
    pawl_str id; /* its whole name; in the arena */
    struct buf text, next;
};

struct why_kind {
    const char *name;
    /* Tells about the thing with that name; found stays false when there is none. */
    pawl_status (*tell)(struct request *request, pawl_str word, struct why_told *told, pawl_error *err);
};

/* Without messages, which why.c handles. */
extern const struct why_kind why_kinds[];
extern const size_t why_kinds_count;

#endif
