/* pawl check: whether the state is sound. */
#include <inttypes.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/fault.h"

static pawl_status run(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "invariant")},
                                            {COLUMN(TEXT, "detail"), .cut = true}};
    struct violations found;
    pawl_status status = cli->store->ops->view.check(cli->store, cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    if (found.count > 0)
        cli->exit_code = EXIT_VIOLATIONS;
    output_list_begin(&cli->output, columns, 2);
    for (size_t i = 0; i < found.count; i++) {
        struct cell cells[] = {cell_text(found.rows[i].invariant), cell_text(found.rows[i].detail)};
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "sound: every invariant holds", err);
}

static const struct command commands[] = {
    {COMMAND("check", "Check every invariant of the stored state"),
     .details = "Exits with 0 when the state is sound, with 1 when it is not and with 72 when the SQLite "
                "file itself is damaged; JSON is the list of violations, empty when there are none.",
     .run = run},
};

const struct command_table check_commands = COMMAND_TABLE(commands);
