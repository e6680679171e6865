/* pawl statement: SQL that runs use by name. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/input.h"
#include "operations/operations.h"
#include "operations/runs.h"

static pawl_status statement_set(struct cli *cli, pawl_error *err) {
    struct request request = front_request(cli);
    pawl_str sql;
    pawl_status status =
        input_read(cli->arena, cli->arguments.words[1], PAWL_TARGET_SQL_BYTES_MAX, &sql, err);
    return status == PAWL_OK ? statement_store(&request, sql, err) : status;
}

static const struct command commands[] = {
    {COMMAND("statement set", "Register a statement that stores the items of a page, or selects them"),
     .arguments = "NAME FILE", .writes = true,
     .details = "The statement has one parameter ($1, SQLite ?1). One that stores is given a JSON array of "
                "objects with run, partition, key and payload, and runs in the transaction of the page, with "
                "the worker's rights.",
     .example = "pawl statement set products products.sql", .run = statement_set},
    {COMMAND("statement list", "List the statements that runs use by name"), .alias = "statement",
     .empty = "no statements", .operation = op_statement_list},
    {COMMAND("statement remove", "Remove a statement that no open run uses"), .arguments = "NAME",
     .writes = true, .operation = op_statement_remove},
};

const struct command_table statement_commands = COMMAND_TABLE(commands);
