/* The text that explains why a job waits and what to do, for the program and for HTTP. */
#ifndef VIEW_WHY_JOB_H
#define VIEW_WHY_JOB_H

#include "base/buf.h"
#include "store/store.h"

const char *job_cause_name(enum job_why_cause cause);

/* Appends the explanation to text, and what to do to next; both are safe for a terminal. */
void job_story(const struct job_why *why, struct buf *text, struct buf *next);

#endif
