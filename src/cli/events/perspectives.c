/* pawl perspectives: register read models and see how they do. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/event.h"
#include "view/names.h"
#include "view/output/row.h"
#include "work/doctor/fleet_facts.h"
#include "work/perspective/file.h"

static pawl_status read_rows(struct cli *cli, pawl_str name, struct perspective_rows *rows, pawl_error *err) {
    return fleet_perspectives(cli->store, name, cli->arena, rows, err);
}

/* When all is applied, by how much was applied between two looks. */
static int64_t eta_of(const struct perspective_row *row, const struct perspective_rows *before,
                      int64_t elapsed_ms) {
    for (size_t i = 0; i < before->count; i++) {
        int64_t applied = row->applied - before->rows[i].applied;
        if (!str_equal(before->rows[i].key, row->key))
            continue;
        if (row->lag_events == 0)
            return 0;
        return applied > 0 ? row->lag_events * elapsed_ms / applied : -1;
    }
    return -1;
}

static pawl_status list(struct cli *cli, pawl_error *err) {
    const struct flag_value *rates = cli_flag(cli, FLAG_RATES);
    struct perspective_rows before = {0}, rows;
    pawl_str name = str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL);
    pawl_status status = PAWL_OK;
    if (rates->set) {
        status = read_rows(cli, name, &before, err);
        nanosleep(&(struct timespec){rates->number / 1000, (long)(rates->number % 1000) * 1000000}, NULL);
    }
    if (status == PAWL_OK)
        status = read_rows(cli, name, &rows, err);
    if (status != PAWL_OK)
        return status;
    if (!str_absent(name) && rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "perspectives", "there is no perspective named %.*s",
                         STR_ARG(name));
    output_list_begin(&cli->output, perspective_columns, PERSPECTIVE_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[PERSPECTIVE_COLUMNS];
        perspective_cells(cli->arena, &rows.rows[i], eta_of(&rows.rows[i], &before, rates->number), cells);
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "no perspectives", err);
}

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

static pawl_status errors(struct cli *cli, pawl_error *err) {
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    int64_t rows = limit->set ? limit->number : PAWL_LIST_DEFAULT;
    struct checkpoint_errors found;
    pawl_status status = cli->store->ops->events.checkpoint_errors(
        cli->store, str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL),
        (int)(rows < PAWL_LIST_MAX ? rows : PAWL_LIST_MAX), cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, checkpoint_error_columns, CHECKPOINT_ERROR_COLUMNS);
    output_rows(&cli->output, found.rows, sizeof *found.rows, found.count);
    return output_list_end(&cli->output, "nothing has failed", err);
}

static const struct command commands[] = {
    {COMMAND("perspectives status", "Show the perspectives: checkpoints by status, lag, time left"),
     .alias = "perspectives", .arguments = "[NAME]", .flags = FLAG_BIT(FLAG_RATES), .writes = true,
     .details = "The lag is in events and in the age of the first that is not applied. With --rates, eta is "
                "the time until all is applied, at the speed measured.",
     .example = "pawl perspectives status --rates 5s", .run = list},
    {COMMAND("perspectives register", "Register perspectives from files or directories"),
     .arguments = "FILE...", .arguments_max = 64, .options = OPTION_BIT(OPTION_PERSPECTIVE_BATCH),
     .database = DATABASE_MAKE, .writes = true,
     .details = "A file is YAML or JSON with name, version, on (patterns) and one of sql, exec, http and "
                "function; docs/perspectives.md describes it. The first version of a name is live; a later "
                "one fills beside it until pawl perspectives switch. Registering the same definition again "
                "changes nothing; a different one under the same version is refused.",
     .example = "pawl perspectives register perspectives/", .run = register_files},
    {COMMAND("perspectives failed", "List the streams on which a perspective failed"),
     .arguments = "[NAME@VERSION]", .flags = FLAG_BIT(FLAG_STREAM) | FLAG_BIT(FLAG_LIMIT), .run = failed},
    {COMMAND("perspectives errors", "Count the failures of perspectives by cause"),
     .arguments = "[NAME@VERSION]", .flags = FLAG_BIT(FLAG_LIMIT), .run = errors},
};

const struct command_table perspectives_commands = COMMAND_TABLE(commands);
