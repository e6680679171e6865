/* pawl perspectives: register read models and see how they do. */
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "operations/operations.h"
#include "view/event.h"
#include "view/names.h"
#include "work/perspective/file.h"

static void told(void *self, const struct perspective_new *in, const struct perspective_registered *out) {
    struct cli *cli = self;
    struct cell cells[] = {cell_text(in->name), cell_int(in->version), cell_cstr(answer_name(out->answer)),
                           cell_cstr(perspective_state_name(out->state))};
    output_list_row(&cli->output, cells);
}

static pawl_status register_files(struct cli *cli, pawl_error *err) {
    static const struct column told_columns[] = {
        {COLUMN(TEXT, "name")}, {COLUMN(INT, "version")}, {COLUMN(TEXT, "answer")}, {COLUMN(TEXT, "state")}};
    int batch = (int)options_number(&cli->arguments.options, OPTION_PERSPECTIVE_BATCH);
    pawl_status status = PAWL_OK;
    output_list_begin(&cli->output, told_columns, sizeof told_columns / sizeof *told_columns);
    for (int i = 0; status == PAWL_OK && i < cli->arguments.word_count; i++)
        status = perspective_register_path(cli->store, cli->arguments.words[i], batch, told, cli, err);
    return status == PAWL_OK ? output_list_end(&cli->output, "nothing registered", err) : status;
}

static pawl_status failed(struct cli *cli, pawl_error *err) {
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    int64_t rows = limit->set ? limit->number : PAWL_LIST_DEFAULT;
    struct checkpoint_filter filter = {
        .perspective = str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL),
        .stream = cli_flag(cli, FLAG_STREAM)->text,
        .status = CHECKPOINT_FAILED,
        .limit = (int)(rows < PAWL_LIST_MAX ? rows : PAWL_LIST_MAX)};
    struct checkpoint_views found;
    pawl_status status =
        cli->store->ops->events.checkpoints_list(cli->store, &filter, cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    OUTPUT_ROWS(&cli->output, checkpoint, found.rows, found.count);
    return output_list_end(&cli->output, "nothing has failed", err);
}

static const struct command commands[] = {
    {COMMAND("perspectives status", "Show the perspectives: checkpoints by status, lag, time left"),
     .alias = "perspectives", .arguments = "[NAME]", .flags = FLAG(RATES), .writes = true,
     .details = "The lag is in events and in the age of the first that is not applied. With --rates, eta is "
                "the time until all is applied, at the speed measured.",
     .example = "pawl perspectives status --rates 5s", .empty = "no perspectives",
     .operation = op_perspective_list},
    {COMMAND("perspectives register", "Register perspectives from files or directories"),
     .arguments = "FILE...", .arguments_max = 64, .options = OPTION(PERSPECTIVE_BATCH),
     .database = DATABASE_MAKE, .writes = true,
     .details = "A file is YAML or JSON with name, version, on (patterns) and one of sql, exec, http and "
                "function; docs/perspectives.md describes it. The first version of a name is live; a later "
                "one fills beside it until pawl perspectives switch. Registering the same definition again "
                "changes nothing; a different one under the same version is refused.",
     .example = "pawl perspectives register perspectives/", .run = register_files},
    {COMMAND("perspectives failed", "List the streams on which a perspective failed"),
     .arguments = "[NAME@VERSION]", .flags = FLAG(STREAM) | FLAG(LIMIT), .run = failed},
    {COMMAND("perspectives errors", "Count the failures of perspectives by cause"),
     .arguments = "[NAME@VERSION]", .flags = FLAG(LIMIT), .empty = "nothing has failed",
     .operation = op_perspective_errors},
};

const struct command_table perspectives_commands = COMMAND_TABLE(commands);
