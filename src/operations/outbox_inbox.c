/* Operations on the outbox and the inbox: lists, sending finished messages again, skipping dead ones. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/messages.h"
#include "operations/tables.h"
#include "view/names.h"

static pawl_status outbox_list(struct request *request, pawl_error *err) {
    return messages_list(request, KIND_OUTBOX, 0, err);
}
static pawl_status inbox_list(struct request *request, pawl_error *err) {
    return messages_list(request, KIND_INBOX, 0, err);
}

/* The finished message of that kind with the id. */
static pawl_status find_done(struct request *request, pawl_str word, enum store_kind kind,
                             struct message_row *row, pawl_error *err) {
    pawl_uuid id = uuid_nil();
    struct message_rows rows = {.count = 0};
    pawl_status status = PAWL_OK;
    if (uuid_parse(word, &id)) /* checked before */
        status = messages_with_id(request, id, STATE_DONE, (int)kind, &rows, err);
    if (status == PAWL_OK && rows.count > 0)
        *row = rows.rows[0];
    if (status != PAWL_OK || rows.count > 0)
        return status;
    request_hint(request, "Finished messages are kept only with pawl settings set history=7d, or by a worker "
                          "with --debug; dead letters go on with pawl dead redrive.");
    return error_set(err, PAWL_NOT_FOUND, "replay", "there is no finished message %.*s in the %s",
                     STR_ARG(word), kind_name(kind));
}

/* Again from the outbox with the same id, so that readers can filter it; in the inbox under a new one, caused
 * by the old, because the old one is known there. */
static pawl_status replay_one(struct request *request, const struct item *item, pawl_uuid *id,
                              pawl_error *err) {
    bool inbox = item->kind == KIND_INBOX;
    pawl_outgoing message = message_again(item);
    if (inbox) {
        message.causation_id = item->id;
        pawl_status status = uuid_next(&message.id, err);
        if (status != PAWL_OK)
            return status;
    }
    struct messages_put put = {.kind = item->kind,
                               .messages = &message,
                               .count = 1,
                               .consumer = item->consumer,
                               .payload_bytes_max = PAWL_PAYLOAD_BYTES_MAX};
    struct put_result result;
    pawl_status status =
        request->store->ops->core.messages_put(request->store, &put, request->arena, &result, err);
    *id = message.id;
    return status;
}

static pawl_status replay(struct request *request, enum store_kind kind, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(UUID, "id")}, {COLUMN(UUID, "replayed")}};
    const struct tree *words = request_value(request, "ids").tree;
    bool dry = request_dry(request);
    pawl_status status = PAWL_OK;
    request_list(request, columns, COLUMN_COUNT(columns));
    for (size_t i = 0; i < words->count && status == PAWL_OK; i++) {
        struct message_row row = {0};
        pawl_uuid id = uuid_nil();
        status = find_done(request, words->items[i]->text, kind, &row, err);
        if (status == PAWL_OK && !dry)
            status = replay_one(request, &row.item, &id, err);
        if (status == PAWL_OK && !dry)
            status = request_note(request, kind == KIND_INBOX ? "inbox replay" : "outbox replay",
                                  words->items[i]->text.ptr, err);
        if (status == PAWL_OK)
            request_row(request, (struct cell[]){cell_uuid(row.item.id), cell_uuid(id)});
    }
    pawl_status ended = request_list_end(request, NULL, status == PAWL_OK ? err : NULL);
    return status == PAWL_OK ? ended : status;
}

static pawl_status replay_outbox(struct request *request, pawl_error *err) {
    return replay(request, KIND_OUTBOX, err);
}
static pawl_status replay_inbox(struct request *request, pawl_error *err) {
    return replay(request, KIND_INBOX, err);
}

/* The dead letter that a stream waits for is given up, so that the stream goes on. */
static pawl_status skip(struct request *request, enum store_kind kind, pawl_error *err) {
    pawl_str word = request_text(request, "id");
    pawl_uuid id;
    struct message_rows rows = {.count = 0};
    struct answer_list answers;
    pawl_status status = request_message_id(request, "id", &id, err);
    if (status == PAWL_OK)
        status = messages_with_id(request, id, STATE_DEAD, (int)kind, &rows, err);
    struct dead_ref ref = {kind, rows.count > 0 ? rows.rows[rows.count - 1].item.seq : 0};
    if (status == PAWL_OK && ref.seq == 0)
        return error_set(
            err, PAWL_CONFLICT, "skip",
            "message %.*s is not a dead letter of the %s: only what failed for good can be skipped",
            STR_ARG(word), kind_name(kind));
    if (status == PAWL_OK)
        status = request_confirm(request, "skip this message (it is lost)", err);
    if (status == PAWL_OK)
        status =
            request->store->ops->core.dead_discard(request->store, &ref, 1, request->arena, &answers, err);
    if (status == PAWL_OK && answers.answers[0] != ANSWER_APPLIED)
        return error_set(err, PAWL_CONFLICT, "skip", "it waits for another dead letter: skip that one");
    if (status == PAWL_OK)
        status = request_note(request, kind == KIND_INBOX ? "inbox skip" : "outbox skip", word.ptr, err);
    if (status == PAWL_OK)
        request_say(request, "skipped; its stream goes on");
    return status;
}

static pawl_status skip_outbox(struct request *request, pawl_error *err) {
    return skip(request, KIND_OUTBOX, err);
}
static pawl_status skip_inbox(struct request *request, pawl_error *err) {
    return skip(request, KIND_INBOX, err);
}

#define REPLAY_DETAILS                                                                                       \
    "Takes ids of finished messages, which are kept only with pawl settings set history=7d or by a worker "  \
    "with --debug. The message is handled again after what its stream has now. From the outbox it goes "     \
    "out "                                                                                                   \
    "with the same id, so that readers can filter it; in the inbox it gets a new id and names the old one "  \
    "as "                                                                                                    \
    "its cause."

static const struct operation operations[] = {
    {COMMAND("outbox list", "List messages that are to be published"), .alias = "outbox",
     .flags = MESSAGE_LIST_FLAGS, .empty = "the outbox is empty", .run = outbox_list},
    {COMMAND("outbox show", "Show one message with its payload"), .arguments = "ID",
     .check = request_check_ids, .run = message_show},
    {COMMAND("outbox replay", "Publish completed messages again"), .arguments = "ID...",
     .flags = FLAG(DRY_RUN), .check = request_check_ids, .writes = true, .details = REPLAY_DETAILS,
     .empty = "nothing was replayed", .run = replay_outbox},
    {COMMAND("outbox skip", "Skip the dead letter that blocks a stream"), .arguments = "ID",
     .flags = FLAG(YES), .check = request_check_ids, .writes = true, .run = skip_outbox},
    {COMMAND("inbox list", "List messages that were received and are not finished"), .alias = "inbox",
     .flags = MESSAGE_LIST_FLAGS, .empty = "the inbox is empty", .run = inbox_list},
    {COMMAND("inbox show", "Show one message with its payload"), .arguments = "ID",
     .check = request_check_ids, .run = message_show},
    {COMMAND("inbox replay", "Handle completed messages again"), .arguments = "ID...", .flags = FLAG(DRY_RUN),
     .check = request_check_ids, .writes = true, .details = REPLAY_DETAILS, .empty = "nothing was replayed",
     .run = replay_inbox},
    {COMMAND("inbox skip", "Skip the dead letter that blocks a stream"), .arguments = "ID",
     .flags = FLAG(YES), .check = request_check_ids, .writes = true, .run = skip_inbox},
};

const struct operation_table outbox_inbox_operations = OPERATION_TABLE(operations);
