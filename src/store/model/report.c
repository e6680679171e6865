/* Reports on granted messages: complete, fail, release, renew. */
#include "store/model/report.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/failure/retry.h"
#include "domain/workstatus.h"
#include "store/model/aside.h"
#include "store/model/relay.h"

/* Who reports, on what. */
struct reporter {
    struct model *model;
    pawl_uuid instance;
    enum store_kind kind;
};

pawl_status model_answers_new(struct arena *arena, size_t count, bool outcomes, struct answer_list *out,
                              pawl_error *err) {
    struct answer_list list = {.count = count};
    list.answers = arena_array(arena, count, sizeof *list.answers);
    if (outcomes)
        list.outcomes = arena_array(arena, count, sizeof *list.outcomes);
    if (list.answers == NULL || (outcomes && list.outcomes == NULL))
        return error_set(err, PAWL_NO_MEMORY, "report", "no memory for %zu answers", count);
    *out = list;
    return PAWL_OK;
}

static bool part_reported_by(const struct reporter *by, const struct part *part, int64_t token) {
    return part->token == token && part->kind == by->kind && uuid_equal(part->instance, by->instance);
}

/* The first unfinished message with that id under the token that no earlier item of this call stands for;
 * *surplus is the mark of one that does, when there is one. */
static struct record *held_find(const struct reporter *by, struct item_ref ref, size_t *surplus) {
    struct record *found = NULL;
    *surplus = 0;
    struct node *node = model_table_first(&by->model->ids, model_hash_uuid(ref.id));
    for (; node != NULL; node = model_table_next(node)) {
        struct record *record = node->thing;
        if (record->part == NULL || !uuid_equal(record->id, ref.id) ||
            !part_reported_by(by, record->part, ref.token))
            continue;
        if (record->mark != 0)
            *surplus = record->mark;
        else if (found == NULL || record->seq < found->seq)
            found = record;
    }
    return found;
}

/* What an item that is not held answers, and its place in the tally. */
static enum store_answer unheld_answer(const struct reporter *by, struct item_ref ref) {
    struct node *node = model_table_first(&by->model->tokens, model_hash_number(ref.token));
    for (; node != NULL; node = model_table_next(node)) {
        const struct part *part = node->thing;
        if (part_reported_by(by, part, ref.token) && model_part_has_done(part, ref.id))
            return ANSWER_DUPLICATE;
    }
    by->model->tally[by->kind].stale++;
    return ANSWER_STALE;
}

/* Accepts the longest prefix of the stream's unfinished items that this call names. */
static void accept_prefix(struct stream *stream) {
    if (stream->seen)
        return;
    stream->seen = true;
    for (struct link *link = stream->flying.first; link != NULL && link->record->mark != 0;
         link = link->next) {
        link->record->accepted = true;
        link->record->part->named++;
    }
}

/* Which message each item of the call stands for (NULL: none); follows says which other item it repeats. */
static void complete_resolve(const struct reporter *by, const struct messages_complete *in,
                             struct record **records, size_t *follows, struct answer_list *out) {
    for (size_t i = 0; i < in->count; i++) {
        if (!work_status_ends(in->items[i].status)) {
            out->answers[i] = ANSWER_INVALID;
            continue;
        }
        records[i] = held_find(by, in->items[i].ref, &follows[i]);
        if (records[i] != NULL) {
            records[i]->mark = i + 1;
            follows[i] = 0;
        } else if (follows[i] == 0) {
            out->answers[i] = unheld_answer(by, in->items[i].ref);
        }
    }
    for (size_t i = 0; i < in->count; i++) {
        if (records[i] != NULL)
            accept_prefix(records[i]->home);
    }
}

/* Answers every item; a part that this call ends whole forgets its lists. The scratch fields are clean
 * afterwards, but for `accepted`. */
static void complete_answer(struct record **records, const size_t *follows, struct answer_list *out) {
    for (size_t i = 0; i < out->count; i++) {
        if (records[i] == NULL)
            continue;
        struct part *part = records[i]->part;
        if (part->pristine && part->named == part->items.count)
            part->forgot = true;
        out->answers[i] = records[i]->accepted ? ANSWER_APPLIED : ANSWER_CONFLICT;
    }
    for (size_t i = 0; i < out->count; i++) {
        if (records[i] == NULL) {
            if (follows[i] != 0)
                out->answers[i] = records[follows[i] - 1]->accepted ? ANSWER_DUPLICATE : ANSWER_CONFLICT;
            continue;
        }
        records[i]->mark = 0;
        records[i]->part->named = 0;
        records[i]->home->seen = false;
    }
}

void model_report_complete(struct model *model, const struct messages_complete *in, struct answer_list *out) {
    const struct reporter by = {model, in->instance, in->kind};
    struct record **records = model_alloc(in->count * sizeof(struct record *));
    size_t *follows = model_alloc(in->count * sizeof *follows);
    complete_resolve(&by, in, records, follows, out);
    complete_answer(records, follows, out);
    for (size_t i = 0; i < in->count; i++) {
        if (records[i] == NULL || !records[i]->accepted)
            continue;
        records[i]->accepted = false;
        model_part_leave(model, records[i], true);
        model_record_finish(model, records[i], in->debug || model->settings.history_ms > 0);
        model->tally[in->kind].done++;
    }
    free(follows);
    free(records);
}

pawl_status model_fail_prepare(struct arena *arena, const struct fail_item *items, size_t count,
                               struct fail_scratch *scratch, pawl_error *err) {
    struct fail_scratch s = {arena_array(arena, count, sizeof *s.randoms),
                             arena_array(arena, count, sizeof *s.errors)};
    if (s.randoms == NULL || s.errors == NULL)
        return error_set(err, PAWL_NO_MEMORY, "messages_fail", "no memory for %zu failures", count);
    pawl_status status = random_bytes(s.randoms, count * sizeof *s.randoms, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = store_error_text(arena, items[i].error, items[i].stack, &s.errors[i], err);
    if (status == PAWL_OK)
        *scratch = s;
    return status;
}

/* One failure of a held message: it waits for its next attempt, or dies. */
static enum fail_outcome fail_one(struct model *model, struct record *record, const struct fail_item *item,
                                  uint64_t random) {
    const struct part *part = record->part;
    enum dead_policy policy = item->policy != POLICY_DEFAULT ? item->policy : part->policy;
    int max_attempts = item->max_attempts != 0 ? item->max_attempts : part->max_attempts;
    record->attempts++;
    record->losses = 0; /* it came back: it did not kill its worker */
    model_part_leave(model, record, true);
    if (item->error_class != CLASS_RETRYABLE) {
        model_die(model, record, item->error_class == CLASS_PERMANENT ? DEAD_PERMANENT : DEAD_CANCELLED,
                  policy);
        return FAIL_DEAD;
    }
    if (record->attempts + record->deaths >= max_attempts) {
        model_die(model, record, DEAD_ATTEMPTS, policy);
        return FAIL_DEAD;
    }
    struct retry_policy backoff = retry_policy_default();
    int64_t delay_ms = item->delay_ms >= 0
                           ? item->delay_ms
                           : retry_wait_ms(&backoff, record->attempts + record->deaths, random);
    model_record_to_aside(model, record, ASIDE_FAILED, model->now_ms + delay_ms);
    model_aside_successors(model, record);
    return FAIL_RETRY;
}

/* Who wanted it to end, and why. */
static void set_cancelled(struct model *model, struct record *record, pawl_uuid message) {
    char id[UUID_TEXT_BYTES];
    const struct pause_row *row = model_pause_find(model, PAUSE_MESSAGE, str_from(uuid_format(message, id)));
    struct arena *arena = row != NULL ? arena_create(0) : NULL;
    if (arena != NULL)
        model_record_set_error(record, pause_error_text(arena, row->actor, row->reason));
    arena_free(arena);
}

void model_report_fail(struct model *model, const struct messages_fail *in,
                       const struct fail_scratch *scratch, struct answer_list *out) {
    const struct reporter by = {model, in->instance, in->kind};
    for (size_t i = 0; i < in->count; i++) {
        size_t surplus = 0;
        struct record *record = held_find(&by, in->items[i].ref, &surplus);
        out->outcomes[i] = FAIL_NONE;
        if (record == NULL) {
            out->answers[i] = unheld_answer(&by, in->items[i].ref);
            continue;
        }
        model_record_set_error(record, scratch->errors[i]);
        if (in->items[i].error_class == CLASS_CANCELLED)
            set_cancelled(model, record, in->items[i].ref.id);
        out->outcomes[i] = fail_one(model, record, &in->items[i], scratch->randoms[i]);
        out->answers[i] = ANSWER_APPLIED;
        model->tally[in->kind].failed++;
    }
}

/* The later items of the record's stream under the same token come back with it. */
static void release_successors(struct model *model, const struct record *record, int64_t token) {
    struct link *link = record->home->flying.last;
    while (link != NULL && link->record->seq > record->seq) {
        struct record *successor = link->record;
        link = link->prev;
        if (successor->part->token != token)
            continue;
        model_part_leave(model, successor, false);
        model_record_to_aside(model, successor, ASIDE_RELEASED, model->now_ms);
    }
}

void model_report_release(struct model *model, const struct messages_release *in, struct answer_list *out) {
    const struct reporter by = {model, in->instance, in->kind};
    for (size_t i = 0; i < in->count; i++) {
        size_t surplus = 0;
        struct record *record = held_find(&by, in->items[i].ref, &surplus);
        if (record == NULL) {
            out->answers[i] = unheld_answer(&by, in->items[i].ref);
            continue;
        }
        int64_t token = record->part->token;
        model_part_leave(model, record, true);
        model_record_to_aside(model, record, ASIDE_RELEASED, model->now_ms + in->items[i].delay_ms);
        release_successors(model, record, token);
        out->answers[i] = ANSWER_APPLIED;
    }
}

static int part_number_next(const struct model *model, int64_t token) {
    int highest = -1;
    for (struct node *node = model_table_first(&model->tokens, model_hash_number(token)); node != NULL;
         node = model_table_next(node)) {
        const struct part *part = node->thing;
        if (part->token == token && part->number > highest)
            highest = part->number;
    }
    return highest + 1;
}

/* The marked items of the part get the new lease: in place when all are marked, else as a part of their own.
 */
static void renew_part(struct model *model, struct part *part, int64_t lease_until_ms) {
    struct part *renewed = part;
    if (part->named < part->items.count) {
        struct part like = *part;
        like.number = part_number_next(model, part->token);
        like.lost = 0;
        like.pristine = false;
        part->pristine = false;
        renewed = model_part_new(model, &like);
    }
    renewed->lease_until_ms = lease_until_ms;
    if (renewed->suspect == SUSPECT_GRANTED)
        renewed->suspect = SUSPECT_BEGUN;
    for (struct link *link = part->items.first, *next; link != NULL; link = next) {
        struct record *record = link->record;
        next = link->next;
        if (record->mark == 0)
            continue;
        record->mark = 0;
        if (renewed == part)
            continue;
        model_list_remove(&part->items, &record->part_link);
        model_list_insert(&renewed->items, &record->part_link, record);
        record->part = renewed;
    }
    part->named = 0;
}

/* Names every unfinished item of the token. */
static enum store_answer renew_token(const struct reporter *by, int64_t token, size_t mark) {
    bool any = false, active = false, ended_otherwise = false;
    struct node *node = model_table_first(&by->model->tokens, model_hash_number(token));
    for (; node != NULL; node = model_table_next(node)) {
        struct part *part = node->thing;
        if (!part_reported_by(by, part, token))
            continue;
        any = true;
        active = active || part->state == CLAIM_ACTIVE;
        ended_otherwise = ended_otherwise || (part->state != CLAIM_ACTIVE && part->state != CLAIM_DONE);
        for (struct link *link = part->items.first; link != NULL; link = link->next) {
            if (link->record->mark == 0)
                part->named++;
            link->record->mark = mark;
        }
    }
    if (active)
        return ANSWER_APPLIED;
    if (any && !ended_otherwise)
        return ANSWER_DUPLICATE;
    by->model->tally[by->kind].stale++;
    return ANSWER_STALE;
}

static enum store_answer renew_one(const struct reporter *by, struct item_ref ref, size_t mark) {
    if (uuid_is_nil(ref.id))
        return renew_token(by, ref.token, mark);
    size_t surplus = 0;
    struct record *record = held_find(by, ref, &surplus);
    if (record == NULL)
        return surplus != 0 ? ANSWER_APPLIED : unheld_answer(by, ref);
    record->mark = mark;
    record->part->named++;
    return ANSWER_APPLIED;
}

void model_report_renew(struct model *model, const struct messages_renew *in, struct answer_list *out) {
    const struct reporter by = {model, in->instance, in->kind};
    for (size_t i = 0; i < in->count; i++)
        out->answers[i] = renew_one(&by, in->items[i], i + 1);
    for (size_t i = 0; i < in->count; i++) {
        int64_t token = in->items[i].token;
        size_t count = 0, cap = 0;
        struct part **parts = NULL;
        struct node *node = model_table_first(&model->tokens, model_hash_number(token));
        for (; node != NULL; node = model_table_next(node)) {
            struct part *part = node->thing;
            if (part->token != token || part->named == 0)
                continue;
            parts = model_grow(parts, &cap, count + 1, sizeof(struct part *));
            parts[count++] = part;
        }
        for (size_t j = 0; j < count; j++)
            renew_part(model, parts[j], model->now_ms + in->lease_ms);
        free(parts);
    }
}

pawl_status model_messages_complete(struct store *store, const struct messages_complete *in,
                                    struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status = check_complete(in, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->count, false, &list, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    model_report_complete(model, in, &list);
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_messages_fail(struct store *store, const struct messages_fail *in, struct arena *arena,
                                struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    struct fail_scratch scratch = {0};
    pawl_status status = check_fail(in, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->count, true, &list, err);
    if (status == PAWL_OK)
        status = model_fail_prepare(arena, in->items, in->count, &scratch, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    model_report_fail(model, in, &scratch, &list);
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_messages_release(struct store *store, const struct messages_release *in,
                                   struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status = check_release(in, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->count, false, &list, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    model_report_release(model, in, &list);
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_messages_renew(struct store *store, const struct messages_renew *in, struct arena *arena,
                                 struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status = check_renew(in, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->count, false, &list, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    model_report_renew(model, in, &list);
    *out = list;
    return model_leave(model, PAWL_OK);
}
