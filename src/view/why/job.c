/* The text that explains why a job waits and what to do. */
#include "view/why/job.h"

#include <inttypes.h>

#include "base/str.h"
#include "base/uuid.h"
#include "view/why/story.h"

const char *job_cause_name(enum job_why_cause cause) {
    static const char *const causes[] = {"",     "running", "lease over", "ready", "no worker", "concurrency",
                                         "rate", "later",   "waiting",    "dead",  "paused"};
    return causes[cause];
}

static void tell_running(const struct job_why *why, struct buf *text, struct buf *next) {
    char id[UUID_TEXT_BYTES];
    uuid_format(why->row.instance, id);
    if (why->cause == JOB_WHY_RUNNING) {
        why_tell(text, "A worker runs it now: attempt %d, instance %s, leased until %s.",
                 why->row.job.attempts, id, MOMENT(why->row.job.lease_until_ms, why->now_ms));
        if (why->row.job.cancel_ms > 0) {
            why_tell(
                text,
                " It was cancelled %s; its worker is told within seconds (pawl action list says by whom and "
                "why).",
                MOMENT(why->row.job.cancel_ms, why->now_ms));
        }
        buf_printf(next, "Nothing; if that worker hangs, pawl instance evict %s takes the work away.", id);
        return;
    }
    buf_printf(text, "Its worker %s has gone silent; another takes it soon.", id);
    buf_append_cstr(next, "Nothing if a worker for jobs runs; otherwise start one: pawl worker.");
}

static void tell_held(const struct job_why *why, struct buf *text, struct buf *next) {
    if (why->cause == JOB_WHY_CONCURRENCY)
        buf_printf(text, "Its key has reached its limit: %d of %d jobs are running.", why->running,
                   why->limit);
    else
        buf_append_cstr(text,
                        "As many jobs of its key were started as may start for now; the next may start ");
    if (why->cause == JOB_WHY_RATE) {
        why_tell(text, "%s.", MOMENT(why->until_ms, why->now_ms));
    }
    why_tell(next, "Wait, or raise the limit of its key: pawl limit set %.*s.", STR_ARG(why->row.job.key));
}

static void tell_error(const struct job_why *why, struct buf *text) {
    if (str_absent(why->row.error) || why->row.error.len == 0)
        return;
    why_tell(text, " Last error: %.*s.", STR_ARG(why->row.error));
}

/* A due job stays `later` until a worker claims from its queue. */
static void tell_later(const struct job_why *why, struct buf *text, struct buf *next) {
    bool due = why->until_ms <= why->now_ms;
    why_tell(text, "%s%s.", due ? "It has been due since " : "It is not due before ",
             MOMENT(why->until_ms, why->now_ms));
    tell_error(why, text);
    if (!due) {
        buf_append_cstr(next, "Nothing: it is claimed when it is due.");
        return;
    }
    why_tell(next, "Nothing if a worker works on its queue; otherwise start one: pawl worker --queue %.*s",
             STR_ARG(why->row.job.queue));
}

static void tell_death(const struct job_why *why, struct buf *text) {
    switch ((enum job_dead_reason)why->row.reason) {
    case JOB_DEAD_ATTEMPTS:
        buf_printf(text, "It is dead: it failed %d times, as often as it may.", why->row.job.attempts);
        break;
    case JOB_DEAD_PERMANENT:
        buf_append_cstr(text, "It is dead: its error is permanent, so it is not tried again.");
        break;
    case JOB_DEAD_KILLED:
        buf_append_cstr(text, "It is dead: its worker died or its lease ran out during its last attempt.");
        break;
    case JOB_DEAD_DEADLINE:
        buf_append_cstr(text, "It is dead: its deadline passed before it could be done.");
        break;
    case JOB_DEAD_REFUSED:
        buf_append_cstr(text, "It is dead: its agent lacks a scope that it needs.");
        break;
    }
}

void job_story(const struct job_why *why, struct buf *text, struct buf *next) {
    switch (why->cause) {
    case JOB_WHY_RUNNING:
    case JOB_WHY_LEASE_OVER:
        tell_running(why, text, next);
        break;
    case JOB_WHY_READY:
        buf_printf(text,
                   "It is ready: a worker takes it as soon as the %" PRId64 " ahead of it have started.",
                   why->ahead);
        buf_append_cstr(next, "Nothing; for more at once start another worker or raise --concurrency.");
        break;
    case JOB_WHY_PAUSED:
        buf_append_cstr(text, "Its queue is paused (pawl pause list says by whom and why).");
        buf_append_cstr(next, "pawl resume queue ");
        grid_escape(next, why->row.job.queue);
        buf_append_cstr(next, " lets it go on.");
        break;
    case JOB_WHY_NO_WORKER:
        buf_append_cstr(text, "It is ready, but no worker works on its queue.");
        why_tell(next, "Start one: pawl worker --queue %.*s", STR_ARG(why->row.job.queue));
        break;
    case JOB_WHY_CONCURRENCY:
    case JOB_WHY_RATE:
        tell_held(why, text, next);
        break;
    case JOB_WHY_LATER:
        tell_later(why, text, next);
        break;
    case JOB_WHY_WAITING:
        why_tell(text, "It waits for the signal %.*s", STR_ARG(why->row.wait_key));
        if (why->until_ms > 0) {
            why_tell(text, ", at most until %s", MOMENT(why->until_ms, why->now_ms));
        }
        buf_append_char(text, '.');
        why_tell(next, "pawl job signal %.*s sends it.", STR_ARG(why->row.wait_key));
        break;
    case JOB_WHY_DEAD:
        tell_death(why, text);
        tell_error(why, text);
        buf_printf(next,
                   "Remove the cause, then pawl job retry %" PRId64
                   "; or give it up: pawl job delete %" PRId64 ".",
                   why->row.job.id, why->row.job.id);
        break;
    }
}
