/* Checkpoints of the model: how they move, who may claim them, what they look like. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/failure/fingerprint.h"
#include "domain/failure/retry.h"
#include "store/model/event_state.h"
#include "store/model/events.h"
#include "store/model/log.h"

static void set_error(struct checkpoint *c, pawl_str error) {
    pawl_str copy = model_text(error);
    model_text_free(c->error);
    c->error = copy;
}

void model_checkpoint_free_lease(struct checkpoint *c) {
    c->instance = uuid_nil();
    c->lease_until_ms = 0;
}

void model_checkpoint_clear(struct model *model, struct checkpoint *c) {
    c->status = CHECKPOINT_PENDING;
    c->due_ms = c->updated_ms = model->now_ms;
    c->stopped = false;
    c->attempts = 0;
    c->failed_version = 0;
    set_error(c, (pawl_str){NULL, 0});
}

/* The first matching event behind a version that is not skipped; 0: none. */
static int64_t first_matching(const struct model *model, const struct kept_perspective *perspective,
                              pawl_str stream, int64_t after) {
    const struct kept_stream *kept = model_event_stream(model, stream);
    for (int64_t v = after + 1; perspective != NULL && kept != NULL && v <= kept->version; v++) {
        if (model_perspective_maps(perspective, kept->events[v - 1]->type) &&
            !model_skipped(model, perspective->key, stream, v))
            return v;
    }
    return 0;
}

static enum fail_outcome fail(struct model *model, struct checkpoint *c, const struct checkpoint_end *end) {
    const struct kept_perspective *perspective = model_perspective_find(model, c->perspective);
    int max = perspective != NULL ? perspective->max_attempts : model->settings.max_attempts;
    int64_t failed = end->failed_version;
    if (failed == 0)
        failed = first_matching(model, perspective, c->stream, end->version);
    bool last = c->attempts + 1 >= max;
    pawl_str error = utf8_cut(end->error, PAWL_ERROR_BYTES_MAX);
    if (last && perspective != NULL && perspective->policy == POLICY_SKIP && failed > 0) {
        model_skip_add(model, c->perspective, c->stream, failed, error);
        model_checkpoint_clear(model, c);
        return FAIL_RETRY;
    }
    c->attempts++;
    c->stopped = last;
    c->failed_version = failed;
    set_error(c, error);
    struct retry_policy backoff = retry_policy_default();
    c->due_ms = last                ? -1
                : end->delay_ms > 0 ? model->now_ms + end->delay_ms
                                    : model->now_ms + retry_wait_ms(&backoff, c->attempts, 0);
    return last ? FAIL_DEAD : FAIL_RETRY;
}

enum fail_outcome model_checkpoint_end(struct model *model, struct checkpoint *c,
                                       const struct checkpoint_end *end) {
    struct kept_perspective *perspective = model_perspective_find(model, c->perspective);
    enum fail_outcome outcome = FAIL_NONE;
    if (perspective != NULL)
        perspective->applied +=
            model_events_matching(model, perspective, c->stream, c->version, end->version);
    c->version = end->version;
    c->token = end->token;
    c->status = end->status;
    c->updated_ms = model->now_ms;
    c->stopped = false;
    if (end->status == CHECKPOINT_FAILED) {
        outcome = fail(model, c, end);
    } else {
        set_error(c, (pawl_str){NULL, 0});
        c->failed_version = 0;
        c->due_ms = model->now_ms;
    }
    if (end->status == CHECKPOINT_COMPLETED) {
        c->attempts = 0;
        if (c->version < model_stream_version(model, c->stream))
            c->status = CHECKPOINT_PENDING; /* more has come meanwhile */
        else
            c->due_ms = -1;
    }
    if (end->status == CHECKPOINT_PROCESSING)
        c->due_ms = c->lease_until_ms;
    else
        model_checkpoint_free_lease(c);
    return outcome;
}

/* ---- Claim */

static bool can_run(const struct model *model, const struct checkpoints_claim *in, pawl_str key) {
    const struct kept_perspective *perspective = model_perspective_find(model, key);
    bool named = false;
    for (size_t i = 0; !named && i < in->perspective_count; i++)
        named = str_equal(in->perspectives[i], key);
    return named && model_perspective_fed(perspective) && !perspective->paused;
}

void model_checkpoints_leave(struct model *model, pawl_uuid instance) {
    for (struct node *node = model_table_each(&model->checkpoints, NULL); node != NULL;
         node = model_table_each(&model->checkpoints, node)) {
        struct checkpoint *c = node->thing;
        if (!uuid_equal(c->instance, instance))
            continue;
        c->status = CHECKPOINT_PENDING;
        c->due_ms = c->updated_ms = model->now_ms;
        model_checkpoint_free_lease(c);
    }
}

static bool stream_named(const struct checkpoints_claim *in, pawl_str stream) {
    bool found = false;
    for (size_t i = 0; !found && i < in->stream_count; i++)
        found = str_equal(in->streams[i], stream);
    return found;
}

void model_checkpoint_wake(struct model *model, struct checkpoint *c) {
    if (c->status != CHECKPOINT_COMPLETED)
        return;
    c->status = CHECKPOINT_PENDING;
    c->due_ms = c->updated_ms = model->now_ms;
}

size_t model_checkpoints_behind(struct model *model, const struct checkpoint_look *look,
                                struct checkpoint **list, size_t total) {
    const struct checkpoints_claim *in = look->claim;
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        struct checkpoint *c = list[i];
        if (!stream_named(in, c->stream) || checkpoint_left_alone(look, c->perspective) ||
            c->version >= model_stream_version(model, c->stream) ||
            !model_perspective_fed(model_perspective_find(model, c->perspective)))
            continue;
        if (c->status == CHECKPOINT_PROCESSING && c->lease_until_ms > model->now_ms) {
            continue; /* its holder reads the stream's version before he lets go */
        } else if (c->status == CHECKPOINT_FAILED && (c->due_ms < 0 || c->due_ms > model->now_ms)) {
            continue;
        } else if (count < (size_t)in->max && can_run(model, in, c->perspective)) {
            list[count++] = c;
        } else {
            model_checkpoint_wake(model, c);
        }
    }
    return count;
}

static int due_compare(const void *a, const void *b) {
    const struct checkpoint *x = *(struct checkpoint *const *)a, *y = *(struct checkpoint *const *)b;
    if (x->due_ms != y->due_ms)
        return x->due_ms < y->due_ms ? -1 : 1;
    int order = str_compare(x->stream, y->stream);
    return order != 0 ? order : str_compare(x->perspective, y->perspective);
}

size_t model_checkpoints_due(const struct model *model, const struct checkpoints_claim *in,
                             struct checkpoint **list, size_t total) {
    size_t due = 0;
    for (size_t i = 0; i < total; i++) {
        if (list[i]->due_ms >= 0 && list[i]->due_ms <= model->now_ms &&
            can_run(model, in, list[i]->perspective))
            list[due++] = list[i];
    }
    if (due > 0)
        qsort(list, due, sizeof *list, due_compare);
    return due < (size_t)in->max ? due : (size_t)in->max;
}

bool model_checkpoint_idle(struct model *model, struct checkpoint *c) {
    if (c->version < model_stream_version(model, c->stream))
        return false;
    model_checkpoint_clear(model, c);
    model_checkpoint_free_lease(c);
    c->status = CHECKPOINT_COMPLETED;
    c->due_ms = -1;
    return true;
}

static size_t take_due(struct model *model, const struct checkpoints_claim *in, struct checkpoint **list,
                       size_t total) {
    size_t due = model_checkpoints_due(model, in, list, total), count = 0;
    for (size_t i = 0; i < due; i++) {
        if (!model_checkpoint_idle(model, list[i]))
            list[count++] = list[i];
    }
    return count;
}

static pawl_status granted_of(const struct model *model, const struct checkpoint *c, struct arena *arena,
                              struct checkpoint_grant *out, pawl_error *err) {
    *out = (struct checkpoint_grant){.version = c->version,
                                     .head = model_stream_version(model, c->stream),
                                     .token = c->token,
                                     .lease_until_ms = c->lease_until_ms,
                                     .replay_to = c->replay_to,
                                     .attempt = c->attempts + 1};
    pawl_status status = str_dup(arena, c->stream, &out->stream, err);
    return status == PAWL_OK ? str_dup(arena, c->perspective, &out->perspective, err) : status;
}

static pawl_status grant(struct model *model, const struct checkpoints_claim *in, struct checkpoint **list,
                         size_t count, struct arena *arena, struct checkpoint_grants *out, pawl_error *err) {
    int64_t token = count > 0 ? model_token_next(model) : 0;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        struct checkpoint *c = list[i];
        c->status = CHECKPOINT_PROCESSING;
        c->instance = in->instance;
        c->token = token;
        c->lease_until_ms = c->due_ms = model->now_ms + in->lease_ms;
        c->updated_ms = model->now_ms;
        c->stopped = false;
        c->request = in->request;
        status = granted_of(model, c, arena, &out->grants[out->count++], err);
    }
    return status;
}

pawl_status model_checkpoints_held(struct model *model, const struct checkpoints_claim *in,
                                   struct arena *arena, struct checkpoint_grants *out, pawl_error *err) {
    size_t total = 0;
    pawl_status status = PAWL_OK;
    struct checkpoint **list = model_checkpoints_sorted(model, &total);
    out->grants = arena_array(arena, total, sizeof *out->grants);
    if (out->grants == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "checkpoints_claim", "no memory for the answer");
    for (size_t i = 0; status == PAWL_OK && i < total; i++) {
        if (list[i]->status == CHECKPOINT_PROCESSING && uuid_equal(list[i]->instance, in->instance) &&
            uuid_equal(list[i]->request, in->request))
            status = granted_of(model, list[i], arena, &out->grants[out->count++], err);
    }
    free(list);
    return status;
}

pawl_status model_checkpoints_grant(struct model *model, const struct checkpoints_claim *in,
                                    struct arena *arena, struct checkpoint_grants *out, pawl_error *err) {
    size_t total = 0;
    pawl_status status = PAWL_OK;
    struct checkpoint **list = model_checkpoints_sorted(model, &total);
    struct checkpoint_grants result = {.grants = arena_array(arena, total, sizeof *result.grants)};
    if (result.grants == NULL) {
        status = error_set(err, PAWL_NO_MEMORY, "checkpoints_claim", "no memory for the answer");
    } else {
        struct checkpoint_look look = {.claim = in};
        size_t count = in->stream_count > 0 ? model_checkpoints_behind(model, &look, list, total)
                                            : take_due(model, in, list, total);
        status = grant(model, in, list, count, arena, &result, err);
    }
    if (status == PAWL_OK)
        *out = result;
    free(list);
    return status;
}

pawl_status model_checkpoints_claim(struct store *store, const struct checkpoints_claim *in,
                                    struct arena *arena, struct checkpoint_grants *out, pawl_error *err) {
    pawl_status status = check_checkpoints_claim(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    const struct instance *caller = model_instance_find(model, in->instance);
    if (caller == NULL || !model_instance_live(model, caller))
        return model_leave(model, error_set(err, PAWL_STALE, "checkpoints_claim",
                                            "the instance is evicted: drop everything and register anew"));
    return model_leave(model, model_checkpoints_grant(model, in, arena, out, err));
}

void model_checkpoints_extend(struct model *model, const struct checkpoints_renew *in,
                              enum store_answer *answers) {
    for (size_t i = 0; i < in->count; i++) {
        const struct checkpoint_ref *ref = &in->refs[i];
        struct checkpoint *c = model_checkpoint_find(model, ref->stream, ref->perspective);
        bool held = c != NULL && c->status == CHECKPOINT_PROCESSING && c->token == ref->token &&
                    uuid_equal(c->instance, in->instance);
        answers[i] = held ? ANSWER_APPLIED : ANSWER_STALE;
        if (held)
            c->lease_until_ms = c->due_ms = model->now_ms + in->lease_ms;
    }
}

pawl_status model_checkpoints_renew(struct store *store, const struct checkpoints_renew *in,
                                    struct arena *arena, struct answer_list *out, pawl_error *err) {
    pawl_status status = check_checkpoints_renew(in, err);
    if (status != PAWL_OK)
        return status;
    struct answer_list list = {.answers = arena_array(arena, in->count, sizeof *list.answers),
                               .count = in->count};
    if (list.answers == NULL)
        return error_set(err, PAWL_NO_MEMORY, "checkpoints_renew", "no memory for the answer");
    struct model *model = model_enter(store);
    model_checkpoints_extend(model, in, list.answers);
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_checkpoint_skip(struct store *store, const struct checkpoint_skip *in,
                                  enum store_answer *answer, pawl_error *err) {
    pawl_status status = check_skip(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct checkpoint *c = model_checkpoint_find(model, in->stream, in->perspective);
    if (c == NULL) {
        *answer = ANSWER_NOT_FOUND;
    } else if (model_skipped(model, in->perspective, in->stream, in->version)) {
        *answer = ANSWER_DUPLICATE;
    } else if (in->version <= c->version || in->version > model_stream_version(model, in->stream)) {
        *answer = ANSWER_CONFLICT;
    } else {
        model_skip_add(model, in->perspective, in->stream, in->version,
                       utf8_cut(in->reason, PAWL_ERROR_BYTES_MAX));
        if (c->status == CHECKPOINT_FAILED)
            model_checkpoint_clear(model, c);
        *answer = ANSWER_APPLIED;
    }
    return model_leave(model, PAWL_OK);
}

/* ---- Views */

static enum checkpoint_status seen_status(const struct model *model, const struct checkpoint *c) {
    return c->status == CHECKPOINT_COMPLETED && c->version < model_stream_version(model, c->stream)
               ? CHECKPOINT_PENDING
               : c->status;
}

static bool is_after(const struct checkpoint *c, const struct checkpoint_filter *filter) {
    if (str_absent(filter->after_stream))
        return true;
    int order = str_compare(c->stream, filter->after_stream);
    return order > 0 || (order == 0 && str_compare(c->perspective, filter->after_perspective) > 0);
}

static pawl_status view_of(const struct model *model, const struct checkpoint *c, struct arena *arena,
                           struct checkpoint_view *out, pawl_error *err) {
    char text[FINGERPRINT_BYTES];
    *out = (struct checkpoint_view){
        .version = c->version,
        .head = model_stream_version(model, c->stream),
        .token = c->token,
        .status = seen_status(model, c),
        .stopped = c->stopped,
        .attempts = c->attempts,
        .instance = c->instance,
        .lease_until_ms = c->lease_until_ms,
        .next_ms = c->status == CHECKPOINT_FAILED && c->due_ms > 0 ? c->due_ms : 0,
        .created_ms = c->created_ms,
        .updated_ms = c->updated_ms,
        .replay_to = c->replay_to,
        .failed_version = c->failed_version,
    };
    pawl_status status = str_dup(arena, c->stream, &out->stream, err);
    if (status == PAWL_OK)
        status = str_dup(arena, c->perspective, &out->perspective, err);
    if (status == PAWL_OK)
        status = str_dup(arena, c->error, &out->error, err);
    if (status == PAWL_OK && c->status == CHECKPOINT_FAILED && !str_absent(c->error))
        status = str_dup(arena, str_from(fingerprint(c->error, text)), &out->fingerprint, err);
    return status;
}

pawl_status model_checkpoints_list(struct store *store, const struct checkpoint_filter *filter,
                                   struct arena *arena, struct checkpoint_views *out, pawl_error *err) {
    pawl_status status = check_limit("checkpoints_list", filter->limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    size_t total = 0;
    struct checkpoint **list = model_checkpoints_sorted(model, &total);
    struct checkpoint_views result = {.rows = arena_array(arena, (size_t)filter->limit, sizeof *result.rows)};
    if (result.rows == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "checkpoints_list", "no memory for the answer");
    for (size_t i = 0; status == PAWL_OK && i < total && result.count < (size_t)filter->limit; i++) {
        const struct checkpoint *c = list[i];
        if ((!str_absent(filter->perspective) && !str_equal(c->perspective, filter->perspective)) ||
            (!str_absent(filter->stream) && !str_equal(c->stream, filter->stream)) ||
            (filter->status >= 0 && (int)seen_status(model, c) != filter->status) || !is_after(c, filter))
            continue;
        status = view_of(model, c, arena, &result.rows[result.count++], err);
    }
    if (status == PAWL_OK)
        *out = result;
    free(list);
    return model_leave(model, status);
}

static int error_compare(const void *a, const void *b) {
    const struct checkpoint_error *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int order = str_compare(x->perspective, y->perspective);
    return order != 0 ? order : str_compare(x->fingerprint, y->fingerprint);
}

/* Adds one failed checkpoint to its group. */
static pawl_status group(const struct checkpoint *c, struct arena *arena, struct checkpoint_errors *out,
                         pawl_error *err) {
    char text[FINGERPRINT_BYTES];
    pawl_str print = str_absent(c->error) ? (pawl_str){NULL, 0} : str_from(fingerprint(c->error, text));
    for (size_t i = 0; i < out->count; i++) {
        struct checkpoint_error *row = &out->rows[i];
        if (!str_equal(row->perspective, c->perspective) || !str_equal(row->fingerprint, print))
            continue;
        row->count++;
        return str_compare(c->error, row->sample) < 0 ? str_dup(arena, c->error, &row->sample, err) : PAWL_OK;
    }
    struct checkpoint_error *row = &out->rows[out->count++];
    *row = (struct checkpoint_error){.count = 1};
    pawl_status status = str_dup(arena, c->perspective, &row->perspective, err);
    if (status == PAWL_OK)
        status = str_dup(arena, print, &row->fingerprint, err);
    if (status == PAWL_OK)
        status = str_dup(arena, c->error, &row->sample, err);
    return status;
}

pawl_status model_checkpoint_errors(struct store *store, pawl_str perspective, int limit, struct arena *arena,
                                    struct checkpoint_errors *out, pawl_error *err) {
    pawl_status status = check_limit("checkpoint_errors", limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    size_t total = 0;
    struct checkpoint **list = model_checkpoints_sorted(model, &total);
    struct checkpoint_errors result = {.rows = arena_array(arena, total, sizeof *result.rows)};
    if (result.rows == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "checkpoint_errors", "no memory for the answer");
    for (size_t i = 0; status == PAWL_OK && i < total; i++) {
        if (list[i]->status == CHECKPOINT_FAILED &&
            (str_absent(perspective) || str_equal(list[i]->perspective, perspective)))
            status = group(list[i], arena, &result, err);
    }
    if (status == PAWL_OK) {
        if (result.count > 0)
            qsort(result.rows, result.count, sizeof *result.rows, error_compare);
        result.count = result.count < (size_t)limit ? result.count : (size_t)limit;
        *out = result;
    }
    free(list);
    return model_leave(model, status);
}
