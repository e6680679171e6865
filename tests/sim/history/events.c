/* The history checker: events, checkpoints and models. */
#include "sim/history/events.h"

#include <inttypes.h>

void history_appended(struct history_events *e, int stream, int64_t first, const int *values, size_t count) {
    if (first != e->heads[stream] + 1) {
        history_violated(e->h, "append_gap", "stream %d is at %" PRId64 " and an append begins at %" PRId64,
                         stream, e->heads[stream], first);
        return;
    }
    for (size_t i = 0; i < count && e->heads[stream] < HISTORY_EVENTS_MAX; i++)
        e->values[stream][++e->heads[stream]] = values[i];
}

/* What the model must be when everything through the version is applied, in order and once. */
static struct history_model fold(const struct history_events *e, int stream, int64_t version) {
    struct history_model model = {0};
    for (int64_t v = 1; v <= version; v++) {
        if (e->values[stream][v] < 0)
            continue;
        model.fold = (model.fold * 31 + e->values[stream][v]) % HISTORY_FOLD;
        model.count++;
    }
    return model;
}

void history_model_check(struct history_events *e, int perspective, int stream,
                         const struct history_model *model) {
    int64_t version = e->perspectives[perspective].at[stream].version;
    struct history_model wanted = fold(e, stream, version);
    if (model->fold != wanted.fold || model->count != wanted.count)
        history_violated(e->h, "model",
                         "perspective %d, stream %d at %" PRId64 ": %" PRId64 " events were applied (%" PRId64
                         "), it must be %" PRId64 " (%" PRId64 ")",
                         perspective, stream, version, model->count, model->fold, wanted.count, wanted.fold);
}

void history_advanced(struct history_events *e, int perspective, int stream, const struct apply_item *item,
                      const struct history_model *model) {
    struct history_checkpoint *at = &e->perspectives[perspective].at[stream];
    if (!e->perspectives[perspective].fed)
        history_violated(e->h, "not_fed", "perspective %d is retired and was applied", perspective);
    if (item->version < at->version || item->version > e->heads[stream])
        history_violated(e->h, "checkpoint_back",
                         "perspective %d, stream %d: the checkpoint went from %" PRId64 " to %" PRId64
                         ", the stream is at %" PRId64,
                         perspective, stream, at->version, item->version, e->heads[stream]);
    if (item->answer == ANSWER_INVALID &&
        (item->failed_version < 1 || item->failed_version > e->heads[stream] ||
         e->values[stream][item->failed_version] >= 0))
        history_violated(e->h, "checkpoint_failed",
                         "perspective %d, stream %d: event %" PRId64 " failed and is good", perspective,
                         stream, item->failed_version);
    if (e->h->violated)
        return;
    at->version = item->version;
    e->applied++;
    history_model_check(e, perspective, stream, model);
}

void history_rebuilt(struct history_events *e, int perspective, int stream) {
    for (int i = 0; i < HISTORY_STREAMS_MAX; i++) {
        if (stream < 0 || stream == i)
            e->perspectives[perspective].at[i].version = 0;
    }
}

void history_switched(struct history_events *e, int from, int to) {
    for (int i = 0; i < HISTORY_STREAMS_MAX; i++) {
        if (e->perspectives[to].at[i].version < e->heads[i])
            history_violated(e->h, "switch_early", "stream %d is at %" PRId64 ", its new model at %" PRId64,
                             i, e->heads[i], e->perspectives[to].at[i].version);
    }
    e->perspectives[from].fed = false;
}

static bool in_force(const struct history_events *e, const struct history_checkpoint *at, int64_t now_ms) {
    const struct history_instance *i = &e->h->instances[at->instance];
    return at->token > 0 && at->lease_until_ms > now_ms && i->lease_until_ms > now_ms && !i->evicted &&
           !i->left && i->revived_ms == 0;
}

void history_checkpoint_granted(struct history_events *e, int perspective, int stream, int instance,
                                const struct checkpoint_grant *grant, int64_t now_ms) {
    struct history_checkpoint *at = &e->perspectives[perspective].at[stream];
    if (in_force(e, at, now_ms) && at->token != grant->token)
        history_violated(e->h, "checkpoint_shared",
                         "perspective %d, stream %d is granted while it is held under %" PRId64, perspective,
                         stream, at->token);
    if (grant->token < at->token)
        history_violated(e->h, "checkpoint_token", "perspective %d, stream %d: %" PRId64 " after %" PRId64,
                         perspective, stream, grant->token, at->token);
    if (grant->version != at->version)
        history_violated(e->h, "checkpoint_back",
                         "perspective %d, stream %d is granted at %" PRId64 " instead of %" PRId64,
                         perspective, stream, grant->version, at->version);
    at->token = grant->token;
    at->lease_until_ms = grant->lease_until_ms;
    at->instance = instance;
}

void history_checkpoint_read(struct history_events *e, int perspective, int stream, int64_t token,
                             const struct event_list *list) {
    const struct history_checkpoint *at = &e->perspectives[perspective].at[stream];
    if (token != at->token)
        history_violated(e->h, "checkpoint_stale", "perspective %d, stream %d is read under %" PRId64,
                         perspective, stream, token);
    for (size_t i = 0; i < list->count; i++) {
        if (list->events[i].version != at->version + 1 + (int64_t)i)
            history_violated(e->h, "event_gap",
                             "perspective %d, stream %d is at %" PRId64 " and is given %" PRId64, perspective,
                             stream, at->version, list->events[i].version);
    }
}

void history_checkpoint_reported(struct history_events *e, int perspective, int stream, int64_t token,
                                 int64_t version, enum checkpoint_status status, enum store_answer answer,
                                 int64_t now_ms) {
    struct history_checkpoint *at = &e->perspectives[perspective].at[stream];
    if (answer == ANSWER_STALE && token == at->token && version > at->version && in_force(e, at, now_ms))
        history_violated(e->h, "checkpoint_refused", "perspective %d, stream %d: %" PRId64 " is in force",
                         perspective, stream, token);
    if (answer != ANSWER_APPLIED)
        return;
    if (token != at->token)
        history_violated(e->h, "checkpoint_stale",
                         "perspective %d, stream %d was moved under %" PRId64 ", in force is %" PRId64,
                         perspective, stream, token, at->token);
    if (version < at->version)
        history_violated(e->h, "checkpoint_back", "perspective %d, stream %d: from %" PRId64 " to %" PRId64,
                         perspective, stream, at->version, version);
    at->version = version;
    if (status != CHECKPOINT_PROCESSING)
        at->lease_until_ms = 0;
    e->applied++;
}

void history_checkpoint_renewed(struct history_events *e, int perspective, int stream, int64_t token,
                                enum store_answer answer, int64_t lease_ms, int64_t now_ms) {
    struct history_checkpoint *at = &e->perspectives[perspective].at[stream];
    if (answer == ANSWER_APPLIED && token != at->token)
        history_violated(e->h, "checkpoint_stale",
                         "perspective %d, stream %d was renewed under %" PRId64 ", in force is %" PRId64,
                         perspective, stream, token, at->token);
    if (answer == ANSWER_APPLIED)
        at->lease_until_ms = now_ms + lease_ms;
}

void history_checkpoints_settled(struct history_events *e, int instance, const struct grants_settle *known) {
    for (int p = 0; p < HISTORY_PERSPECTIVES_MAX; p++) {
        for (int i = 0; i < HISTORY_STREAMS_MAX; i++) {
            struct history_checkpoint *at = &e->perspectives[p].at[i];
            bool held = at->instance != instance || at->token > known->settled;
            for (size_t k = 0; k < known->count && !held; k++)
                held = known->held[k].token == at->token;
            if (!held)
                at->lease_until_ms = 0;
        }
    }
}

bool history_events_applied(const struct history_events *e, int streams) {
    for (int p = 0; p < HISTORY_PERSPECTIVES_MAX; p++) {
        for (int i = 0; e->perspectives[p].fed && i < streams; i++) {
            if (e->perspectives[p].at[i].version < e->heads[i])
                return false;
        }
    }
    return true;
}
