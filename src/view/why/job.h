/* The sentences that say what a job is waiting for: the same in the program and over HTTP. */
#ifndef VIEW_WHY_JOB_H
#define VIEW_WHY_JOB_H

#include "base/buf.h"
#include "store/store.h"

const char *job_cause_name(enum job_why_cause cause);

/* Appends what holds and why to text, and what to do to next; both are safe for a terminal. */
void job_story(const struct job_why *why, struct buf *text, struct buf *next);

#endif
