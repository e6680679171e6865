/* pawl perspective set: read models from files. */
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

static const struct field fields[] = {
    {FIELD(FIELD_TEXTS, IN_TERMINAL, "file", "A file or a directory of them."), .required = true,
     .word = true, .max = 64}};

static const struct operation commands[] = {
    {OPERATION("perspective.set", "Register perspectives from files or directories"), FIELDS(fields),
     .changes = CHANGES_ACTION, .terminal = register_files, .options = OPTION(PERSPECTIVE_BATCH),
     .database = DATABASE_MAKE,
     .details =
         "A file is YAML or JSON with name, version, on (patterns) and one of sql, exec, pipe, http and "
         "function; docs/perspectives.md describes it. The first version of a name is live; a later "
         "one fills beside it until pawl perspective switch. Setting the same definition again "
         "changes nothing; a different one under the same version is refused.",
     .example = "pawl perspective set perspectives/"},
};

const struct operation_table perspectives_commands = OPERATION_TABLE(commands);
