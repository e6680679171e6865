/* pawl transport list: which brokers this installation can talk to. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "transport/module.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "transport")},
                                            {COLUMN(BOOL, "available")},
                                            {COLUMN(TEXT, "schemes")},
                                            {COLUMN(TEXT, "library")},
                                            {COLUMN(BOOL, "receives"), .show = SHOW_WIDE},
                                            {COLUMN(TEXT, "summary"), .drop = 1},
                                            {COLUMN(TEXT, "reason"), .cut = true}};
    output_list_begin(&cli->output, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < transport_known_count; i++) {
        const struct transport_known *known = &transport_known_rows[i];
        const struct transport_module *module = NULL;
        pawl_error why = {.text = ""};
        bool here = transport_load(known->name, &module, &why) == PAWL_OK;
        struct cell cells[] = {cell_cstr(known->name),
                               cell_bool(here),
                               cell_cstr(known->schemes),
                               cell_cstr(here ? module->library : NULL),
                               here ? cell_bool(module->subscribe != NULL) : cell_none(),
                               cell_cstr(known->summary),
                               here ? cell_none() : cell_cstr(why.text)};
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "no transports", err);
}

static const struct command commands[] = {
    {COMMAND("transport list", "List the brokers that can be used, and why others cannot"),
     .alias = "transport",
     .details = "Every transport is a separate, optional module, pawl-transport-NAME.so. Modules are looked "
                "for in PAWL_TRANSPORT_DIR, next to a program that runs from its build directory, and where "
                "pawl is installed.",
     .example = "pawl transport list\npawl transport list -o json | jq '.[] | select(.available)'",
     .database = DATABASE_NONE, .run = list},
};

const struct command_table transport_commands = COMMAND_TABLE(commands);
