/* pawl inbox receptors: how far the receptors of one message have come. */
#include "base/uuid.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/message.h"
#include "view/receptor.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    pawl_uuid id;
    struct receptor_row *rows = NULL;
    size_t count = 0;
    pawl_status status = cli_uuid(cli->arguments.words[0], &id, err);
    if (status == PAWL_OK)
        status = cli->store->ops->view.receptors(cli->store, id, cli->arena, &rows, &count, err);
    if (status != PAWL_OK)
        return status;
    OUTPUT_ROWS(&cli->output, receptor_note, rows, count);
    return output_list_end(&cli->output, "no receptor has ended yet", err);
}

static const struct command commands[] = {
    {COMMAND("inbox receptors", "Show the receptors of a message or an event, and what each has done"),
     .arguments = "ID", .check = cli_check_ids,
     .details = "A receptor is recorded when it ends for the first time. The message is done when all of "
                "them are; a completed receptor does not run again.",
     .run = list},
};

const struct command_table receptors_commands = COMMAND_TABLE(commands);
