/* pawl status: how much waits, how old it is, and who works on it. */
#include <inttypes.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/names.h"

static const struct column columns[] = {
    {.key = "kind", .type = CELL_TEXT},
    {.key = "ready", .type = CELL_INT},
    {.key = "leased", .type = CELL_INT},
    {.key = "aside", .type = CELL_INT},
    {.key = "dead", .type = CELL_INT},
    {.key = "oldest_ready", .type = CELL_TIME, .drop = 1},
    {.key = "lanes_free", .type = CELL_INT, .drop = 2},
    {.key = "claims_active", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "claims_overdue", .type = CELL_INT, .drop = 3},
    {.key = "put", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "done", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "failed", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "stale", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "duplicate", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "redriven", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "discarded", .type = CELL_INT, .show = SHOW_WIDE},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void kind_cells(enum store_kind kind, const struct kind_counts *counts,
                       struct cell cells[static COLUMNS]) {
    const struct cell values[COLUMNS] = {
        cell_cstr(kind_name(kind)),   cell_int(counts->ready),         cell_int(counts->leased),
        cell_int(counts->aside),      cell_int(counts->dead),          cell_time(counts->oldest_ready_ms),
        cell_int(counts->lanes_free), cell_int(counts->claims_active), cell_int(counts->claims_overdue),
        cell_int(counts->put),        cell_int(counts->done),          cell_int(counts->failed),
        cell_int(counts->stale),      cell_int(counts->duplicate),     cell_int(counts->redriven),
        cell_int(counts->discarded),
    };
    for (size_t i = 0; i < COLUMNS; i++)
        cells[i] = values[i];
}

/* JSON is one object: {"now_ms", "instances": {…}, "kinds": [ … ]}. */
static pawl_status print_json(struct cli *cli, const struct counts *counts, const int64_t instances[static 3],
                              pawl_error *err) {
    static const struct column outer[] = {{.key = "now", .type = CELL_TIME},
                                          {.key = "instances_active", .type = CELL_INT},
                                          {.key = "instances_silent", .type = CELL_INT},
                                          {.key = "instances_evicted", .type = CELL_INT},
                                          {.key = "kinds", .type = CELL_JSON}};
    struct buf kinds;
    buf_init(&kinds, 0);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        struct cell cells[COLUMNS];
        kind_cells((enum store_kind)kind, &counts->kind[kind], cells);
        buf_append_char(&kinds, kind == KIND_OUTBOX ? '[' : ',');
        output_cells_json(&kinds, columns, COLUMNS, cells);
    }
    buf_append_char(&kinds, ']');
    struct cell cells[] = {cell_time(counts->now_ms), cell_int(instances[0]), cell_int(instances[1]),
                           cell_int(instances[2]), cell_text(buf_str(&kinds))};
    pawl_status status = buf_status(&kinds, "status", err);
    if (status == PAWL_OK)
        status = output_record(&cli->output, outer, sizeof outer / sizeof *outer, cells, err);
    buf_free(&kinds);
    return status;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct counts counts;
    struct instance_rows rows;
    pawl_status status = cli->store->ops->view.counts(cli->store, &counts, err);
    if (status == PAWL_OK)
        status = cli->store->ops->view.instances(cli->store, cli->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    int64_t instances[3] = {0}; /* active, silent, evicted */
    for (size_t i = 0; i < rows.count; i++)
        instances[rows.rows[i].state == INSTANCE_EVICTED ? 2
                                                         : rows.rows[i].lease_until_ms <= counts.now_ms]++;
    if (output_is_json(&cli->output))
        return print_json(cli, &counts, instances, err);
    output_say(&cli->output, "instances: %" PRId64 " active, %" PRId64 " silent, %" PRId64 " evicted\n",
               instances[0], instances[1], instances[2]);
    output_list_begin(&cli->output, columns, COLUMNS);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        struct cell cells[COLUMNS];
        kind_cells((enum store_kind)kind, &counts.kind[kind], cells);
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "", err);
}

const struct command command_status = {
    .path = "status",
    .summary = "Show the backlog, its age, the dead letters and the instances",
    .database = DATABASE_OPEN,
    .details = "ready waits for its lane's owner, leased is in flight, aside waits for another attempt or "
               "behind such "
               "a message, dead is given up until redriven.",
    .run = run,
};
