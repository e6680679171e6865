/* pawl perspectives register: read models from files. */
#include "cli/cli.h"
#include "cli/commands.h"
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

static const struct operation commands[] = {
    {COMMAND("perspectives register", "Register perspectives from files or directories"),
     .arguments = "FILE...", .arguments_max = 64, .options = OPTION(PERSPECTIVE_BATCH),
     .database = DATABASE_MAKE, .writes = true,
     .details = "A file is YAML or JSON with name, version, on (patterns) and one of sql, exec, http and "
                "function; docs/perspectives.md describes it. The first version of a name is live; a later "
                "one fills beside it until pawl perspectives switch. Registering the same definition again "
                "changes nothing; a different one under the same version is refused.",
     .example = "pawl perspectives register perspectives/", .terminal = register_files},
};

const struct operation_table perspectives_commands = OPERATION_TABLE(commands);
