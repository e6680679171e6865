/* pawl partitions: who owns which part of the work, and where a stream belongs. */
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/fleet.h"
#include "view/names.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    struct settings settings;
    pawl_status status = cli->store->ops->core.settings_read(cli->store, &settings, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, lane_columns, LANE_COLUMNS);
    for (int kind = (int)cli_kind(cli, KIND_OUTBOX); kind <= (int)cli_kind(cli, KIND_COUNT); kind++) {
        struct lane_rows rows;
        status = cli->store->ops->view.lanes(cli->store, (enum store_kind)kind, cli->arena, &rows, err);
        if (status != PAWL_OK)
            return status;
        for (size_t i = 0; i < rows.count; i++) {
            struct cell cells[LANE_COLUMNS];
            lane_cells(&rows.rows[i], &settings, cells);
            output_list_row(&cli->output, cells);
        }
    }
    return output_list_end(&cli->output, "no lanes", err);
}

/* The owner of the lane for a kind; nil when it is free. */
static pawl_status owner_of(struct cli *cli, enum store_kind kind, int lane, pawl_uuid *owner,
                            pawl_error *err) {
    struct lane_rows rows;
    pawl_status status = cli->store->ops->view.lanes(cli->store, kind, cli->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    *owner = uuid_nil();
    for (size_t i = 0; i < rows.count; i++)
        if (rows.rows[i].lane == lane)
            *owner = rows.rows[i].owner;
    return PAWL_OK;
}

static pawl_status of(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(TEXT, "stream")},         {COLUMN(INT, "partition")},          {COLUMN(INT, "lane")},
        {COLUMN(INT, "partition_count")}, {COLUMN(INT, "lane_count")},         {COLUMN(UUID, "outbox_owner")},
        {COLUMN(UUID, "inbox_owner")},    {COLUMN(UUID, "perspective_owner")},
    };
    struct settings settings;
    pawl_str stream = str_from(cli->arguments.words[0]);
    if (stream.len == 0)
        return error_set(err, PAWL_INVALID, "partitions", "the stream's name is empty: name a stream");
    pawl_status status = cli->store->ops->core.settings_read(cli->store, &settings, err);
    if (status != PAWL_OK)
        return status;
    uint32_t partition = partition_of(stream, (uint32_t)settings.partition_count);
    int lane = (int)lane_of(partition, (uint32_t)settings.lane_count);
    struct cell cells[8] = {cell_text(stream), cell_int(partition), cell_int(lane),
                            cell_int(settings.partition_count), cell_int(settings.lane_count)};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        pawl_uuid owner;
        status = owner_of(cli, (enum store_kind)kind, lane, &owner, err);
        if (status != PAWL_OK)
            return status;
        cells[4 + kind] = cell_uuid(owner);
    }
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static const struct command commands[] = {
    {COMMAND("streams show", "Show where a stream belongs and who owns it"), .arguments = "STREAM",
     .details = "The same as pawl partitions of. What waits in it, in its order: pawl messages list "
                "--stream; what a message waits for: pawl why.",
     .example = "pawl streams show order-1", .run = of},
    {COMMAND("partitions", "List the lanes with their owners and what is in flight"),
     .flags = FLAG_BIT(FLAG_KIND),
     .details = "A lane is a fixed group of partitions that is owned, read and handed over as one. holds "
                "counts the streams of the lane that have a message set aside.",
     .example = "pawl partitions --kind outbox", .run = list},
    {COMMAND("partitions of", "Show the partition, the lane and the owners of a stream"),
     .arguments = "STREAM", .example = "pawl partitions of order-1", .run = of},
};

const struct command_table partitions_commands = COMMAND_TABLE(commands);
