/* pawl statement: SQL that runs use by name. */
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "view/output/row.h"
#include "view/run.h"

static pawl_status statement_set(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "statement")}, {COLUMN(TEXT, "answer")}};
    struct run_target in = {.name = str_from(cli->arguments.words[0])};
    pawl_status status =
        input_read(cli->arena, cli->arguments.words[1], PAWL_TARGET_SQL_BYTES_MAX, &in.sql, err);
    if (status == PAWL_OK)
        status = cli->store->ops->events.sql_check(cli->store, in.sql, false, err);
    if (status == PAWL_OK)
        status = cli->store->ops->runs->target_put(cli->store, &in, err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_text(in.name), cell_cstr("registered")};
    return output_record(&cli->output, columns, 2, cells, err);
}

static pawl_status statement_list(struct cli *cli, pawl_error *err) {
    struct run_targets found = {0};
    pawl_status status = cli->store->ops->runs->targets(cli->store, cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, statement_columns, STATEMENT_COLUMNS);
    output_rows(&cli->output, found.targets, sizeof *found.targets, found.count);
    return output_list_end(&cli->output, "no statements", err);
}

static pawl_status statement_remove(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "statement")}, {COLUMN(TEXT, "answer")}};
    pawl_str name = str_from(cli->arguments.words[0]);
    pawl_status status = cli->store->ops->runs->target_remove(cli->store, name, err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_text(name), cell_cstr("removed")};
    return output_record(&cli->output, columns, 2, cells, err);
}

static const struct command commands[] = {
    {COMMAND("statement set", "Register a statement that stores the items of a page, or selects them"),
     .arguments = "NAME FILE", .writes = true,
     .details = "The statement has one parameter ($1, SQLite ?1). One that stores is given a JSON array of "
                "objects with run, partition, key and payload, and runs in the transaction of the page, with "
                "the worker's rights.",
     .example = "pawl statement set products products.sql", .run = statement_set},
    {COMMAND("statement list", "List the statements that runs use by name"), .alias = "statement",
     .run = statement_list},
    {COMMAND("statement remove", "Remove a statement that no open run uses"), .arguments = "NAME",
     .writes = true, .run = statement_remove},
};

const struct command_table statement_commands = COMMAND_TABLE(commands);
