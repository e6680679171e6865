/* pawl messages cancel: end a waiting or running message. */
#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/audit.h"
#include "cli/commands.h"

static pawl_status check_state(struct cli *cli, pawl_uuid id, pawl_error *err) {
    struct message_rows rows;
    pawl_status status = cli->store->ops->view.message_find(cli->store, id, cli->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "cancel", "there is no message with id %s",
                         cli->arguments.words[0]);
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].state != STATE_DONE && rows.rows[i].state != STATE_DEAD)
            return PAWL_OK;
    }
    return error_set(err, PAWL_CONFLICT, "cancel", "message %s has ended already", cli->arguments.words[0]);
}

static pawl_status cancel(struct cli *cli, pawl_error *err) {
    const struct flag_value *reason = cli_flag(cli, FLAG_REASON);
    char text[UUID_TEXT_BYTES];
    pawl_uuid id;
    pawl_status status = cli_uuid(cli->arguments.words[0], &id, err);
    if (status == PAWL_OK)
        status = check_state(cli, id, err);
    if (status != PAWL_OK)
        return status;
    struct pause_row row = {
        .scope = PAUSE_MESSAGE, .name = str_from(uuid_format(id, text)), .actor = audit_actor(cli)};
    if (reason->set)
        row.reason = reason->text;
    status = cli->store->ops->relay->pause_set(cli->store, &row, err);
    if (status == PAWL_OK)
        status = audit_note_reason(cli, "cancel", text, err);
    if (status == PAWL_OK)
        output_say(&cli->output, "cancelled; its worker is woken to see it");
    return status;
}

static const struct command commands[] = {
    {COMMAND("messages cancel", "Cancel a waiting or running message: it becomes a dead letter"),
     .arguments = "ID", .flags = FLAG(REASON), .check = cli_check_ids, .writes = true,
     .details = "The worker that runs it is woken and notices immediately (behind a pooler: with its next "
                "heartbeat): a program gets SIGTERM and two seconds later SIGKILL, a call to an endpoint is "
                "aborted, and pawl_cancelled returns true to a C function. A waiting message ends when it is "
                "claimed, without running. It becomes a dead letter, and the policy of its stream applies; a "
                "message that completes first stays completed. pawl resume message ID undoes it until a "
                "worker has acted on it.",
     .example = "pawl messages cancel 01890a5d-ac96-774b-bcce-b302099a8057 --reason 'wrong address'",
     .run = cancel},
};

const struct command_table cancel_commands = COMMAND_TABLE(commands);
