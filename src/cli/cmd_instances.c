/* pawl instances: who works, and putting one out. */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct column columns[] = {
    {.key = "id", .type = CELL_UUID},
    {.key = "service", .type = CELL_TEXT, .cut = true},
    {.key = "host", .type = CELL_TEXT, .cut = true, .drop = 3},
    {.key = "pid", .type = CELL_INT, .drop = 4},
    {.key = "state", .type = CELL_TEXT},
    {.key = "outbox_lanes", .type = CELL_INT, .drop = 5},
    {.key = "inbox_lanes", .type = CELL_INT, .drop = 5},
    {.key = "perspective_lanes", .type = CELL_INT, .drop = 6},
    {.key = "claims", .type = CELL_INT, .drop = 2},
    {.key = "in_flight", .type = CELL_INT},
    {.key = "beat", .type = CELL_TIME, .drop = 1},
    {.key = "beat_age", .type = CELL_DURATION, .show = SHOW_JSON},
    {.key = "lease_until", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "started", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "outbox", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "inbox", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "perspective", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "metadata", .type = CELL_JSON, .show = SHOW_WIDE},
};

/* Silent: its lease is over, but nobody has evicted it yet. */
static const char *state_of(const struct instance_row *row, int64_t now_ms) {
    if (row->state == INSTANCE_EVICTED)
        return "evicted";
    return row->lease_until_ms <= now_ms ? "silent" : "active";
}

static pawl_status list(struct cli *cli, pawl_error *err) {
    struct instance_rows rows;
    pawl_status status = cli->store->ops->view.instances(cli->store, cli->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < rows.count; i++) {
        const struct instance_row *row = &rows.rows[i];
        struct cell cells[] = {
            cell_uuid(row->id),
            cell_text(row->service),
            cell_text(row->host),
            cell_int(row->pid),
            cell_cstr(state_of(row, cli->output.now_ms)),
            cell_int(row->lanes[KIND_OUTBOX]),
            cell_int(row->lanes[KIND_INBOX]),
            cell_int(row->lanes[KIND_PERSPECTIVE]),
            cell_int(row->claims),
            cell_int(row->in_flight),
            cell_time(row->beat_ms),
            cell_duration(row->beat_age_ms),
            cell_time(row->lease_until_ms),
            cell_time(row->started_ms),
            cell_bool((row->kinds & KIND_BIT(KIND_OUTBOX)) != 0),
            cell_bool((row->kinds & KIND_BIT(KIND_INBOX)) != 0),
            cell_bool((row->kinds & KIND_BIT(KIND_PERSPECTIVE)) != 0),
            cell_text(row->metadata),
        };
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "no instances", err);
}

static pawl_status evict(struct cli *cli, pawl_error *err) {
    static const struct column answer[] = {{.key = "id", .type = CELL_UUID},
                                           {.key = "state", .type = CELL_TEXT}};
    pawl_uuid id;
    pawl_status status = cli_uuid(cli->arguments.words[0], &id, err);
    if (status == PAWL_OK)
        status = cli->store->ops->core.instance_evict(cli->store, id, err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_uuid(id), cell_cstr("evicted")};
    return output_record(&cli->output, answer, 2, cells, err);
}

const struct command command_instances_list = {
    .path = "instances list",
    .alias = "instances",
    .summary = "List the instances: one row per running worker process",
    .database = DATABASE_OPEN,
    .details = "A silent instance has not sent a heartbeat within its lease; its peers evict it when they "
               "next look.",
    .run = list,
};

const struct command command_instances_evict = {
    .path = "instances evict",
    .summary = "Take all work away from an instance",
    .arguments = "ID",
    .arguments_min = 1,
    .arguments_max = 1,
    .check = cli_check_ids,
    .database = DATABASE_OPEN,
    .writes = true,
    .details =
        "Its lanes become free and its claims end: what was in flight counts a death and is claimed again by "
        "others. Whatever it reports afterwards is stale. For an instance that hangs; a live one registers "
        "anew.",
    .run = evict,
};
