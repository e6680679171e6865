/* What can be done to messages that have ended: retry, delete and skip dead letters, replay completed ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/messages.h"
#include "operations/tables.h"
#include "view/message.h"
#include "view/names.h"

/* ---- Dead letters */

/* One dead letter that the verb is about. */
struct letter {
    struct dead_ref ref;
    pawl_uuid id;
};

struct verb {
    const char *name, *past;
    bool destroys; /* asks also when ids are given */
    pawl_status (*apply)(struct store *store, const struct dead_ref *refs, size_t count, struct arena *arena,
                         struct answer_list *out, pawl_error *err);
};

struct letters {
    struct letter *rows; /* malloc */
    size_t count, cap;
    int64_t parked; /* left out: they follow the one they wait for */
};

static pawl_status add(struct letters *letters, const struct message_row *row, pawl_error *err) {
    if (letters->count == letters->cap) {
        size_t cap = letters->cap > 0 ? letters->cap * 2 : 256;
        struct letter *rows = reallocarray(letters->rows, cap, sizeof *rows);
        if (rows == NULL)
            return error_set(err, PAWL_NO_MEMORY, "message", "no memory for %zu dead letters", cap);
        letters->rows = rows;
        letters->cap = cap;
    }
    letters->rows[letters->count++] =
        (struct letter){.ref = {.kind = row->item.kind, .seq = row->item.seq}, .id = row->item.id};
    return PAWL_OK;
}

static pawl_status add_filtered(void *self, const struct message_row *row, pawl_error *err) {
    struct letters *letters = self;
    if (row->reason == DEAD_PARKED) {
        letters->parked++;
        return PAWL_OK;
    }
    return add(letters, row, err);
}

static pawl_status collect_ids(struct request *request, struct letters *letters, pawl_error *err) {
    pawl_str *ids = NULL;
    size_t count = 0;
    TRY(request_texts(request, "id", &ids, &count, err));
    for (size_t i = 0; i < count; i++) {
        pawl_uuid id = uuid_nil();
        struct message_rows rows = {.count = 0};
        TRY(request_message_id(request, ids[i], &id, err));
        TRY(messages_with_id(request, id, STATE_DEAD, request_choice(request, "kind"), &rows, err));
        for (size_t row = 0; row < rows.count; row++)
            TRY(add(letters, &rows.rows[row], err));
        if (rows.count == 0)
            return error_set(err, PAWL_NOT_FOUND, "message", "there is no dead letter with id %.*s",
                             STR_ARG(ids[i]));
    }
    return PAWL_OK;
}

/* Ids or filters, so that nothing is retried or deleted by leaving something out. */
static pawl_status check(struct request *request, pawl_error *err) {
    struct message_filter filter = message_filter_from(request);
    bool ids = request_value(request, "id").present;
    if (ids != (message_filtered(&filter) || request_value(request, "all").present))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "message", "%s",
                     ids ? "ids and filters exclude each other: give one of them"
                         : "it needs ids, or a filter such as --type or --fingerprint, or --all");
}

static pawl_status collect(struct request *request, struct letters *letters, pawl_error *err) {
    if (request_value(request, "id").present)
        return collect_ids(request, letters, err);
    struct message_filter filter = message_filter_from(request);
    filter.state = STATE_DEAD;
    return messages_visit(request->store, filter, request_number(request, "limit", 0), add_filtered, letters,
                          err);
}

static const struct column answer_columns[] = {
    {COLUMN(UUID, "id")}, {COLUMN(TEXT, "kind")}, {COLUMN(INT, "seq")}, {COLUMN(TEXT, "answer")}};

static pawl_status answer(struct request *request, const struct letter *letter, const char *word,
                          pawl_error *err) {
    const struct cell cells[] = {cell_uuid(letter->id), cell_cstr(kind_name(letter->ref.kind)),
                                 cell_int(letter->ref.seq), cell_cstr(word)};
    return request_each(request, answer_columns, COLUMN_COUNT(answer_columns), cells, err);
}

/* One call of a batch, from `at`; *refused counts what was not applied. */
static pawl_status apply_some(struct request *request, const struct verb *verb, const struct letters *letters,
                              size_t at, size_t count, int64_t *refused, pawl_error *err) {
    struct dead_ref refs[PAWL_BATCH_DEFAULT] = {{0}};
    struct answer_list answers;
    for (size_t i = 0; i < count; i++)
        refs[i] = letters->rows[at + i].ref;
    pawl_status status = verb->apply(request->store, refs, count, request->arena, &answers, err);
    if (status != PAWL_OK)
        request_hint(request, arena_printf(request->arena, "%zu of %zu were %s before that.", at,
                                           letters->count, verb->past));
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        bool applied = answers.answers[i] == ANSWER_APPLIED;
        *refused += !applied;
        if (!applied && !request_is_command(request))
            return error_set(err, PAWL_CONFLICT, "message",
                             "it was not: a parked message follows the dead letter it is waiting for (%s)",
                             answer_name(answers.answers[i]));
        status = answer(request, &letters->rows[at + i], answer_name(answers.answers[i]), err);
    }
    return status;
}

static pawl_status apply(struct request *request, const struct verb *verb, const struct letters *letters,
                         int64_t *refused, pawl_error *err) {
    int64_t rate = request_number(request, "rate", 0);
    size_t most = rate > 0 && rate < PAWL_BATCH_DEFAULT ? (size_t)rate : PAWL_BATCH_DEFAULT;
    for (size_t at = 0; at < letters->count; at += most) {
        size_t count = letters->count - at < most ? letters->count - at : most;
        if (rate > 0 && at > 0) {
            int64_t pause_ms = (int64_t)count * 1000 / rate;
            nanosleep(&(struct timespec){(time_t)(pause_ms / 1000), (long)(pause_ms % 1000) * 1000000}, NULL);
        }
        TRY(apply_some(request, verb, letters, at, count, refused, err));
    }
    return PAWL_OK;
}

static pawl_status confirm(struct request *request, const struct verb *verb, const struct letters *letters,
                           pawl_error *err) {
    if (letters->count == 0 || (request_value(request, "id").present && !verb->destroys))
        return PAWL_OK;
    char question[128];
    snprintf(question, sizeof question, "%s %zu dead letter%s%s", verb->name, letters->count,
             letters->count == 1 ? "" : "s", verb->destroys ? " (their messages are lost)" : "");
    return request_confirm(request, question, err);
}

/* What people are told below the list. */
static void tell(struct request *request, const struct verb *verb, const struct letters *letters,
                 int64_t refused) {
    request_say(request, arena_printf(request->arena, "%" PRId64 " %s%s", (int64_t)letters->count - refused,
                                      request_dry(request) ? "would be " : "", verb->past));
    if (letters->parked > 0)
        request_say(request, arena_printf(request->arena,
                                          "%" PRId64 " parked ones follow the dead letter they wait for",
                                          letters->parked));
}

static pawl_status end_letters(struct request *request, const struct verb *verb, pawl_error *err) {
    struct letters letters = {.count = 0};
    int64_t refused = 0;
    bool dry = request_dry(request);
    pawl_status status = collect(request, &letters, err);
    if (status == PAWL_OK && !dry)
        status = confirm(request, verb, &letters, err);
    if (status == PAWL_OK)
        request_each_begin(request, answer_columns, COLUMN_COUNT(answer_columns));
    for (size_t i = 0; status == PAWL_OK && dry && i < letters.count; i++)
        status = answer(request, &letters.rows[i], "dry run", err);
    if (status == PAWL_OK && !dry)
        status = apply(request, verb, &letters, &refused, err);
    if (status == PAWL_OK)
        status = request_each_end(request, err);
    if (status == PAWL_OK)
        tell(request, verb, &letters, refused);
    if (status == PAWL_OK && refused > 0) {
        request_hint(request, "A parked message follows the dead letter it waits for: name that one.");
        status = error_set(err, PAWL_CONFLICT, "message", "%" PRId64 " of %zu were not %s", refused,
                           letters.count, verb->past);
    }
    free(letters.rows);
    return status;
}

static pawl_status message_retry(struct request *request, pawl_error *err) {
    const struct verb verb = {"retry", "retried", false, request->store->ops->core.dead_redrive};
    return end_letters(request, &verb, err);
}
static pawl_status message_delete(struct request *request, pawl_error *err) {
    const struct verb verb = {"delete", "deleted", true, request->store->ops->core.dead_discard};
    return end_letters(request, &verb, err);
}
/* The dead letter that a stream waits for is given up, so that the stream goes on. */
static pawl_status message_skip(struct request *request, pawl_error *err) {
    const struct verb verb = {"skip", "skipped; its stream goes on", true,
                              request->store->ops->core.dead_discard};
    return end_letters(request, &verb, err);
}

/* What the audit says of a payload: its size and its hash, for it is content. */
static pawl_status payload_mark(struct request *request, pawl_str payload, const char **mark,
                                pawl_error *err) {
    char hash[SHA256_TEXT_BYTES];
    TRY(sha256_hex(payload, hash, err));
    *mark = arena_printf(request->arena, "%zu bytes, sha256 %.16s", payload.len, hash);
    return *mark != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "edit", "no memory for the audit");
}

static pawl_status edit_audit(struct request *request, const struct message_row *row, pawl_str payload,
                              pawl_error *err) {
    const char *before, *after;
    char id[UUID_TEXT_BYTES];
    TRY(payload_mark(request, row->item.payload, &before, err));
    TRY(payload_mark(request, payload, &after, err));
    struct audit_row audit = {.actor = request->front->actor(request->self),
                              .action = STR("message.payload"),
                              .detail = str_from(arena_printf(request->arena, "id=%s was %s; is %s",
                                                              uuid_format(row->item.id, id), before, after))};
    return request->store->ops->relay->audit_add(request->store, &audit, err);
}

/* The one dead letter with the id. */
static pawl_status one_letter(struct request *request, struct message_row *row, pawl_error *err) {
    struct message_rows rows = {.count = 0};
    pawl_uuid id = uuid_nil();
    TRY(request_message_id(request, request_text(request, "id"), &id, err));
    TRY(messages_with_id(request, id, STATE_DEAD, request_choice(request, "kind"), &rows, err));
    if (rows.count == 0)
        return request_not_found("edit", "dead letter", request_text(request, "id"), err);
    if (rows.count > 1)
        return error_set(err, PAWL_CONFLICT, "edit",
                         "more than one dead letter has this id: say which with %skind",
                         request->front->dashes);
    *row = rows.rows[0];
    return PAWL_OK;
}

/* The payload of a dead letter is replaced, and it gets another round of attempts. */
static pawl_status message_edit(struct request *request, pawl_error *err) {
    const struct verb verb = {"retry", "retried", false, request->store->ops->core.dead_redrive};
    struct letters letters = {.count = 0};
    struct message_row row = {0};
    enum store_answer edited = ANSWER_NOT_FOUND;
    int64_t refused = 0;
    pawl_str payload;
    TRY(request_json(request, "payload", &payload, err));
    TRY(one_letter(request, &row, err));
    const struct dead_ref ref = {row.item.kind, row.item.seq};
    TRY(request->store->ops->core.dead_edit(request->store, &ref, payload, &edited, err));
    if (edited != ANSWER_APPLIED)
        return request_not_found("edit", "dead letter", request_text(request, "id"), err);
    TRY(edit_audit(request, &row, payload, err));
    request_each_begin(request, answer_columns, COLUMN_COUNT(answer_columns));
    pawl_status status = add(&letters, &row, err);
    if (status == PAWL_OK)
        status = apply(request, &verb, &letters, &refused, err);
    free(letters.rows);
    return status == PAWL_OK ? request_each_end(request, err) : status;
}

/* ---- Completed messages */

static pawl_status find_done(struct request *request, pawl_str text, struct message_row *row,
                             pawl_error *err) {
    pawl_uuid id = uuid_nil();
    struct message_rows rows = {.count = 0};
    TRY(request_message_id(request, text, &id, err));
    TRY(messages_with_id(request, id, STATE_DONE, request_choice(request, "kind"), &rows, err));
    if (rows.count > 0 && rows.rows[0].item.kind != rows.rows[rows.count - 1].item.kind)
        return error_set(err, PAWL_CONFLICT, "replay",
                         "both the outbox and the inbox have completed %.*s: say which with %skind",
                         STR_ARG(text), request->front->dashes);
    if (rows.count == 0) {
        request_hint(request, "Completed messages are kept only with pawl setting set --history 7d, or by a "
                              "worker with --debug; dead letters go on with pawl message retry.");
        return error_set(err, PAWL_NOT_FOUND, "replay", "there is no completed message %.*s", STR_ARG(text));
    }
    *row = rows.rows[0];
    return PAWL_OK;
}

/* Again from the outbox with the same id, so that readers can filter it; in the inbox under a new one, caused
 * by the old, because the old one is known there. */
static pawl_status replay_one(struct request *request, const struct item *item, pawl_uuid *id,
                              pawl_error *err) {
    pawl_outgoing message = message_again(item);
    if (item->kind == KIND_INBOX) {
        message.causation_id = item->id;
        TRY(uuid_next(&message.id, err));
    }
    struct messages_put put = {.kind = item->kind,
                               .messages = &message,
                               .count = 1,
                               .consumer = item->consumer,
                               .payload_bytes_max = PAWL_PAYLOAD_BYTES_MAX};
    struct put_result result;
    TRY(request->store->ops->core.messages_put(request->store, &put, request->arena, &result, err));
    *id = message.id;
    return PAWL_OK;
}

static const struct column replay_columns[] = {{COLUMN(UUID, "id")}, {COLUMN(UUID, "replayed")}};

static pawl_status message_replay(struct request *request, pawl_error *err) {
    pawl_str *ids = NULL;
    size_t count = 0;
    pawl_status status = request_texts(request, "id", &ids, &count, err);
    if (status == PAWL_OK)
        request_each_begin(request, replay_columns, COLUMN_COUNT(replay_columns));
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct message_row row = {0};
        pawl_uuid id = uuid_nil();
        status = find_done(request, ids[i], &row, err);
        if (status == PAWL_OK && !request_dry(request))
            status = replay_one(request, &row.item, &id, err);
        if (status == PAWL_OK)
            status = request_each(request, replay_columns, COLUMN_COUNT(replay_columns),
                                  (struct cell[]){cell_uuid(row.item.id), cell_uuid(id)}, err);
    }
    return status == PAWL_OK ? request_each_end(request, err) : status;
}

/* ---- The table */

static const struct field end_fields[] = {
    {MESSAGE_ID_FIELD, .many = true}, MESSAGE_FILTER_FIELDS(IN_TERMINAL), BULK_FIELDS(IN_TERMINAL), FLAG_YES};
static const struct field skip_fields[] = {FIELD_ROW_MESSAGE_ID, FIELD_ROW_KIND(IN_BODY), FLAG_YES};
static const struct field replay_fields[] = {
    {MESSAGE_ID_FIELD, .required = true, .many = true}, FIELD_ROW_KIND(IN_BODY), FLAG_DRY_RUN};

static const struct field edit_fields[] = {
    FIELD_ROW_MESSAGE_ID,
    {FIELD(FIELD_JSON, IN_BODY, "payload", "The new payload; - is standard input, @FILE a file."),
     .required = true, .word = true, .example = "{\"id\": 1}"},
    FIELD_ROW_KIND(IN_BODY)};

static const struct operation operations[] = {
    {OPERATION("message.retry", "Give dead letters another round of attempts"),
     POSTS("/v1/messages/{id}/retry"), FIELDS(end_fields), RECORD(answer_columns), .run = message_retry,
     .check = check,
     .details = "Dead letters are named by id, by filters, or with --all. Filters show the count and ask for "
                "confirmation; without a terminal they need --yes. Parked ones are retried, in order, with "
                "the dead letter they wait for. A message whose stream continued without it runs next and is "
                "marked out of order.",
     .example = "pawl message retry 01890a5d-ac96-774b-bcce-b302099a8057\n"
                "pawl message retry --fingerprint 9c1f2a --dry-run",
     .empty = "no dead letters"},
    {OPERATION("message.delete", "Delete dead letters: their messages are lost"),
     DELETES("/v1/messages/{id}"), FIELDS(end_fields), RECORD(answer_columns), .run = message_delete,
     .check = check,
     .details =
         "Takes the same ids and filters as pawl message retry, and always asks: without a terminal it "
         "needs --yes. A stream that was blocked or parked by the dead letter goes on.",
     .example = "pawl message delete --type order.test --yes", .empty = "no dead letters"},
    {OPERATION("message.edit", "Replace the payload of a dead letter and retry it"),
     POSTS("/v1/messages/{id}/edit"), FIELDS(edit_fields), RECORD(answer_columns), .run = message_edit,
     .details =
         "For a message that can never be handled as it is. The id, the stream and the headers stay. The "
         "list of actions has the size and the hash of the payload before and after.",
     .example =
         "pawl message edit 01890a5d-ac96-774b-bcce-b302099a8057 '{\"amount\": 12}' --reason 'a typo'"},
    {OPERATION("message.skip", "Skip the dead letter that blocks a stream: its message is lost"),
     POSTS("/v1/messages/{id}/skip"), FIELDS(skip_fields), RECORD(answer_columns), .run = message_skip},
    {OPERATION("message.replay", "Publish or handle completed messages again"),
     POSTS("/v1/messages/{id}/replay"), FIELDS(replay_fields), RECORD(replay_columns), .run = message_replay,
     .details =
         "Completed messages are kept only with pawl setting set --history 7d or by a worker with --debug. "
         "The message is handled again after what its stream has now. From the outbox it goes out with the "
         "same id, so that readers can filter it; in the inbox it gets a new id and names the old one as "
         "its cause.",
     .empty = "nothing was replayed"},
};

const struct operation_table message_end_operations = OPERATION_TABLE(operations);
