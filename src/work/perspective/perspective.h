/* Applying perspectives: the events after each checkpoint are applied by the owner of the stream's lane. */
#ifndef WORK_PERSPECTIVE_PERSPECTIVE_H
#define WORK_PERSPECTIVE_PERSPECTIVE_H

#include "base/log.h"
#include "handler/table.h"
#include "pawl_events.h"
#include "store/store.h"

struct perspectives;

struct perspectives_config {
    struct store_config store; /* texts must outlive it */
    int64_t lease_ms, poll_ms;
    int64_t timeout_ms;        /* of one call of a program or an endpoint; 0 = HANDLER_TIMEOUT_MS_DEFAULT */
    int helpers;               /* threads that help with a backlog of many streams */
    bool outside;              /* programs and endpoints of the store's definitions may be run here */
    struct observer *observer; /* NULL: nothing is measured */
};

/* Adds the handler of append messages to the table. */
PAWL_MUSTCHECK pawl_status perspectives_create(const struct perspectives_config *config,
                                               struct handler_table *table, struct perspectives **out,
                                               pawl_error *err);
/* Call before it starts: applies the perspective of this name and version (0 = any) with this function. */
PAWL_MUSTCHECK pawl_status perspectives_function(struct perspectives *all, pawl_str name, int version,
                                                 pawl_perspective_fn function, void *self, pawl_error *err);

/* Starts the thread that handles retries, backlogs and positions. It waits until tick names an instance. */
PAWL_MUSTCHECK pawl_status perspectives_start(struct perspectives *all, pawl_error *err);
/* Called by the worker's loop with the current instance (nil: none any more); logs what there is to report.
 */
void perspectives_tick(void *self, pawl_uuid instance, struct log *log);
/* Whether something is being applied or was, a moment ago. */
bool perspectives_busy(void *self);
/* Checks once more, including what other workers hold: busy until nothing that can be applied here lags. */
void perspectives_ask(void *self);
/* Whether the thread is working on a backlog of every live or filling perspective, so that messages of
 * appends would add nothing. True for a limited time only. */
bool perspectives_all_behind(void *self);
void perspectives_free(struct perspectives *all); /* takes NULL; ends the thread */

/* The launcher that starts their programs; NULL = none. */
struct launcher *perspectives_launcher(struct perspectives *perspectives);

#endif
