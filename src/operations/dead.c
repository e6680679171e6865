/* Operations that end dead letters: redrive and discard, by id or by filter. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/messages.h"
#include "operations/tables.h"
#include "view/message.h"
#include "view/names.h"

/* One dead letter that the verb is about. */
struct letter {
    struct dead_ref ref;
    pawl_uuid id;
};

struct verb {
    const char *name;
    const char *past;
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
            return error_set(err, PAWL_NO_MEMORY, "dead", "no memory for %zu dead letters", cap);
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
    const struct tree *words = request_value(request, "ids").tree;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i]->text.ptr;
        pawl_uuid id = uuid_nil();
        struct message_rows rows = {.count = 0};
        pawl_status status = PAWL_OK;
        if (uuid_parse(words->items[i]->text, &id)) /* checked before */
            status = messages_with_id(request, id, STATE_DEAD, 0, &rows, err);
        for (size_t row = 0; status == PAWL_OK && row < rows.count; row++)
            status = add(letters, &rows.rows[row], err);
        if (status != PAWL_OK && status != PAWL_NOT_FOUND)
            return status;
        if (rows.count == 0)
            return error_set(err, PAWL_NOT_FOUND, "dead", "there is no dead letter with id %s", word);
    }
    return PAWL_OK;
}

/* Ids or filters, so that nothing is redriven or discarded by leaving something out. */
static pawl_status check(struct request *request, pawl_error *err) {
    static const char *const filters[] = {"kind", "stream", "type", "topic", "fingerprint", "all"};
    bool filtered = false, ids = request_value(request, "ids").present;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        filtered = filtered || request_value(request, filters[i]).present;
    if (ids == filtered)
        return error_set(err, PAWL_INVALID, "dead", "%s",
                         ids ? "ids and filters exclude each other: give one of them"
                             : "it needs ids, or a filter such as --type or --fingerprint, or --all");
    return request_check_ids(request, err);
}

static pawl_status collect(struct request *request, struct letters *letters, pawl_error *err) {
    if (request_value(request, "ids").present)
        return collect_ids(request, letters, err);
    struct message_filter filter = message_filter_from(request);
    filter.state = STATE_DEAD;
    return messages_visit(request->store, filter, request_number(request, "limit", 0), add_filtered, letters,
                          err);
}

static const struct column answer_columns[] = {
    {COLUMN(UUID, "id")}, {COLUMN(TEXT, "kind")}, {COLUMN(INT, "seq")}, {COLUMN(TEXT, "answer")}};

static void print_letter(struct request *request, const struct letter *letter, const char *answer) {
    struct cell cells[] = {cell_uuid(letter->id), cell_cstr(kind_name(letter->ref.kind)),
                           cell_int(letter->ref.seq), cell_cstr(answer)};
    request_row(request, cells);
}

/* Applies the verb in calls of a batch each; *refused counts what was not applied. */
static pawl_status apply(struct request *request, const struct verb *verb, const struct letters *letters,
                         int64_t *refused, pawl_error *err) {
    int64_t rate = request_number(request, "rate", 0);
    struct dead_ref *refs = arena_array(request->arena, PAWL_BATCH_DEFAULT, sizeof *refs);
    if (refs == NULL)
        return error_set(err, PAWL_NO_MEMORY, "dead", "no memory for a batch");
    for (size_t at = 0; at < letters->count;) {
        size_t most = rate > 0 && rate < PAWL_BATCH_DEFAULT ? (size_t)rate : PAWL_BATCH_DEFAULT;
        size_t count = letters->count - at < most ? letters->count - at : most;
        if (rate > 0 && at > 0) {
            int64_t pause_ms = (int64_t)count * 1000 / rate;
            nanosleep(&(struct timespec){(time_t)(pause_ms / 1000), (long)(pause_ms % 1000) * 1000000}, NULL);
        }
        for (size_t i = 0; i < count; i++)
            refs[i] = letters->rows[at + i].ref;
        struct answer_list answers;
        pawl_status status = verb->apply(request->store, refs, count, request->arena, &answers, err);
        if (status != PAWL_OK) {
            request_hint(request, arena_printf(request->arena, "%zu of %zu were %s before that.", at,
                                               letters->count, verb->past));
            return status;
        }
        for (size_t i = 0; i < count; i++) {
            print_letter(request, &letters->rows[at + i], answer_name(answers.answers[i]));
            *refused += answers.answers[i] != ANSWER_APPLIED;
        }
        at += count;
    }
    return PAWL_OK;
}

static pawl_status confirm(struct request *request, const struct verb *verb, const struct letters *letters,
                           pawl_error *err) {
    if (letters->count == 0 || (request_value(request, "ids").present && !verb->destroys))
        return PAWL_OK;
    char question[128];
    snprintf(question, sizeof question, "%s %zu dead letter%s%s", verb->name, letters->count,
             letters->count == 1 ? "" : "s", verb->destroys ? " (their messages are lost)" : "");
    return request_confirm(request, question, err);
}

/* What was asked for, with its filters, and how many it was. */
static pawl_status note(struct request *request, const struct verb *verb, int64_t count, pawl_error *err) {
    const char *detail = arena_printf(request->arena, "%" PRId64 " %s%s", count, verb->past,
                                      request->front->asked(request->self));
    return request_note(request, arena_printf(request->arena, "dead %s", verb->name),
                        detail != NULL ? detail : verb->past, err);
}

/* The one with the id of the path. */
static pawl_status end_one(struct request *request, const struct verb *verb, pawl_error *err) {
    pawl_uuid id;
    struct message_rows rows = {.count = 0};
    struct answer_list answers;
    pawl_status status = request_message_id(request, "id", &id, err);
    if (status == PAWL_OK)
        status = messages_with_id(request, id, STATE_DEAD, 0, &rows, err);
    if (status != PAWL_OK && status != PAWL_NOT_FOUND)
        return status;
    if (rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "dead", "there is no dead letter with id %.*s",
                         STR_ARG(request_text(request, "id")));
    const struct item *item = &rows.rows[0].item;
    struct dead_ref ref = {item->kind, item->seq};
    status = verb->apply(request->store, &ref, 1, request->arena, &answers, err);
    if (status != PAWL_OK)
        return status;
    if (answers.answers[0] != ANSWER_APPLIED)
        return error_set(err, PAWL_CONFLICT, "dead",
                         "it was not: a parked message follows the dead letter it is waiting for (%s)",
                         answer_name(answers.answers[0]));
    return REQUEST_RECORD(request, answer_columns, err, cell_uuid(item->id), cell_cstr(kind_name(item->kind)),
                          cell_int(item->seq), cell_cstr("applied"));
}

static pawl_status run_verb(struct request *request, const struct verb *verb, pawl_error *err) {
    struct letters letters = {.count = 0};
    int64_t refused = 0;
    bool dry = request_dry(request);
    pawl_status status = collect(request, &letters, err);
    if (status == PAWL_OK && !dry)
        status = confirm(request, verb, &letters, err);
    if (status == PAWL_OK)
        request_list(request, answer_columns, COLUMN_COUNT(answer_columns));
    for (size_t i = 0; status == PAWL_OK && dry && i < letters.count; i++)
        print_letter(request, &letters.rows[i], "dry run");
    if (status == PAWL_OK && !dry)
        status = apply(request, verb, &letters, &refused, err);
    if (status == PAWL_OK)
        status = request_list_end(request, NULL, err);
    int64_t done = (int64_t)letters.count - refused;
    if (status == PAWL_OK)
        request_say(request, arena_printf(request->arena, "%" PRId64 " %s%s", done, dry ? "would be " : "",
                                          verb->past));
    if (status == PAWL_OK && letters.parked > 0)
        request_say(request, arena_printf(request->arena,
                                          "%" PRId64 " parked ones follow the dead letter they wait for",
                                          letters.parked));
    if (status == PAWL_OK && !dry && letters.count > 0)
        status = note(request, verb, done, err);
    if (status == PAWL_OK && refused > 0) {
        request_hint(request, "A parked message follows the dead letter it waits for: name that one.");
        status = error_set(err, PAWL_CONFLICT, "dead", "%" PRId64 " of %zu were not %s", refused,
                           letters.count, verb->past);
    }
    free(letters.rows);
    return status;
}

static pawl_status end_letters(struct request *request, bool discard, pawl_error *err) {
    const struct store_core_ops *ops = &request->store->ops->core;
    const struct verb verb = discard ? (struct verb){"discard", "discarded", true, ops->dead_discard}
                                     : (struct verb){"redrive", "redriven", false, ops->dead_redrive};
    return request_is_command(request) ? run_verb(request, &verb, err) : end_one(request, &verb, err);
}

static pawl_status dead_redrive(struct request *request, pawl_error *err) {
    return end_letters(request, false, err);
}
static pawl_status dead_discard(struct request *request, pawl_error *err) {
    return end_letters(request, true, err);
}

static const struct field one_fields[] = {FIELD_ROW_MESSAGE_ID};

#define VERB_FLAGS                                                                                           \
    (FLAG(KIND) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(FINGERPRINT) | FLAG(LIMIT) | FLAG(ALL) |    \
     FLAG(YES) | FLAG(DRY_RUN) | FLAG(RATE))

static const struct operation operations[] = {
    {COMMAND("dead redrive", "Redrive dead letters: give them another round of attempts"),
     .arguments = "[ID]...", .flags = VERB_FLAGS, .limit_other = true, .check = check, .writes = true,
     .details = "Dead letters are named by id, by filters, or with --all. Filters show the count and ask for "
                "confirmation; without a terminal they need --yes. Parked ones are redriven, in order, with "
                "the dead letter they wait for. A message whose stream continued without it runs next and is "
                "marked out of order.",
     .example = "pawl dead redrive 01890a5d-ac96-774b-bcce-b302099a8057\n"
                "pawl dead redrive --fingerprint 9c1f2a --dry-run",
     .empty = "no dead letters", POSTS("/v1/dead/{id}/redrive", "redriveDeadLetter", "dead letters"),
     .route_summary = "Give one dead letter another round of attempts", FIELDS(one_fields),
     RECORD(answer_columns), .run = dead_redrive},
    {COMMAND("dead discard", "Discard dead letters: their messages are lost"), .arguments = "[ID]...",
     .flags = VERB_FLAGS, .limit_other = true, .check = check, .writes = true,
     .details = "Takes the same ids and filters as pawl dead redrive, and always asks: without a terminal it "
                "needs --yes. A stream that was blocked or parked by the dead letter goes on.",
     .example = "pawl dead discard --type order.test --yes", .empty = "no dead letters",
     POSTS("/v1/dead/{id}/discard", "discardDeadLetter", "dead letters"),
     .route_summary = "Discard one dead letter: its message is lost", FIELDS(one_fields),
     RECORD(answer_columns), .run = dead_discard},
};

const struct operation_table dead_end_operations = OPERATION_TABLE(operations);
