/* The state of the whole system at one moment, as JSON. */
#ifndef SERVER_OVERVIEW_H
#define SERVER_OVERVIEW_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "server/latency.h"
#include "store/store.h"

enum { OVERVIEW_QUEUES_MAX = 64 };

struct overview_queue {
    char name[PAWL_NAME_BYTES_MAX + 1];
    struct job_counts counts; /* its name is not used */
};

struct overview {
    struct counts counts;
    int64_t instances[3]; /* active, silent, evicted */
    int64_t in_flight, lanes_owned;
    struct overview_queue queues[OVERVIEW_QUEUES_MAX];
    size_t queue_count;
    struct latency latency;
};

PAWL_MUSTCHECK pawl_status overview_read(struct store *store, struct arena *arena, struct overview *out,
                                         pawl_error *err);

/* Writes members of an open object. Without `before` there are no rates; without an earlier sample the
 * latency covers all time. */
void overview_write(struct json_writer *json, const struct overview *now, const struct overview *before,
                    const struct latency *while_ago);

/* "messages", "dead", "jobs", "instances" as far as they differ. */
void overview_changes(struct json_writer *json, const struct overview *now, const struct overview *before);

#endif
