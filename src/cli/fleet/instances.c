/* pawl instances: who works, and putting one out. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/fleet.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    struct instance_rows rows;
    pawl_status status = cli->store->ops->view.instances(cli->store, cli->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, instance_columns, INSTANCE_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[INSTANCE_COLUMNS];
        instance_cells(&rows.rows[i], cli->output.now_ms, cells);
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "no instances", err);
}

static pawl_status evict(struct cli *cli, pawl_error *err) {
    static const struct column answer[] = {{COLUMN(UUID, "id")}, {COLUMN(TEXT, "state")}};
    pawl_uuid id;
    pawl_status status = cli_uuid(cli->arguments.words[0], &id, err);
    if (status == PAWL_OK)
        status = cli->store->ops->core.instance_evict(cli->store, id, err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_uuid(id), cell_cstr("evicted")};
    return output_record(&cli->output, answer, 2, cells, err);
}

static const struct command commands[] = {
    {COMMAND("instances list", "List the instances: one row per running worker process"),
     .alias = "instances",
     .details = "A silent instance has not sent a heartbeat within its lease; its peers evict it when they "
                "next look.",
     .run = list},
    {COMMAND("instances evict", "Evict an instance: take all its work away"), .arguments = "ID",
     .check = cli_check_ids, .writes = true,
     .details = "Its lanes become free and its claims end: what it may have started counts as lost and is "
                "claimed by other workers. Anything it reports afterwards is stale. Use it for an instance "
                "that hangs; a live one registers again.",
     .run = evict},
};

const struct command_table instances_commands = COMMAND_TABLE(commands);
