/* pawl outbox and pawl inbox: the messages of one kind, and sending finished ones again. */

#include "base/error.h"
#include "base/uuid.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/messages/list.h"
#include "operations/messages.h"
#include "view/names.h"

static void choose(struct cli *cli, enum store_kind kind) {
    cli->arguments.flags[FLAG_KIND] = (struct flag_value){.set = true, .number = (int64_t)kind - 1};
}

static pawl_status list_outbox(struct cli *cli, pawl_error *err) {
    choose(cli, KIND_OUTBOX);
    return messages_list(cli, 0, "the outbox is empty", err);
}

static pawl_status list_inbox(struct cli *cli, pawl_error *err) {
    choose(cli, KIND_INBOX);
    return messages_list(cli, 0, "the inbox is empty", err);
}

static pawl_status show(struct cli *cli, pawl_error *err) { return messages_show(cli, 0, "message", err); }

/* The finished message of that kind with the id. */
static pawl_status find_done(struct cli *cli, const char *word, enum store_kind kind, struct message_row *row,
                             pawl_error *err) {
    struct request request = front_request(cli);
    pawl_uuid id;
    struct message_rows rows = {.count = 0};
    pawl_status status = cli_uuid(word, &id, err);
    if (status == PAWL_OK)
        status = messages_with_id(&request, id, STATE_DONE, (int)kind, &rows, err);
    if (status == PAWL_OK && rows.count > 0)
        *row = rows.rows[0];
    if (status != PAWL_OK || rows.count > 0)
        return status;
    cli->hint = "Finished messages are kept only with pawl settings set history=7d, or by a worker with "
                "--debug; dead letters go on with pawl dead redrive.";
    return error_set(err, PAWL_NOT_FOUND, "replay", "there is no finished message %s in the %s", word,
                     kind_name(kind));
}

/* Again from the outbox with the same id, so that readers can filter it; in the inbox under a new one, caused
 * by the old, because the old one is known there. */
static pawl_status replay_one(struct cli *cli, const struct item *item, pawl_uuid *id, pawl_error *err) {
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
    pawl_status status = cli->store->ops->core.messages_put(cli->store, &put, cli->arena, &result, err);
    *id = message.id;
    return status;
}

static pawl_status replay(struct cli *cli, enum store_kind kind, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(UUID, "id")}, {COLUMN(UUID, "replayed")}};
    bool dry = cli_flag(cli, FLAG_DRY_RUN)->set;
    pawl_status status = PAWL_OK;
    output_list_begin(&cli->output, columns, 2);
    for (int i = 0; i < cli->arguments.word_count && status == PAWL_OK; i++) {
        struct message_row row = {0};
        pawl_uuid id = uuid_nil();
        status = find_done(cli, cli->arguments.words[i], kind, &row, err);
        if (status == PAWL_OK && !dry)
            status = replay_one(cli, &row.item, &id, err);
        if (status == PAWL_OK && !dry)
            status = audit_note(cli, kind == KIND_INBOX ? "inbox replay" : "outbox replay",
                                cli->arguments.words[i], err);
        if (status == PAWL_OK)
            output_list_row(&cli->output, (struct cell[]){cell_uuid(row.item.id), cell_uuid(id)});
    }
    pawl_status ended = output_list_end(&cli->output, "nothing was replayed", status == PAWL_OK ? err : NULL);
    return status == PAWL_OK ? ended : status;
}

static pawl_status replay_outbox(struct cli *cli, pawl_error *err) { return replay(cli, KIND_OUTBOX, err); }
static pawl_status replay_inbox(struct cli *cli, pawl_error *err) { return replay(cli, KIND_INBOX, err); }

/* The dead letter that a stream waits for is given up, so that the stream goes on. */
static pawl_status skip(struct cli *cli, enum store_kind kind, pawl_error *err) {
    struct request request = front_request(cli);
    pawl_uuid id;
    struct message_rows rows = {.count = 0};
    pawl_status status = cli_uuid(cli->arguments.words[0], &id, err);
    if (status == PAWL_OK)
        status = messages_with_id(&request, id, STATE_DEAD, (int)kind, &rows, err);
    struct dead_ref ref = {kind, rows.count > 0 ? rows.rows[rows.count - 1].item.seq : 0};
    if (status == PAWL_OK && ref.seq == 0)
        return error_set(
            err, PAWL_CONFLICT, "skip",
            "message %s is not a dead letter of the %s: only what failed for good can be skipped",
            cli->arguments.words[0], kind_name(kind));
    if (status == PAWL_OK)
        status = cli_confirm(cli, "skip this message (it is lost)", err);
    struct answer_list answers;
    if (status == PAWL_OK)
        status = cli->store->ops->core.dead_discard(cli->store, &ref, 1, cli->arena, &answers, err);
    if (status == PAWL_OK && answers.answers[0] != ANSWER_APPLIED)
        return error_set(err, PAWL_CONFLICT, "skip", "it waits for another dead letter: skip that one");
    if (status == PAWL_OK)
        status =
            audit_note(cli, kind == KIND_INBOX ? "inbox skip" : "outbox skip", cli->arguments.words[0], err);
    if (status == PAWL_OK)
        output_say(&cli->output, "skipped; its stream goes on");
    return status;
}

static pawl_status skip_outbox(struct cli *cli, pawl_error *err) { return skip(cli, KIND_OUTBOX, err); }
static pawl_status skip_inbox(struct cli *cli, pawl_error *err) { return skip(cli, KIND_INBOX, err); }

#define LIST_FLAGS (FLAG(STATE) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(LIMIT) | FLAG(AFTER))
#define REPLAY_DETAILS                                                                                       \
    "Takes ids of finished messages, which are kept only with pawl settings set history=7d or by a worker "  \
    "with --debug. The message is handled again after what its stream has now. From the outbox it goes "     \
    "out "                                                                                                   \
    "with the same id, so that readers can filter it; in the inbox it gets a new id and names the old one "  \
    "as "                                                                                                    \
    "its cause."

static const struct command commands[] = {
    {COMMAND("outbox list", "List messages that are to be published"), .alias = "outbox", .flags = LIST_FLAGS,
     .run = list_outbox},
    {COMMAND("outbox show", "Show one message with its payload"), .arguments = "ID", .check = cli_check_ids,
     .run = show},
    {COMMAND("outbox replay", "Publish completed messages again"), .arguments = "ID...",
     .flags = FLAG(DRY_RUN), .check = cli_check_ids, .writes = true, .details = REPLAY_DETAILS,
     .run = replay_outbox},
    {COMMAND("outbox skip", "Skip the dead letter that blocks a stream"), .arguments = "ID",
     .flags = FLAG(YES), .check = cli_check_ids, .writes = true, .run = skip_outbox},
    {COMMAND("inbox list", "List messages that were received and are not finished"), .alias = "inbox",
     .flags = LIST_FLAGS, .run = list_inbox},
    {COMMAND("inbox show", "Show one message with its payload"), .arguments = "ID", .check = cli_check_ids,
     .run = show},
    {COMMAND("inbox replay", "Handle completed messages again"), .arguments = "ID...", .flags = FLAG(DRY_RUN),
     .check = cli_check_ids, .writes = true, .details = REPLAY_DETAILS, .run = replay_inbox},
    {COMMAND("inbox skip", "Skip the dead letter that blocks a stream"), .arguments = "ID",
     .flags = FLAG(YES), .check = cli_check_ids, .writes = true, .run = skip_inbox},
};

const struct command_table outbox_inbox_commands = COMMAND_TABLE(commands);
