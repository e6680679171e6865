/* The invariants of docs/invariants.md over the model's tables. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/event_state.h"
#include "store/model/jobs.h"
#include "store/model/log.h"
#include "store/model/runs.h"
#include "store/model/view.h"

/* The violations found so far. */
struct finding {
    struct model *model;
    struct arena *arena;
    struct violation *rows; /* malloc'ed while it grows */
    size_t count, cap;
    bool no_memory;
};

static void violated(struct finding *f, const char *invariant, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void violated(struct finding *f, const char *invariant, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *detail = arena_vprintf(f->arena, fmt, args);
    va_end(args);
    char *name = arena_strdup(f->arena, invariant);
    if (detail == NULL || name == NULL) {
        f->no_memory = true;
        return;
    }
    f->rows = model_grow(f->rows, &f->cap, f->count + 1, sizeof *f->rows);
    f->rows[f->count++] = (struct violation){str_from(name), str_from(detail)};
}

static void check_items(struct finding *f, const struct part *part) {
    for (struct link *link = part->items.first; link != NULL; link = link->next) {
        const struct record *record = link->record;
        if (record->part != part || link != &record->part_link)
            violated(f, "claimed_once", "seq %" PRId64 " is listed by token %" PRId64 " and by another",
                     record->seq, part->token);
        if (record->place != part->source)
            violated(f, "claim_item_exists",
                     "seq %" PRId64 " of token %" PRId64 " is not where its claim took it", record->seq,
                     part->token);
        if (record->kind != part->kind || record->lane != part->lane)
            violated(f, "claim_lane_match",
                     "seq %" PRId64 " of token %" PRId64 " lies in another kind or lane", record->seq,
                     part->token);
    }
}

static void check_part(struct finding *f, const struct part *part) {
    check_items(f, part);
    if (part->items.first == NULL)
        violated(f, "claim_not_empty", "token %" PRId64 " part %d is active without items", part->token,
                 part->number);
    if (part->token > (f->model->settings.epoch << 40 | f->model->counter))
        violated(f, "token_below_counter", "claim token %" PRId64, part->token);
    const struct instance *instance = model_instance_find(f->model, part->instance);
    if (instance == NULL || instance->state != INSTANCE_ACTIVE)
        violated(f, "evicted_owns_nothing", "token %" PRId64 " belongs to an instance that is gone",
                 part->token);
    if (part->suspect != SUSPECT_NO && (part->items.count != 1 || part->source != PLACE_ASIDE ||
                                        part->items.first->record->losses < PAWL_SUSPECT_LOSSES))
        violated(f, "suspect_alone", "token %" PRId64 " is a suspect's but not of one suspect", part->token);
}

static void check_cursor(struct finding *f, const struct lane *lane) {
    for (struct link *link = lane->messages.first; link != NULL; link = link->next) {
        const struct record *record = link->record;
        if (record->seq > lane->high)
            break;
        if (record->part != NULL)
            continue;
        violated(f, "behind_cursor_claimed", "seq %" PRId64 " was read and is in no claim", record->seq);
        const struct link *last = record->home->flying.last;
        if (last != NULL && last->record->seq > record->seq)
            violated(f, "in_flight_prefix",
                     "seq %" PRId64 " waits while seq %" PRId64 " of its stream is in flight", record->seq,
                     last->record->seq);
    }
    if (lane->unread != NULL && lane->unread->record->seq <= lane->high)
        violated(f, "behind_cursor_claimed", "lane %d reads seq %" PRId64 " again", lane->number,
                 lane->unread->record->seq);
}

static void check_lane(struct finding *f, int kind, int number) {
    const struct lane *lane = &f->model->lanes[kind][number];
    if ((int)lane->kind != kind || lane->number != number)
        violated(f, "lane_count_complete", "kind %d has no lane %d", kind, number);
    if (lane->token > (f->model->settings.epoch << 40 | f->model->counter))
        violated(f, "token_below_counter", "lane %d of kind %d has token %" PRId64, number, kind,
                 lane->token);
    if (!uuid_is_nil(lane->owner)) {
        const struct instance *owner = model_instance_find(f->model, lane->owner);
        if (owner == NULL || owner->state != INSTANCE_ACTIVE)
            violated(f, "evicted_owns_nothing", "lane %d of kind %d belongs to an instance that is gone",
                     number, kind);
        if (owner == NULL || owner->state != INSTANCE_ACTIVE || (owner->kinds & KIND_BIT(kind)) == 0)
            violated(f, "lane_owner_active", "lane %d of kind %d has an owner that may not own it", number,
                     kind);
    }
    for (const struct part *part = lane->parts; part != NULL; part = part->next)
        check_part(f, part);
    check_cursor(f, lane);
}

static void check_hold(struct finding *f, const struct stream *stream) {
    const struct link *head = stream->aside.first;
    if (head != NULL && stream->hold == 0)
        violated(f, "aside_has_hold", "seq %" PRId64 " is aside without a hold", head->record->seq);
    if (stream->hold == HOLD_WAITING) {
        if (head == NULL)
            violated(f, "hold_has_aside_or_block", "'%.*s' waits for nothing", STR_ARG(stream->key));
        else if (stream->due_ms != head->record->scheduled_ms)
            violated(f, "hold_due_matches_head", "'%.*s' is due at %" PRId64 ", its first row at %" PRId64,
                     STR_ARG(stream->key), stream->due_ms, head->record->scheduled_ms);
    } else if (stream->hold != 0) {
        const struct record *by = model_record_find_seq(f->model, stream->kind, stream->by_seq);
        if (by == NULL || by->place != PLACE_DEAD || by->home != stream)
            violated(f, "hold_has_aside_or_block",
                     "'%.*s' is held by seq %" PRId64 ", which is no dead letter of it", STR_ARG(stream->key),
                     stream->by_seq);
        if (stream->due_ms != 0)
            violated(f, "hold_due_matches_head", "'%.*s' is blocked but due", STR_ARG(stream->key));
    }
    for (const struct link *link = stream->flying.first; link != NULL; link = link->next) {
        if (link->record->part->token != stream->flying.first->record->part->token)
            violated(f, "stream_in_one_token", "'%.*s' is in flight under two tokens", STR_ARG(stream->key));
    }
}

static void check_record(struct finding *f, const struct record *record) {
    const struct settings *settings = &f->model->settings;
    if (record->partition < 0 || record->partition >= settings->partition_count ||
        record->lane != (int)lane_of((uint32_t)record->partition, (uint32_t)settings->lane_count))
        violated(f, "partition_lane_match", "seq %" PRId64 " is in partition %d and lane %d", record->seq,
                 record->partition, record->lane);
    for (const struct node *node = model_table_next(&record->by_seq); node != NULL;
         node = model_table_next(node)) {
        if (((const struct record *)node->thing)->seq == record->seq)
            violated(f, "seq_unique", "seq %" PRId64 " is used twice", record->seq);
    }
    bool linked = record->place == PLACE_HISTORY ||
                  (record->place == PLACE_MESSAGE
                       ? record->lane_link.record == record && record->stream_link.record == NULL
                       : record->stream_link.record == record && record->lane_link.record == NULL);
    if (!linked)
        violated(f, "message_once", "seq %" PRId64 " is in no table or in two", record->seq);
}

static void check_suspects(struct finding *f) {
    for (size_t i = 0; i < f->model->instance_count; i++) {
        int suspects = 0;
        for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
            for (int n = 0; n < f->model->settings.lane_count; n++) {
                for (const struct part *part = f->model->lanes[kind][n].parts; part != NULL;
                     part = part->next)
                    suspects += part->suspect != SUSPECT_NO &&
                                        uuid_equal(part->instance, f->model->instances[i]->id)
                                    ? 1
                                    : 0;
            }
        }
        if (suspects > 1)
            violated(f, "suspect_alone", "one instance has %d suspects in flight", suspects);
    }
}

static void check_tally(struct finding *f) {
    int64_t rows[KIND_COUNT + 1][PLACE_HISTORY + 1] = {{0}};
    const struct table *table = &f->model->seqs;
    for (struct node *node = model_table_each(table, NULL); node != NULL;
         node = model_table_each(table, node)) {
        const struct record *record = node->thing;
        rows[record->kind][record->place]++;
        check_record(f, record);
    }
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        const struct tally *tally = &f->model->tally[kind];
        int64_t waiting = tally->put - tally->done - tally->aside - tally->dead - tally->discarded;
        if (tally->aside != rows[kind][PLACE_ASIDE] || tally->dead != rows[kind][PLACE_DEAD] ||
            waiting != rows[kind][PLACE_MESSAGE])
            violated(f, "tally_matches_tables",
                     "kind %d: message %" PRId64 " of %" PRId64 ", aside %" PRId64 " of %" PRId64
                     ", dead %" PRId64 " of %" PRId64,
                     kind, waiting, rows[kind][PLACE_MESSAGE], tally->aside, rows[kind][PLACE_ASIDE],
                     tally->dead, rows[kind][PLACE_DEAD]);
    }
}

static bool has_wake(const struct model *model, pawl_str name) {
    const struct table *table = &model->seqs;
    for (struct node *node = model_table_each(table, NULL); node != NULL;
         node = model_table_each(table, node)) {
        const struct record *record = node->thing;
        if (record->kind == KIND_PERSPECTIVE && record->place != PLACE_HISTORY &&
            str_equal(record->stream, name))
            return true;
    }
    return false;
}

static void check_checkpoint(struct finding *f, const struct checkpoint *c) {
    const struct kept_perspective *perspective = model_perspective_find(f->model, c->perspective);
    int64_t head = model_stream_version(f->model, c->stream);
    bool moved = c->version > 0 || c->status != CHECKPOINT_PENDING;
    if ((moved && c->token == 0) || (c->status == CHECKPOINT_PROCESSING) == uuid_is_nil(c->instance) ||
        perspective == NULL || head == 0)
        violated(f, "checkpoint_moved_by_grant", "%.*s of %.*s is at %" PRId64 ", token %" PRId64,
                 STR_ARG(c->perspective), STR_ARG(c->stream), c->version, c->token);
    if (c->token > (f->model->settings.epoch << 40 | f->model->counter))
        violated(f, "token_below_counter", "checkpoint token %" PRId64, c->token);
    if (perspective == NULL)
        return;
    if (head > 0 && c->version > head)
        violated(f, "checkpoint_not_ahead", "%.*s of %.*s is at %" PRId64 ", the stream at %" PRId64,
                 STR_ARG(c->perspective), STR_ARG(c->stream), c->version, head);
    if ((c->due_ms < 0) != (c->status == CHECKPOINT_COMPLETED || c->stopped) ||
        (c->stopped && c->status != CHECKPOINT_FAILED) ||
        (!uuid_is_nil(c->instance) &&
         (c->status != CHECKPOINT_PROCESSING || c->lease_until_ms == 0 || c->token == 0)))
        violated(f, "checkpoint_due_known", "%.*s of %.*s: status %d, due %" PRId64, STR_ARG(c->perspective),
                 STR_ARG(c->stream), (int)c->status, c->due_ms);
    if (model_perspective_fed(perspective) && c->status == CHECKPOINT_COMPLETED && c->version < head &&
        !has_wake(f->model, c->stream))
        violated(f, "wake_not_lost", "%.*s of %.*s is completed at %" PRId64 ", the stream is at %" PRId64,
                 STR_ARG(c->perspective), STR_ARG(c->stream), c->version, head);
}

static void check_events(struct finding *f) {
    const struct event_tables *t = f->model->events;
    for (struct node *node = model_table_each(&f->model->checkpoints, NULL); node != NULL;
         node = model_table_each(&f->model->checkpoints, node))
        check_checkpoint(f, node->thing);
    for (size_t i = 0; t != NULL && i < t->all_count; i++) {
        const struct stored_event *event = &t->all[i]->event;
        const struct kept_stream *stream = model_event_stream(f->model, event->stream);
        if (event->position != (int64_t)i + 1)
            violated(f, "event_positions_dense", "event %zu has position %" PRId64, i + 1, event->position);
        if (stream == NULL || event->version < 1 || event->version > stream->version ||
            stream->events[event->version - 1] != t->all[i])
            violated(f, "event_versions_dense", "version %" PRId64 " of %.*s is not in its place",
                     event->version, STR_ARG(event->stream));
        for (size_t p = 0; p < t->perspective_count; p++) {
            const struct kept_perspective *perspective = t->perspectives[p];
            if (perspective->backfilled && model_perspective_maps(perspective, t->all[i]->type) &&
                model_checkpoint_find(f->model, event->stream, perspective->key) == NULL)
                violated(f, "checkpoint_for_every_match", "%.*s has no checkpoint for %.*s",
                         STR_ARG(perspective->key), STR_ARG(event->stream));
        }
    }
}

pawl_status model_check(struct store *store, struct arena *arena, struct violations *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct finding f = {.model = model, .arena = arena};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        for (int i = 0; i < model->settings.lane_count; i++)
            check_lane(&f, kind, i);
    }
    const struct table *streams = &model->streams;
    for (struct node *node = model_table_each(streams, NULL); node != NULL;
         node = model_table_each(streams, node))
        check_hold(&f, node->thing);
    check_suspects(&f);
    check_tally(&f);
    const char *fault = model_jobs_fault(model);
    if (fault != NULL)
        violated(&f, fault, "pooled work");
    fault = model_runs_fault(model);
    if (fault != NULL)
        violated(&f, fault, "runs");
    check_events(&f);
    struct violation *rows = arena_array(arena, f.count, sizeof *rows);
    pawl_status status = PAWL_OK;
    if (rows == NULL || f.no_memory)
        status = error_set(err, PAWL_NO_MEMORY, "check", "no memory for %zu violations", f.count);
    for (size_t i = 0; status == PAWL_OK && i < f.count; i++)
        rows[i] = f.rows[i];
    free(f.rows);
    if (status == PAWL_OK)
        *out = (struct violations){rows, f.count};
    return model_leave(model, status);
}

pawl_status model_problems(struct store *store, struct arena *arena, struct violations *out,
                           pawl_error *err) {
    (void)store, (void)arena, (void)err;
    *out = (struct violations){NULL, 0}; /* memory has no settings that could be wrong */
    return PAWL_OK;
}

/* It lives as long as its process. */
pawl_status model_durability(struct store *store, struct arena *arena, struct durability *out,
                             pawl_error *err) {
    (void)store, (void)arena, (void)err;
    *out = (struct durability){.found = STR("memory"), .failover = true};
    return PAWL_OK;
}
