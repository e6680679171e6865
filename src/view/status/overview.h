/* The state of the whole system at one moment, as JSON. */
#ifndef VIEW_STATUS_OVERVIEW_H
#define VIEW_STATUS_OVERVIEW_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "store/store.h"
#include "view/status/latency.h"

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

/* The instances are those that it counts, in the arena. */
PAWL_MUSTCHECK pawl_status overview_read(struct store *store, struct arena *arena, struct overview *out,
                                         struct instance_rows *instances, pawl_error *err);

/* Writes members of an open object. Without `before` there are no rates; without an earlier sample the
 * latency covers all time. */
void overview_write(struct json_writer *json, const struct overview *now, const struct overview *before,
                    const struct latency *while_ago);

/* Two of them: arrays with the counts of each kind of message, and of each queue of jobs. */
void overview_kinds(struct json_writer *json, const struct overview *now, const struct overview *before);
void overview_queues(struct json_writer *json, const struct overview *now, const struct overview *before);

/* "messages", "dead", "jobs", "instances" as far as they differ. */
void overview_changes(struct json_writer *json, const struct overview *now, const struct overview *before);

#endif
