/* Moving checkpoints, and finding those that may be claimed. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/failure/fingerprint.h"
#include "domain/failure/retry.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/events/events.h"
#include "store/sqlite/fleet/instance.h"

static void free_lease(struct checkpoint_state *c) {
    c->view.instance = uuid_nil();
    c->view.lease_until_ms = 0;
}

/* Pending, due now, without error and attempts. */
static void checkpoint_clear(const struct operation *op, struct checkpoint_state *c) {
    c->view.status = CHECKPOINT_PENDING;
    c->due_ms = op->now_ms;
    c->view.stopped = false;
    c->view.attempts = 0;
    c->view.failed_version = 0;
    c->view.error = c->view.fingerprint = (pawl_str){NULL, 0};
}

/* The first matching event after a version that is not skipped; 0: none. */
static pawl_status first_matching(struct operation *op, const struct checkpoint_state *c, int64_t after,
                                  int64_t *version) {
    *version = 0;
    struct statement s =
        SQL(op, SQLITE_Q_EVENT_NEXT, c->view.stream, after, c->view.head, c->view.perspective, 1);
    if (statement_next(&s))
        *version = column_int(&s, 1);
    return statement_end(&s);
}

static pawl_status skip_add(struct operation *op, const struct checkpoint_state *c, int64_t version,
                            pawl_str reason) {
    return statement_run(SQL(op, SQLITE_Q_SKIP_INSERT, c->view.perspective, c->view.stream, version,
                             str_absent(reason) ? STR("") : reason, op->now_ms));
}

static pawl_status fail(struct operation *op, struct checkpoint_state *c, const struct checkpoint_end *end,
                        enum fail_outcome *outcome) {
    struct perspective_brief perspective;
    int64_t failed = end->failed_version;
    uint64_t random = 0;
    TRY(perspective_read(op, c->view.perspective, &perspective));
    if (failed == 0)
        TRY(first_matching(op, c, end->version, &failed));
    TRY(random_bytes(&random, sizeof random, op->err));
    pawl_str error = utf8_cut(end->error, PAWL_ERROR_BYTES_MAX);
    int max = perspective.found ? perspective.max_attempts : op->settings.max_attempts;
    bool last = end->delay_ms < 0 || c->view.attempts + 1 >= max;
    *outcome = last ? FAIL_DEAD : FAIL_RETRY;
    if (last && perspective.found && perspective.policy == POLICY_SKIP && failed > 0) {
        *outcome = FAIL_RETRY;
        checkpoint_clear(op, c);
        return skip_add(op, c, failed, error);
    }
    struct retry_policy backoff = retry_policy_default();
    c->view.attempts++;
    c->view.stopped = last;
    c->view.failed_version = failed;
    c->view.error = error;
    if (!str_absent(error)) {
        char *text = arena_alloc(op->scratch, FINGERPRINT_BYTES);
        if (text == NULL)
            return operation_no_memory(op);
        c->view.fingerprint = str_from(fingerprint(error, text));
    }
    c->due_ms = last                ? -1
                : end->delay_ms > 0 ? op->now_ms + end->delay_ms
                                    : op->now_ms + retry_wait_ms(&backoff, c->view.attempts, random);
    return PAWL_OK;
}

static pawl_status count_applied(struct operation *op, const struct checkpoint_state *c, int64_t through) {
    int64_t count = 0;
    if (through <= c->view.version)
        return PAWL_OK;
    TRY(events_matching(op, c->view.stream, c->view.perspective, c->view.version, through, &count));
    return perspective_count_applied(op, c->view.perspective, count);
}

pawl_status checkpoint_end(struct operation *op, struct checkpoint_state *c, const struct checkpoint_end *end,
                           enum fail_outcome *outcome) {
    if (!end->counted)
        TRY(count_applied(op, c, end->version));
    *outcome = FAIL_NONE;
    c->view.version = end->version;
    c->view.token = end->token;
    c->view.status = end->status;
    c->view.stopped = false;
    if (end->status == CHECKPOINT_FAILED) {
        TRY(fail(op, c, end, outcome));
    } else {
        c->view.error = c->view.fingerprint = (pawl_str){NULL, 0};
        c->view.failed_version = 0;
        c->due_ms = op->now_ms + (end->status == CHECKPOINT_PENDING ? end->delay_ms : 0);
    }
    if (end->status == CHECKPOINT_COMPLETED) {
        c->view.attempts = 0;
        if (c->view.version < c->view.head)
            c->view.status = CHECKPOINT_PENDING; /* there are newer events */
        else
            c->due_ms = -1;
    }
    if (end->status == CHECKPOINT_PROCESSING)
        c->due_ms = c->view.lease_until_ms;
    else
        free_lease(c);
    return checkpoint_write(op, c);
}

pawl_status checkpoint_report(struct operation *op, pawl_uuid instance,
                              const struct checkpoint_report *report, enum store_answer *answer) {
    struct checkpoint_state c;
    struct perspective_brief perspective;
    enum fail_outcome ignored = FAIL_NONE;
    TRY(checkpoint_read(op, report->stream, report->perspective, &c));
    TRY(perspective_read(op, report->perspective, &perspective));
    const struct checkpoint_view *v = &c.view;
    struct checkpoint_found found = {.version = v->version,
                                     .head = v->head,
                                     .token = v->token,
                                     .status = v->status,
                                     .held = v->status == CHECKPOINT_PROCESSING &&
                                             v->token == report->token && uuid_equal(v->instance, instance)};
    *answer = !c.found ? ANSWER_NOT_FOUND
              : perspective.found && perspective.state == PERSPECTIVE_REMOVED
                  ? ANSWER_STALE
                  : checkpoint_answer(&found, report);
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    return checkpoint_end(op, &c,
                          &(struct checkpoint_end){.version = report->version,
                                                   .token = report->token,
                                                   .status = report->status,
                                                   .error = report->error,
                                                   .delay_ms = report->delay_ms},
                          &ignored);
}

/* ---- Claim */

static pawl_status find_runnable(struct operation *op, const struct checkpoints_claim *in,
                                 struct runnable *out) {
    out->keys = arena_array(op->scratch, in->perspective_count, sizeof *out->keys);
    if (out->keys == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < in->perspective_count; i++) {
        struct perspective_brief perspective;
        TRY(perspective_read(op, in->perspectives[i], &perspective));
        if (perspective_fed(&perspective) && !perspective.paused)
            out->keys[out->count++] = &in->perspectives[i];
    }
    return PAWL_OK;
}

static bool can_run(const struct runnable *runnable, pawl_str key) {
    for (size_t i = 0; i < runnable->count; i++) {
        if (str_equal(*runnable->keys[i], key))
            return true;
    }
    return false;
}

pawl_status checkpoint_pick(struct operation *op, struct picked *list, const struct checkpoint_state *c) {
    TRY(list_grow(op, op->scratch, (void **)&list->rows, &list->cap, list->count, sizeof *c));
    list->rows[list->count++] = *c;
    return PAWL_OK;
}

/* Every checkpoint that the statement gives, which is ended. */
static pawl_status pick_all(struct operation *op, struct statement *s, struct picked *list) {
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && statement_next(s)) {
        struct checkpoint_state c = checkpoint_column(s, op->scratch);
        status = checkpoint_pick(op, list, &c);
    }
    return statement_close(s, status);
}

pawl_status checkpoint_wake(struct operation *op, struct checkpoint_state *c) {
    if (c->view.status != CHECKPOINT_COMPLETED)
        return PAWL_OK;
    c->view.status = CHECKPOINT_PENDING;
    c->due_ms = op->now_ms;
    return checkpoint_write(op, c);
}

pawl_status checkpoints_take_streams(struct operation *op, const struct checkpoint_look *look,
                                     const struct runnable *runnable, struct picked *list) {
    const struct checkpoints_claim *in = look->claim;
    struct picked all = {0};
    pawl_str streams;
    pawl_status status = texts_json(op, in->streams, in->stream_count, &streams);
    if (status != PAWL_OK)
        return status;
    struct statement s = SQL(op, SQLITE_Q_CHECKPOINT_BEHIND, streams);
    while (status == PAWL_OK && statement_next(&s)) {
        struct checkpoint_state c = checkpoint_column(&s, op->scratch);
        if (!checkpoint_left_alone(look, c.view.perspective))
            status = checkpoint_pick(op, &all, &c);
    }
    status = statement_close(&s, status);
    for (size_t i = 0; status == PAWL_OK && i < all.count; i++) {
        struct checkpoint_state *c = &all.rows[i];
        enum checkpoint_status stored = c->view.status;
        if (stored == CHECKPOINT_PROCESSING && c->view.lease_until_ms > op->now_ms) {
            continue; /* its holder reads the stream's version before giving it back */
        } else if ((stored == CHECKPOINT_FAILED || stored == CHECKPOINT_PENDING) &&
                   (c->due_ms < 0 || c->due_ms > op->now_ms)) {
            continue;
        } else if (list->count < (size_t)in->max && can_run(runnable, c->view.perspective)) {
            status = checkpoint_pick(op, list, c);
        } else {
            status = checkpoint_wake(op, c);
        }
    }
    return status;
}

static int due_compare(const void *a, const void *b) {
    const struct checkpoint_state *x = a, *y = b;
    if (x->due_ms != y->due_ms)
        return x->due_ms < y->due_ms ? -1 : 1;
    int order = str_compare(x->view.stream, y->view.stream);
    return order != 0 ? order : str_compare(x->view.perspective, y->view.perspective);
}

pawl_status checkpoint_idle(struct operation *op, struct checkpoint_state *c) {
    checkpoint_clear(op, c);
    free_lease(c);
    c->view.status = CHECKPOINT_COMPLETED;
    c->due_ms = -1;
    return checkpoint_write(op, c);
}

static pawl_status take_due(struct operation *op, const struct checkpoints_claim *in,
                            const struct runnable *runnable, struct picked *list) {
    struct picked due = {0};
    for (size_t i = 0; i < runnable->count; i++) {
        struct statement s = SQL(op, SQLITE_Q_CHECKPOINT_DUE, *runnable->keys[i], op->now_ms, in->max);
        TRY(pick_all(op, &s, &due));
    }
    if (due.count > 1)
        qsort(due.rows, due.count, sizeof *due.rows, due_compare);
    for (size_t i = 0; i < due.count && i < (size_t)in->max; i++) {
        struct checkpoint_state *c = &due.rows[i];
        TRY(c->view.version < c->view.head ? checkpoint_pick(op, list, c) : checkpoint_idle(op, c));
    }
    return PAWL_OK;
}

static pawl_status granted_of(struct operation *op, const struct checkpoint_state *c, struct arena *arena,
                              struct checkpoint_grant *out) {
    *out = (struct checkpoint_grant){.version = c->view.version,
                                     .head = c->view.head,
                                     .token = c->view.token,
                                     .lease_until_ms = c->view.lease_until_ms,
                                     .replay_to = c->view.replay_to,
                                     .attempt = c->view.attempts + 1};
    TRY(str_dup(arena, c->view.stream, &out->stream, op->err));
    return str_dup(arena, c->view.perspective, &out->perspective, op->err);
}

static pawl_status note_request(struct operation *op, const struct checkpoint_state *c, pawl_uuid request) {
    return statement_run(SQL(op, SQLITE_Q_CHECKPOINT_REQUEST, c->view.stream, c->view.perspective, request));
}

static pawl_status grant(struct operation *op, const struct checkpoints_claim *in, struct picked *list,
                         struct arena *arena, struct checkpoint_grants *out) {
    int64_t token = list->count > 0 ? operation_next_token(op) : 0;
    out->grants = arena_array(arena, list->count, sizeof *out->grants);
    if (out->grants == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < list->count; i++) {
        struct checkpoint_state *c = &list->rows[i];
        c->view.status = CHECKPOINT_PROCESSING;
        c->view.instance = in->instance;
        c->view.token = token;
        c->view.lease_until_ms = c->due_ms = op->now_ms + in->lease_ms;
        TRY(checkpoint_write(op, c));
        if (!uuid_is_nil(in->request))
            TRY(note_request(op, c, in->request));
        TRY(granted_of(op, c, arena, &out->grants[out->count++]));
    }
    return PAWL_OK;
}

pawl_status checkpoints_leave(struct operation *op, pawl_uuid instance) {
    int64_t changed = 0;
    pawl_status status =
        statement_run_count(SQL(op, SQLITE_Q_CHECKPOINT_LEAVE, instance, op->now_ms), &changed);
    return status == PAWL_OK && changed > 0 ? perspective_count_again(op, (pawl_str){NULL, 0}) : status;
}

pawl_status checkpoints_held(struct operation *op, const struct checkpoints_claim *in, struct arena *arena,
                             struct checkpoint_grants *out) {
    struct picked held = {0};
    struct statement s = SQL(op, SQLITE_Q_CHECKPOINT_HELD, in->instance, in->request);
    TRY(pick_all(op, &s, &held));
    out->grants = arena_array(arena, held.count, sizeof *out->grants);
    if (out->grants == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < held.count; i++)
        TRY(granted_of(op, &held.rows[i], arena, &out->grants[out->count++]));
    return PAWL_OK;
}

pawl_status checkpoints_grant(struct operation *op, const struct checkpoints_claim *in, struct arena *arena,
                              struct checkpoint_grants *out) {
    struct runnable runnable = {0};
    struct picked list = {0};
    TRY(instance_must_be_live(op, in->instance));
    TRY(find_runnable(op, in, &runnable));
    struct checkpoint_look look = {.claim = in};
    TRY(in->stream_count > 0 ? checkpoints_take_streams(op, &look, &runnable, &list)
                             : take_due(op, in, &runnable, &list));
    return grant(op, in, &list, arena, out);
}

pawl_status sqlite_checkpoints_claim(struct store *store, const struct checkpoints_claim *in,
                                     struct arena *arena, struct checkpoint_grants *out, pawl_error *err) {
    struct checkpoint_grants result = {0};
    struct operation op = operation_write(store, "checkpoints_claim", check_checkpoints_claim(in, err), err);
    return operation_give(&op, checkpoints_grant(&op, in, arena, &result), out, &result);
}

pawl_status checkpoints_extend(struct operation *op, const struct checkpoints_renew *in, struct arena *arena,
                               struct answer_list *out) {
    TRY(report_answers(op, arena, in->count, false, out));
    for (size_t i = 0; i < in->count; i++) {
        int64_t changed = 0;
        TRY(statement_run_count(SQL(op, SQLITE_Q_CHECKPOINT_RENEW, in->refs[i].stream,
                                    in->refs[i].perspective, in->refs[i].token, op->now_ms + in->lease_ms,
                                    in->instance),
                                &changed));
        out->answers[i] = changed > 0 ? ANSWER_APPLIED : ANSWER_STALE;
    }
    return PAWL_OK;
}

pawl_status sqlite_checkpoints_renew(struct store *store, const struct checkpoints_renew *in,
                                     struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    struct operation op = operation_write(store, "checkpoints_renew", check_checkpoints_renew(in, err), err);
    return operation_give(&op, checkpoints_extend(&op, in, arena, &list), out, &list);
}

static pawl_status skip(struct operation *op, const struct checkpoint_skip *in, enum store_answer *answer) {
    struct checkpoint_state c;
    bool known = false;
    TRY(checkpoint_read(op, in->stream, in->perspective, &c));
    TRY(statement_any(SQL(op, SQLITE_Q_SKIP_FIND, in->perspective, in->stream, in->version), &known));
    *answer = !c.found                                                     ? ANSWER_NOT_FOUND
              : known                                                      ? ANSWER_DUPLICATE
              : in->version <= c.view.version || in->version > c.view.head ? ANSWER_CONFLICT
                                                                           : ANSWER_APPLIED;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    TRY(skip_add(op, &c, in->version, utf8_cut(in->reason, PAWL_ERROR_BYTES_MAX)));
    if (c.view.status != CHECKPOINT_FAILED)
        return PAWL_OK;
    checkpoint_clear(op, &c);
    return checkpoint_write(op, &c);
}

pawl_status sqlite_checkpoint_skip(struct store *store, const struct checkpoint_skip *in,
                                   enum store_answer *answer, pawl_error *err) {
    enum store_answer result = ANSWER_APPLIED;
    struct operation op = operation_write(store, "checkpoint_skip", check_skip(in, err), err);
    return operation_give(&op, skip(&op, in, &result), answer, &result);
}
