/* Receptors on events on SQLite: register, list, remove, feed. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/sqlite/events/events.h"
#include "store/sqlite/messages/put.h"

/* One receptor with its patterns, in the arena. */
static pawl_status receptor_read(struct operation *op, pawl_str name, pawl_str key, struct arena *arena,
                                 struct event_receptor *out, bool *found) {
    struct statement s = SQL(op, SQLITE_Q_EVENT_RECEPTOR_FIND, name);
    *found = statement_next(&s);
    if (*found)
        row_read(&s, 0, &event_receptor_shape, arena, out);
    pawl_status status = statement_end(&s);
    return status == PAWL_OK && *found ? patterns_read(op, key, arena, &out->patterns, &out->pattern_count)
                                       : status;
}

static pawl_status head_read(struct operation *op, int64_t *head) {
    bool found = false;
    return statement_number(statement_begin(op, SQLITE_Q_EVENT_POSITION), head, &found);
}

static pawl_status patterns_delete(struct operation *op, pawl_str key) {
    return statement_run(SQL(op, SQLITE_Q_PATTERN_DELETE, key));
}

static pawl_status insert(struct operation *op, const struct receptor_new *in) {
    int64_t head = 0;
    if (!in->from_start)
        TRY(head_read(op, &head));
    return statement_run(SQL(op, SQLITE_Q_EVENT_RECEPTOR_INSERT, in->name, head, op->now_ms));
}

static pawl_status put_receptor(struct operation *op, const struct receptor_new *in,
                                enum store_answer *answer) {
    struct event_receptor kept = {0};
    pawl_str key;
    bool found = false;
    TRY(receptor_consumer(op->scratch, in->name, &key, op->err));
    TRY(receptor_read(op, in->name, key, op->scratch, &kept, &found));
    bool same = found && kept.pattern_count == in->pattern_count;
    for (size_t i = 0; same && i < in->pattern_count; i++)
        same = kept.patterns[i].mode == in->patterns[i].mode &&
               str_equal(kept.patterns[i].text, in->patterns[i].text);
    *answer = same ? ANSWER_DUPLICATE : found && !in->replace ? ANSWER_CONFLICT : ANSWER_APPLIED;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    TRY(found ? patterns_delete(op, key) : insert(op, in));
    return patterns_insert(op, key, in->patterns, in->pattern_count);
}

pawl_status sqlite_receptor_register(struct store *store, const struct receptor_new *in,
                                     enum store_answer *answer, pawl_error *err) {
    enum store_answer result = ANSWER_APPLIED;
    struct operation op = operation_write(store, "receptor_register", check_receptor(in, err), err);
    return operation_give(&op, put_receptor(&op, in, &result), answer, &result);
}

pawl_status sqlite_receptor_remove(struct store *store, pawl_str name, enum store_answer *answer,
                                   pawl_error *err) {
    pawl_str key;
    int64_t removed = 0;
    struct operation op =
        operation_write(store, "receptor_remove", check_receptor_name("receptor_remove", name, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = statement_run_count(SQL(&op, SQLITE_Q_EVENT_RECEPTOR_DELETE, name), &removed);
    if (status == PAWL_OK)
        status = receptor_consumer(op.scratch, name, &key, err);
    if (status == PAWL_OK)
        status = patterns_delete(&op, key);
    status = operation_end(&op, status);
    if (status == PAWL_OK)
        *answer = removed > 0 ? ANSWER_APPLIED : ANSWER_NOT_FOUND;
    return status;
}

static pawl_status list_receptors(struct operation *op, struct arena *arena, struct event_receptors *out) {
    struct row_list list = {NULL, 0};
    TRY(rows_read(statement_begin(op, SQLITE_Q_EVENT_RECEPTOR_LIST), &event_receptor_shape, arena, &list));
    *out = (struct event_receptors){.rows = list.rows, .count = list.count};
    TRY(head_read(op, &out->head));
    for (size_t i = 0; i < out->count; i++) {
        pawl_str key;
        TRY(receptor_consumer(op->scratch, out->rows[i].name, &key, op->err));
        TRY(patterns_read(op, key, arena, &out->rows[i].patterns, &out->rows[i].pattern_count));
    }
    return PAWL_OK;
}

pawl_status sqlite_receptor_list(struct store *store, struct arena *arena, struct event_receptors *out,
                                 pawl_error *err) {
    struct event_receptors list = {0};
    struct operation op = operation_read(store, "receptor_list", PAWL_OK, err);
    return operation_give(&op, list_receptors(&op, arena, &list), out, &list);
}

/* The events after a position that the receptor wants, as messages. */
static pawl_status events_wanted(struct operation *op, const struct event_receptor *receptor, int limit,
                                 struct messages_put *put, int64_t *looked) {
    pawl_outgoing *messages = arena_array(op->scratch, (size_t)limit, sizeof *messages);
    if (messages == NULL)
        return operation_no_memory(op);
    pawl_status status = PAWL_OK;
    struct statement s = SQL(op, SQLITE_Q_EVENT_ALL, receptor->position + 1, INT64_MAX, 0, limit);
    while (status == PAWL_OK && statement_next(&s)) {
        pawl_stored_event event = event_column(&s, op->scratch);
        bool wants = false;
        ++*looked;
        status = receptor_wants(receptor->patterns, receptor->pattern_count, event.type, &wants, op->err);
        if (status == PAWL_OK && wants)
            status = receptor_message(op->scratch, &event, receptor->name, &messages[put->count++], op->err);
    }
    pawl_status end = statement_end(&s);
    put->messages = messages;
    return status == PAWL_OK ? end : status;
}

static pawl_status feed_one(struct operation *op, pawl_str name, int limit, struct feed_result *out) {
    struct event_receptor receptor = {0};
    struct messages_put put = {.kind = KIND_INBOX};
    struct put_result answers;
    int64_t head = 0, looked = 0, fed = 0;
    bool found = false;
    TRY(receptor_consumer(op->scratch, name, &put.consumer, op->err));
    TRY(receptor_read(op, name, put.consumer, op->scratch, &receptor, &found));
    TRY(head_read(op, &head));
    if (!found)
        return PAWL_OK;
    out->known++;
    if (receptor.position >= head)
        return PAWL_OK;
    TRY(events_wanted(op, &receptor, limit, &put, &looked));
    TRY(put_messages(op, &put, false, op->scratch, &answers));
    for (size_t i = 0; i < put.count; i++)
        fed += answers.answers[i] == ANSWER_APPLIED;
    out->events += looked;
    out->fed += fed;
    out->more = out->more || receptor.position + looked < head;
    return statement_run(SQL(op, SQLITE_Q_EVENT_RECEPTOR_MOVE, name, receptor.position + looked, fed));
}

/* Whether there is anything to do: mostly not, and then nothing is written. */
static pawl_status look(struct store *store, const struct receptors_feed *in, struct feed_result *out,
                        bool *behind, pawl_error *err) {
    int64_t head = 0;
    struct operation op = operation_read(store, "receptors_feed", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = head_read(&op, &head);
    for (size_t i = 0; status == PAWL_OK && i < in->count; i++) {
        struct statement s = SQL(&op, SQLITE_Q_EVENT_RECEPTOR_FIND, in->names[i]);
        if (statement_next(&s)) {
            out->known++;
            *behind = *behind || column_int(&s, 1) < head;
        }
        status = statement_end(&s);
    }
    return operation_end(&op, status);
}

pawl_status sqlite_receptors_feed(struct store *store, const struct receptors_feed *in,
                                  struct feed_result *out, pawl_error *err) {
    struct feed_result result = {0};
    bool behind = false;
    pawl_status status = check_feed(in, err);
    if (status == PAWL_OK)
        status = look(store, in, &result, &behind, err);
    if (status == PAWL_OK && behind) {
        result = (struct feed_result){0};
        struct operation op = operation_write(store, "receptors_feed", PAWL_OK, err);
        status = op.status;
        for (size_t i = 0; status == PAWL_OK && i < in->count; i++)
            status = feed_one(&op, in->names[i], in->limit, &result);
        status = operation_end(&op, status);
    }
    if (status == PAWL_OK)
        *out = result;
    return status;
}
