/* Checking the input of core operations, with the same errors for every store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/workstatus.h"
#include "store/check/place.h"
#include "store/store.h"

pawl_status check_put(const struct messages_put *in, pawl_error *err) {
    struct place at = {.op = "messages_put", .err = err};
    place_kind(&at, in->kind);
    if (in->kind != KIND_INBOX && !str_absent(in->consumer))
        return place_wrong(&at, "a consumer is named, but only the inbox deduplicates; leave it out");
    struct text_rule consumer = {"consumer", TEXT_NAME, in->kind == KIND_INBOX};
    place_text(&at, &consumer, in->consumer);
    return place_messages(&at, in->messages, in->count, in->payload_bytes_max);
}

pawl_status check_claim(const struct messages_claim *in, pawl_error *err) {
    struct place at = {.op = "messages_claim", .err = err};
    place_instance_id(&at, in->instance);
    place_kind(&at, in->kind);
    if (in->max < 1 || in->max > PAWL_BATCH_MAX)
        return place_wrong(&at, "max %d is outside 1 … %d", in->max, PAWL_BATCH_MAX);
    if (in->lane < 0 || (!in->one_lane && in->lane != 0))
        return place_wrong(&at, "lane %d is not a lane", in->lane);
    place_lease(&at, in->lease_ms);
    place_policy(&at, (int)in->policy);
    return place_attempts(&at, in->max_attempts);
}

pawl_status check_settle(const struct grants_settle *in, pawl_error *err) {
    struct place at = {.op = "grants_settle", .err = err};
    place_instance_id(&at, in->instance);
    if ((int)in->side < GRANTS_MESSAGES || in->side > GRANTS_SIDE_LAST)
        return place_wrong(&at, "side %d is none of 1 (messages), 2 (jobs), 3 (checkpoints)", (int)in->side);
    if (in->settled < 0 || in->seen < 0)
        return place_wrong(&at, "settled and seen are tokens; 0 means none");
    if (in->count > PAWL_HELD_MAX)
        return place_wrong(&at, "%zu grants are more than %d", in->count, PAWL_HELD_MAX);
    return at.status;
}

enum { EPOCHS_AHEAD = 1000 /* the most that a store and its restored copy can plausibly differ */ };

pawl_status check_seen(int64_t seen, int64_t epoch, int64_t newest, int64_t *raise, pawl_error *err) {
    struct place at = {.op = "grants_settle", .err = err};
    int64_t of = seen >> 40;
    if (of > epoch + EPOCHS_AHEAD)
        return place_wrong(&at, "seen %" PRId64 " is no token of this store: its epoch is %" PRId64, seen,
                           epoch);
    *raise = seen > newest ? of + 1 : 0;
    return at.status;
}

static int held_compare(const void *a, const void *b) {
    const struct grant_held *x = a, *y = b;
    if (x->token != y->token)
        return x->token < y->token ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

void grants_sort(struct grant_held *held, size_t count) {
    if (count > 1)
        qsort(held, count, sizeof(*held), held_compare);
}

bool grants_has(const struct grant_held *held, size_t count, struct grant_held what) {
    return count > 0 && bsearch(&what, held, count, sizeof(*held), held_compare) != NULL;
}

static pawl_status place_instance(struct place *at, const struct instance_new *in) {
    place_instance_id(at, in->id);
    place_required(at, TEXT_NAME, "service", in->service);
    place_optional(at, TEXT_NAME, "host", in->host);
    place_json_object(at, "metadata", in->metadata);
    if (in->lease_ms != 0)
        place_lease(at, in->lease_ms);
    if ((in->kinds & ~(KIND_BITS_ALL | KIND_BIT_JOBS)) != 0)
        return place_wrong(
            at,
            "kinds %d has bits that are no kind; combine 2 (outbox), 4 (inbox), 8 (perspective), "
            "16 (jobs)",
            in->kinds);
    if (in->pid < 0)
        return place_wrong(at, "pid %d is negative", in->pid);
    if (in->max_partitions < 0)
        return place_wrong(at, "max_partitions %d is negative; 0 means no cap", in->max_partitions);
    if (in->slots < 0 || in->slots > PAWL_SLOTS_MAX)
        return place_wrong(at, "slots %d is outside 0 … %d; 0 means one message at a time", in->slots,
                           PAWL_SLOTS_MAX);
    if (in->partition_count < 0 || in->partition_count > PAWL_PARTITIONS_MAX)
        return place_wrong(at, "partition_count %d is outside 0 … %d; 0 means whatever the schema has",
                           in->partition_count, PAWL_PARTITIONS_MAX);
    return at->status;
}

pawl_status check_instance(const struct instance_new *in, pawl_error *err) {
    struct place at = {.op = "instance_register", .err = err};
    return place_instance(&at, in);
}

static pawl_status place_call(struct place *at, pawl_uuid instance, enum store_kind kind) {
    place_instance_id(at, instance);
    return place_kind(at, kind);
}

pawl_status check_complete(const struct messages_complete *in, pawl_error *err) {
    struct place at = {.op = "messages_complete", .err = err};
    place_call(&at, in->instance, in->kind);
    return place_count(&at, "completions", in->count, in->items);
}

pawl_status check_fail(const struct messages_fail *in, pawl_error *err) {
    struct place at = {.op = "messages_fail", .err = err};
    place_call(&at, in->instance, in->kind);
    return place_failures(&at, in->items, in->count);
}

pawl_status check_release(const struct messages_release *in, pawl_error *err) {
    struct place at = {.op = "messages_release", .err = err};
    place_call(&at, in->instance, in->kind);
    return place_releases(&at, in->items, in->count);
}

pawl_status check_renew(const struct messages_renew *in, pawl_error *err) {
    struct place at = {.op = "messages_renew", .err = err};
    place_call(&at, in->instance, in->kind);
    place_lease(&at, in->lease_ms);
    return place_count(&at, "renewals", in->count, in->items);
}

static pawl_status place_receptors(struct place *at, const struct receptor_report *reports, size_t count) {
    at->noun = NULL;
    place_count(at, "receptor reports", count, reports);
    at->noun = "receptor report";
    at->count = count;
    for (at->index = 0; at->status == PAWL_OK && at->index < count; at->index++) {
        const struct receptor_report *report = &reports[at->index];
        if (uuid_is_nil(report->event_id))
            return place_wrong(at, "the event id is nil; name the event that was handled");
        if ((report->status & ~WORK_STATUS_ALL) != 0)
            return place_wrong(at,
                               "status %d has unknown bits; use 1 stored, 2 published, 4 completed, 8 failed",
                               report->status);
        place_required(at, TEXT_NAME, "receptor", report->receptor);
        place_error_text(at, report->error);
    }
    return at->status;
}

pawl_status check_receptors(const struct receptor_report *reports, size_t count, pawl_error *err) {
    struct place at = {.op = "receptors_report", .err = err};
    return place_receptors(&at, reports, count);
}

static pawl_status place_checkpoints(struct place *at, const struct checkpoint_report *reports,
                                     size_t count) {
    at->noun = NULL;
    place_count(at, "checkpoint reports", count, reports);
    at->noun = "checkpoint report";
    at->count = count;
    for (at->index = 0; at->status == PAWL_OK && at->index < count; at->index++) {
        const struct checkpoint_report *report = &reports[at->index];
        if (report->version < 0 || report->token < 0)
            return place_wrong(at, "version %" PRId64 " or token %" PRId64 " is negative", report->version,
                               report->token);
        if (report->status < CHECKPOINT_PENDING || report->status > CHECKPOINT_FAILED)
            return place_wrong(at, "%d is not a status; use 0 pending, 1 processing, 2 completed, 3 failed",
                               (int)report->status);
        bool give_up = report->delay_ms == CHECKPOINT_GIVE_UP && report->status == CHECKPOINT_FAILED;
        if ((report->delay_ms < 0 && !give_up) || report->delay_ms > PAWL_RETRY_MS_MAX)
            return place_wrong(
                at, "a delay of %" PRId64 " ms is outside 0 … %d ms (0 = the backoff, -1 = never again)",
                report->delay_ms, PAWL_RETRY_MS_MAX);
        place_required(at, TEXT_STREAM, "stream", report->stream);
        place_required(at, TEXT_NAME, "perspective", report->perspective);
        place_error_text(at, report->error);
    }
    return at->status;
}

pawl_status check_checkpoints(const struct checkpoints_report *in, pawl_error *err) {
    struct place at = {.op = "checkpoints_report", .err = err};
    return place_checkpoints(&at, in->reports, in->count);
}

pawl_status check_dead_refs(const char *op, const struct dead_ref *refs, size_t count, pawl_error *err) {
    struct place at = {.op = op, .err = err};
    place_count(&at, "references", count, refs);
    at.noun = "reference";
    at.count = count;
    for (at.index = 0; at.status == PAWL_OK && at.index < count; at.index++)
        place_kind(&at, refs[at.index].kind);
    return at.status;
}

pawl_status check_dead_edit(const struct dead_ref *ref, pawl_str payload, pawl_error *err) {
    struct place at = {.op = "dead_edit", .err = err};
    place_kind(&at, ref->kind);
    return place_payload(&at, payload, PAWL_PAYLOAD_BYTES_MAX);
}

pawl_status check_maintain(const struct maintain_in *in, pawl_error *err) {
    struct place at = {.op = "maintain", .err = err};
    if (in->rows_max < 1)
        return place_wrong(&at, "rows_max %d must be at least 1; 10000 is a good bound", in->rows_max);
    return at.status;
}

pawl_status check_settings(const struct settings_change *in, pawl_error *err) {
    struct place at = {.op = "settings_change", .err = err};
    const struct {
        const char *name;
        int64_t value, min, max;
    } rows[] = {
        {"instance_lease_ms", in->instance_lease_ms, PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX},
        {"stale_ms", in->stale_ms, PAWL_LEASE_MS_MIN, PAWL_STALE_MS_MAX},
        {"dedupe_ms", in->dedupe_ms, 0, PAWL_DEDUPE_MS_MAX},
        {"history_ms", in->history_ms, 0, PAWL_HISTORY_MS_MAX},
        {"test_now_ms", in->test_now_ms, 0, INT64_MAX / 4},
        {"max_attempts", in->max_attempts, 1, PAWL_ATTEMPTS_MAX},
        {"dead_policy", in->dead_policy, POLICY_BLOCK, POLICY_PARK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].value != -1 && (rows[i].value < rows[i].min || rows[i].value > rows[i].max))
            return place_wrong(
                &at, "%s = %" PRId64 " is outside %" PRId64 " … %" PRId64 " (-1 leaves it as it is)",
                rows[i].name, rows[i].value, rows[i].min, rows[i].max);
    }
    return at.status;
}

static pawl_status place_batch_kind(struct place *at, const struct work_batch *in, int kind) {
    at->noun = NULL;
    place_count(at, "completions", in->completion_count[kind], in->completions[kind]);
    place_count(at, "renewals", in->renewal_count[kind], in->renewals[kind]);
    place_failures(at, in->failures[kind], in->failure_count[kind]);
    place_releases(at, in->releases[kind], in->release_count[kind]);
    place_messages(at, in->messages[kind], in->message_count[kind], 0);
    at->noun = NULL;
    if (in->claim_max[kind] < 0 || in->claim_max[kind] > PAWL_BATCH_MAX)
        return place_wrong(at, "claim_max %d of kind %d is outside 0 … %d (0 = claim nothing)",
                           in->claim_max[kind], kind, PAWL_BATCH_MAX);
    return at->status;
}

pawl_status check_batch(const struct work_batch *in, pawl_error *err) {
    struct place at = {.op = "batch_process", .err = err};
    place_instance(&at, &in->instance);
    place_optional(&at, TEXT_NAME, "consumer", in->consumer);
    bool needs_lease = in->lease_ms != 0;
    for (int kind = KIND_OUTBOX; at.status == PAWL_OK && kind <= KIND_COUNT; kind++) {
        place_batch_kind(&at, in, kind);
        needs_lease = needs_lease || in->renewal_count[kind] > 0 || in->claim_max[kind] > 0;
    }
    needs_lease = needs_lease || in->checkpoint_renewal_count > 0 || in->checkpoint_max > 0;
    place_receptors(&at, in->receptors, in->receptor_count);
    place_checkpoints(&at, in->checkpoints, in->checkpoint_count);
    at.noun = NULL;
    place_count(&at, "checkpoint renewals", in->checkpoint_renewal_count, in->checkpoint_renewals);
    place_count(&at, "perspectives", in->perspective_count, in->perspectives);
    if (in->checkpoint_max < 0 || in->checkpoint_max > PAWL_BATCH_MAX)
        return place_wrong(&at, "checkpoint_max %d is outside 0 … %d (0 = none)", in->checkpoint_max,
                           PAWL_BATCH_MAX);
    if (in->checkpoint_max > 0 && in->claim_max[KIND_PERSPECTIVE] > 0)
        return place_wrong(
            &at,
            "checkpoints and messages of kind %d are asked for in one batch: the messages only "
            "say which checkpoints to look at; ask for one of the two",
            KIND_PERSPECTIVE);
    if (needs_lease)
        place_lease(&at, in->lease_ms);
    place_policy(&at, (int)in->policy);
    place_attempts(&at, in->max_attempts);
    if (in->only.kind != 0)
        return place_wrong(&at, "a batch of one lane is a claim; call store_batch");
    if ((in->flags & ~(BATCH_SKIP_CLAIM | BATCH_DEBUG | BATCH_LANES)) != 0)
        return place_wrong(&at, "flags %d has unknown bits; use 1 (skip claim), 2 (debug) and 4 (lanes)",
                           in->flags);
    return at.status;
}

pawl_status store_error_text(struct arena *arena, pawl_str error, pawl_str stack, pawl_str *text,
                             pawl_error *err) {
    char *joined = NULL;
    size_t len = error.len;
    if (str_absent(error) && str_absent(stack)) {
        *text = (pawl_str){NULL, 0};
        return PAWL_OK;
    }
    if (!str_absent(stack))
        len += 1 + stack.len;
    joined = arena_alloc(arena, len + 1);
    if (joined == NULL)
        return error_set(err, PAWL_NO_MEMORY, "store_error_text", "no memory for an error text of %zu bytes",
                         len);
    if (error.len > 0)
        memcpy(joined, error.ptr, error.len);
    if (!str_absent(stack)) {
        joined[error.len] = '\n';
        if (stack.len > 0)
            memcpy(joined + error.len + 1, stack.ptr, stack.len);
    }
    *text = utf8_cut((pawl_str){joined, len}, PAWL_ERROR_BYTES_MAX);
    return PAWL_OK;
}
