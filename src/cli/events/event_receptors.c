/* pawl receptors: register handlers of events, and see how far they are. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/names.h"
#include "view/receptor.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    struct fleet_receptors found = {.count = 0};
    pawl_str name = str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL);
    pawl_status status = fleet_receptors(cli->store, name, cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, receptor_columns, RECEPTOR_COLUMNS);
    for (size_t i = 0; i < found.count; i++) {
        struct cell cells[RECEPTOR_COLUMNS];
        receptor_cells(cli->arena, &found.rows[i], cells);
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "no receptors on events", err);
}

static pawl_status say_answer(struct cli *cli, enum store_answer answer, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "receptor")}, {COLUMN(TEXT, "answer")}};
    struct cell cells[] = {cell_cstr(cli->arguments.words[0]), cell_cstr(answer_name(answer))};
    return output_record(&cli->output, columns, 2, cells, err);
}

static pawl_status register_it(struct cli *cli, pawl_error *err) {
    struct event_pattern patterns[PAWL_PATTERNS_MAX];
    enum store_answer answer = ANSWER_APPLIED;
    struct receptor_new in = {.name = str_from(cli->arguments.words[0]),
                              .patterns = patterns,
                              .pattern_count = (size_t)cli->arguments.word_count - 1,
                              .from_start = cli_flag(cli, FLAG_FROM_START)->set,
                              .replace = cli_flag(cli, FLAG_REPLACE)->set};
    for (size_t i = 0; i < in.pattern_count; i++)
        patterns[i] = event_pattern_from(str_from(cli->arguments.words[i + 1]));
    pawl_status status = cli->store->ops->events.receptor_register(cli->store, &in, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        return error_set(
            err, PAWL_CONFLICT, "receptors",
            "receptor %s is registered with other patterns; --replace changes them, from its position on",
            cli->arguments.words[0]);
    return status == PAWL_OK ? say_answer(cli, answer, err) : status;
}

static pawl_status remove_it(struct cli *cli, pawl_error *err) {
    enum store_answer answer = ANSWER_APPLIED;
    pawl_status status = cli_confirm(cli, "Give this receptor no more events", err);
    if (status == PAWL_OK)
        status = cli->store->ops->events.receptor_remove(cli->store, str_from(cli->arguments.words[0]),
                                                         &answer, err);
    if (status == PAWL_OK && answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "receptors", "there is no receptor on events named %s",
                         cli->arguments.words[0]);
    return status == PAWL_OK ? say_answer(cli, answer, err) : status;
}

static const struct command commands[] = {
    {COMMAND("receptors status", "Show the receptors on events: what they get and how far they are"),
     .alias = "receptors", .arguments = "[NAME]", .writes = true,
     .details = "behind: events not looked at yet. messages: how many were created for it; they are inbox "
                "messages with its topic, so pawl inbox list, pawl dead list, redrive and pause take --topic "
                "event:NAME. To see what became of one event: pawl inbox receptors EVENT.",
     .example = "pawl receptors status", .run = list},
    {COMMAND("receptors register", "Register a receptor: one message for each event of some types"),
     .arguments = "NAME PATTERN...", .arguments_max = PAWL_PATTERNS_MAX + 1,
     .flags = FLAG_BIT(FLAG_FROM_START) | FLAG_BIT(FLAG_REPLACE), .database = DATABASE_MAKE, .writes = true,
     .details = "A pattern is a glob, or has exact:, suffix:, glob: or regex: in front. A worker with a "
                "handler NAME@event:PATTERN registers it by itself; one with NAME@event: takes it as it is "
                "(docs/receptors.md).",
     .example = "pawl receptors register invoices 'Order*' --from-start", .run = register_it},
    {COMMAND("receptors remove", "Remove a receptor; its messages stay"), .arguments = "NAME",
     .flags = FLAG_BIT(FLAG_YES), .writes = true, .run = remove_it},
};

const struct command_table event_receptors_commands = COMMAND_TABLE(commands);
