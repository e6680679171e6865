/* Applying perspectives: the events after each checkpoint, in the slots of a worker. */
#ifndef WORK_PERSPECTIVE_PERSPECTIVE_H
#define WORK_PERSPECTIVE_PERSPECTIVE_H

#include "base/log.h"
#include "base/stop.h"
#include "handler/table.h"
#include "pawl_events.h"
#include "work/perspective/exchange.h"

struct perspectives;

struct perspectives_config {
    struct store_config store; /* texts must outlive it */
    int64_t lease_ms, poll_ms;
    int64_t timeout_ms; /* of one call of a program or an endpoint; 0 = PAWL_HANDLER_TIMEOUT_MS_DEFAULT */
    int helpers;        /* slots that may help with a backlog of many streams */
    bool outside;       /* programs and endpoints of the store's definitions may be run here */
    struct observer *observer; /* NULL: nothing is measured */
    struct log *log;           /* of programs that are kept; must outlive it */
};

/* Before the command of a definition: the program is kept (docs/handlers.md). */
#define PERSPECTIVE_PIPE "pipe:"

/* Adds the handler of append messages to the table. */
PAWL_MUSTCHECK pawl_status perspectives_create(const struct perspectives_config *config,
                                               struct handler_table *table, struct perspectives **out,
                                               pawl_error *err);
/* Call before it starts: applies the perspective of this name and version (0 = any) with this function. */
PAWL_MUSTCHECK pawl_status perspectives_function(struct perspectives *all, pawl_str name, int version,
                                                 pawl_perspective_fn function, void *self, pawl_error *err);

/* Called by the worker's loop with the current instance (nil: none any more); logs what there is to report.
 * True: something has become due that no message will tell of. */
bool perspectives_tick(struct perspectives *all, pawl_uuid instance, struct log *log);
/* Whether every live or filling perspective has a backlog, so that messages of appends would add nothing.
 * True for a limited time only. */
bool perspectives_all_behind(struct perspectives *all);

/* Renews, reports and claims, in this order; one thread at a time. What is granted is in the arena. */
PAWL_MUSTCHECK pawl_status perspectives_tell(struct perspectives *all, struct store *store,
                                             const struct perspectives_exchange *in, struct arena *arena,
                                             struct perspectives_answer *out, pawl_error *err);
/* Whether anything that can be applied here lags, be it in the hands of another worker. */
PAWL_MUSTCHECK pawl_status perspectives_left(struct perspectives *all, struct store *store,
                                             struct arena *arena, bool *left, pawl_error *err);
/* Applies what was granted, for a while. *version: applied through. HANDLED_SNOOZE: it is to be given back,
 * and due now (delay_ms 0) or with the next search. */
void perspective_turn(struct perspectives *all, const struct checkpoint_grant *grant, const stop_flag *cancel,
                      struct handler_verdict *verdict, int64_t *version);
void perspectives_free(struct perspectives *all); /* takes NULL */

/* The launcher that starts their programs; NULL = none. */
struct launcher *perspectives_launcher(struct perspectives *perspectives);
/* Those that are kept; NULL = none. */
struct pipes *perspectives_pipes(struct perspectives *perspectives);

#endif
