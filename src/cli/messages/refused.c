/* pawl inbox refused: what brokers delivered and the inbox could not take. */
#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/note.h"
#include "view/output/row.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    const struct flag_value *after = cli_flag(cli, FLAG_AFTER);
    struct refused_rows found;
    pawl_status status = cli->store->ops->relay->refused(cli->store, after->set ? after->number : 0,
                                                         limit->set ? (int)limit->number : PAWL_LIST_DEFAULT,
                                                         cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, refused_columns, REFUSED_COLUMNS);
    output_rows(&cli->output, found.rows, sizeof *found.rows, found.count);
    return output_list_end(&cli->output, "nothing was refused", err);
}

static pawl_status forget(struct cli *cli, pawl_error *err) {
    int64_t number = 0;
    if (!str_to_i64(str_from(cli->arguments.words[0]), 1, INT64_MAX, &number))
        return error_set(err, PAWL_INVALID, "inbox", "\"%s\" is not a number of pawl inbox refused",
                         cli->arguments.words[0]);
    pawl_status status = cli->store->ops->relay->refused_remove(cli->store, number, err);
    if (status == PAWL_OK)
        output_say(&cli->output, "forgotten");
    return status;
}

static const struct command commands[] = {
    {COMMAND("inbox refused", "List what brokers delivered and the inbox rejected"),
     .flags = FLAG_BIT(FLAG_LIMIT) | FLAG_BIT(FLAG_AFTER),
     .details = "A conflict has the id of a message that was received before with a different payload. A "
                "malformed one is not a CloudEvent that an inbox can store; its detail says why. Both were "
                "acknowledged to the broker after they were stored here, once per content; bytes that are "
                "not text are shown as base64.",
     .example = "pawl inbox refused\npawl inbox refused -o json | jq -r '.[].payload'", .run = list},
    {COMMAND("inbox forget", "Delete one rejected message"), .arguments = "NUMBER", .writes = true,
     .details = "NUMBER is that of pawl inbox refused. The content is lost.", .run = forget},
};

const struct command_table refused_commands = COMMAND_TABLE(commands);
