/* The history checker's records of events and perspectives: a model is the fold of its events, and a
 * checkpoint moves forward. */
#ifndef SIM_HISTORY_EVENTS_H
#define SIM_HISTORY_EVENTS_H

#include "sim/history/history.h"

enum {
    HISTORY_STREAMS_MAX = 8,
    HISTORY_EVENTS_MAX = 256,     /* of a stream */
    HISTORY_PERSPECTIVES_MAX = 3, /* two versions of one, and one whose handler is outside */
    HISTORY_FOLD = 1000003
};

struct history_checkpoint {
    int64_t version;
    int64_t token, lease_until_ms; /* of a grant */
    int instance;
};

struct history_perspective {
    bool fed; /* live or filling */
    struct history_checkpoint at[HISTORY_STREAMS_MAX];
};

struct history_events {
    struct history *h;
    int values[HISTORY_STREAMS_MAX][HISTORY_EVENTS_MAX + 1]; /* by version; negative: it cannot be applied */
    int64_t heads[HISTORY_STREAMS_MAX];
    struct history_perspective perspectives[HISTORY_PERSPECTIVES_MAX];
    uint64_t applied;
};

/* The events of an append got the versions from first on. */
void history_appended(struct history_events *e, int stream, int64_t first, const int *values, size_t count);
/* A batch was applied: where the checkpoint is, and the model. */
struct history_model {
    int64_t fold, count;
};
void history_advanced(struct history_events *e, int perspective, int stream, const struct apply_item *item,
                      const struct history_model *model);
void history_model_check(struct history_events *e, int perspective, int stream,
                         const struct history_model *model);
void history_rebuilt(struct history_events *e, int perspective, int stream); /* -1 = all */
void history_switched(struct history_events *e, int from, int to);

/* Checkpoints that are granted to a handler outside. */
void history_checkpoint_granted(struct history_events *e, int perspective, int stream, int instance,
                                const struct checkpoint_grant *grant, int64_t now_ms);
/* It was given these events. */
void history_checkpoint_read(struct history_events *e, int perspective, int stream, int64_t token,
                             const struct event_list *list);
void history_checkpoint_reported(struct history_events *e, int perspective, int stream, int64_t token,
                                 int64_t version, enum checkpoint_status status, enum store_answer answer,
                                 int64_t now_ms);

void history_checkpoint_renewed(struct history_events *e, int perspective, int stream, int64_t token,
                                enum store_answer answer, int64_t lease_ms, int64_t now_ms);
/* What the instance does not know of was given back. */
void history_checkpoints_settled(struct history_events *e, int instance, const struct grants_settle *known);

/* Whether everything that is fed is where its streams are. */
bool history_events_applied(const struct history_events *e, int streams);

#endif
