/* Messages as the views show them: lists, one by id, dead letters by cause. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/check/place.h"
#include "store/events.h"
#include "store/model/claim.h"
#include "store/model/view.h"

static int seq_compare(const void *a, const void *b) {
    const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

struct records model_records_by_seq(const struct model *model,
                                    bool (*wanted)(const struct record *record, const void *self),
                                    const void *self) {
    struct records found = {NULL, 0};
    size_t cap = 0;
    const struct table *table = &model->seqs;
    for (struct node *node = model_table_each(table, NULL); node != NULL;
         node = model_table_each(table, node)) {
        if (!wanted(node->thing, self))
            continue;
        found.at = model_grow(found.at, &cap, found.count + 1, sizeof(struct record *));
        found.at[found.count++] = node->thing;
    }
    if (found.count > 0)
        qsort(found.at, found.count, sizeof(struct record *), seq_compare);
    return found;
}

struct records model_records_with_id(const struct model *model, pawl_uuid id) {
    struct records found = {NULL, 0};
    size_t cap = 0;
    for (struct node *node = model_table_first(&model->ids, model_hash_uuid(id)); node != NULL;
         node = model_table_next(node)) {
        struct record *record = node->thing;
        if (!uuid_equal(record->id, id))
            continue;
        found.at = model_grow(found.at, &cap, found.count + 1, sizeof(struct record *));
        found.at[found.count++] = record;
    }
    if (found.count > 0)
        qsort(found.at, found.count, sizeof(struct record *), seq_compare);
    return found;
}

enum message_state model_record_state(const struct record *record) {
    if (record->part != NULL)
        return STATE_LEASED;
    switch (record->place) {
    case PLACE_MESSAGE:
        return STATE_READY;
    case PLACE_ASIDE:
        if (record->home->hold == HOLD_WAITING && record->home->aside.first->record == record)
            return STATE_SCHEDULED;
        return STATE_BLOCKED;
    case PLACE_DEAD:
        return STATE_DEAD;
    case PLACE_HISTORY:
        break;
    }
    return STATE_DONE;
}

pawl_status model_row_copy(const struct record *record, struct arena *arena, struct message_row *row,
                           pawl_error *err) {
    *row = (struct message_row){
        .state = model_record_state(record),
        .attempts = record->attempts,
        .reason = record->place == PLACE_ASIDE || record->place == PLACE_DEAD ? record->reason : 0,
        .ended_ms = record->ended_ms,
    };
    if (row->state == STATE_SCHEDULED)
        row->scheduled_ms = record->scheduled_ms;
    if (record->part != NULL)
        row->claimed_by = record->part->instance;
    pawl_status status = model_item_copy(record, arena, &row->item, err);
    if (status == PAWL_OK)
        status = str_dup(arena, record->error, &row->error, err);
    if (status == PAWL_OK)
        status = str_dup(arena, record->fingerprint, &row->fingerprint, err);
    return status;
}

static bool text_fits(pawl_str wanted, pawl_str text) {
    return str_absent(wanted) || (!str_absent(text) && str_equal(wanted, text));
}

static bool filter_fits(const struct record *record, const void *self) {
    const struct message_filter *filter = self;
    enum message_state state = model_record_state(record);
    bool ended = state == STATE_DONE || state == STATE_DEAD;
    return (filter->kind == 0 || filter->kind == record->kind) &&
           (filter->state == 0 ? state != STATE_DONE : (int)state == filter->state) &&
           (filter->lane == -1 || filter->lane == record->lane) && record->seq > filter->after_seq &&
           (filter->before_ms == 0 || !ended || record->ended_ms < filter->before_ms) &&
           text_fits(filter->stream, record->stream) && text_fits(filter->type, record->type) &&
           text_fits(filter->topic, record->topic) && text_fits(filter->fingerprint, record->fingerprint);
}

static pawl_status rows_copy(struct records found, struct arena *arena, struct message_rows *out,
                             pawl_error *err) {
    struct message_rows list = {.count = found.count};
    pawl_status status = PAWL_OK;
    list.rows = arena_array(arena, list.count, sizeof *list.rows);
    if (list.rows == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "messages", "no memory for %zu rows", list.count);
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        status = model_row_copy(found.at[i], arena, &list.rows[i], err);
    if (status == PAWL_OK)
        *out = list;
    return status;
}

static bool is_after(const struct record *record, const void *self) {
    return record->seq > *(const int64_t *)self;
}

pawl_status model_messages(struct store *store, const struct message_filter *filter, struct arena *arena,
                           struct message_rows *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct records found = model_records_by_seq(model, is_after, &filter->after_seq);
    size_t limit = filter->limit > 0 ? (size_t)filter->limit : PAWL_LIST_DEFAULT;
    size_t scan = filter->scan_max > 0 ? (size_t)filter->scan_max : PAWL_LIST_SCAN;
    size_t looked = 0, count = 0;
    while (looked < found.count && looked < scan && count < limit) {
        struct record *record = found.at[looked++];
        if (filter_fits(record, filter))
            found.at[count++] = record;
    }
    int64_t next_seq = 0;
    if (count == limit)
        next_seq = found.at[count - 1]->seq;
    else if (looked < found.count)
        next_seq = found.at[looked]->seq - 1;
    found.count = count;
    pawl_status status = rows_copy(found, arena, out, err);
    if (status == PAWL_OK)
        out->next_seq = next_seq;
    free(found.at);
    return model_leave(model, status);
}

pawl_status model_message_find(struct store *store, pawl_uuid id, struct arena *arena,
                               struct message_rows *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct records found = model_records_with_id(model, id);
    pawl_status status = rows_copy(found, arena, out, err);
    free(found.at);
    return model_leave(model, status);
}

struct id_range {
    pawl_uuid low, high;
};

static bool id_in_range(const struct record *record, const void *self) {
    const struct id_range *range = self;
    return uuid_compare(record->id, range->low) >= 0 && uuid_compare(record->id, range->high) <= 0;
}

static int id_compare(const void *a, const void *b) {
    return uuid_compare(*(const pawl_uuid *)a, *(const pawl_uuid *)b);
}

pawl_status model_message_ids(struct store *store, pawl_uuid low, pawl_uuid high, int limit,
                              struct arena *arena, struct uuid_list *out, pawl_error *err) {
    pawl_status status = check_limit("message_ids", limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct records found = model_records_by_seq(model, id_in_range, &(struct id_range){low, high});
    struct uuid_list list = {.ids = arena_array(arena, found.count, sizeof(*list.ids))};
    if (list.ids == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "message_ids", "no memory for %zu ids", found.count);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        list.ids[i] = found.at[i]->id;
    if (status == PAWL_OK && found.count > 0)
        qsort(list.ids, found.count, sizeof(*list.ids), id_compare);
    for (size_t i = 0; status == PAWL_OK && i < found.count && list.count < (size_t)limit; i++)
        if (list.count == 0 || !uuid_equal(list.ids[list.count - 1], list.ids[i]))
            list.ids[list.count++] = list.ids[i];
    free(found.at);
    if (status == PAWL_OK)
        *out = list;
    return model_leave(model, status);
}

static bool has_cause(const struct record *record, const void *self) {
    return record->place == PLACE_DEAD && record->kind == *(const enum store_kind *)self &&
           !str_absent(record->fingerprint);
}

/* The biggest group first, then by fingerprint. */
static int group_compare(const void *a, const void *b) {
    const struct dead_group *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return str_compare(x->fingerprint, y->fingerprint);
}

static struct dead_group *group_of(struct dead_groups *groups, pawl_str fingerprint) {
    for (size_t i = 0; i < groups->count; i++) {
        if (str_equal(groups->groups[i].fingerprint, fingerprint))
            return &groups->groups[i];
    }
    return &groups->groups[groups->count++];
}

static pawl_status group_add(struct dead_groups *groups, const struct record *record, struct arena *arena,
                             pawl_error *err) {
    struct dead_group *group = group_of(groups, record->fingerprint);
    pawl_status status = PAWL_OK;
    if (group->count == 0) {
        group->kind = record->kind;
        group->first_ms = record->ended_ms;
        status = str_dup(arena, record->fingerprint, &group->fingerprint, err);
        if (status == PAWL_OK)
            status = str_dup(arena, record->error, &group->sample_error, err);
    }
    group->count++;
    if (record->ended_ms < group->first_ms)
        group->first_ms = record->ended_ms;
    if (record->ended_ms > group->last_ms)
        group->last_ms = record->ended_ms;
    return status;
}

pawl_status model_dead_groups(struct store *store, enum store_kind kind, int limit, struct arena *arena,
                              struct dead_groups *out, pawl_error *err) {
    struct place at = {.op = "dead_groups", .err = err};
    pawl_status status = place_kind(&at, kind);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct records dead = model_records_by_seq(model, has_cause, &kind);
    struct dead_groups list = {arena_array(arena, dead.count, sizeof *list.groups), 0};
    if (list.groups == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "dead_groups", "no memory for %zu groups", dead.count);
    for (size_t i = 0; status == PAWL_OK && i < dead.count; i++)
        status = group_add(&list, dead.at[i], arena, err);
    free(dead.at);
    if (status != PAWL_OK)
        return model_leave(model, status);
    if (list.count > 0)
        qsort(list.groups, list.count, sizeof *list.groups, group_compare);
    size_t most = limit > 0 ? (size_t)limit : PAWL_LIST_DEFAULT;
    if (list.count > most)
        list.count = most;
    *out = list;
    return model_leave(model, PAWL_OK);
}
