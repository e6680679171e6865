/* pawl maintain: the housekeeping that workers do by themselves, done now. */
#include "base/uuid.h"
#include "cli/cli.h"
#include "cli/commands.h"

enum { ROWS_PER_ROUND = 10000, ROUNDS_MAX = 100000 };

static int64_t biggest(const struct maintain_result *round) {
    const int64_t counts[] = {round->instances_removed, round->tombstones_removed, round->dedupe_removed,
                              round->requests_removed,  round->claims_removed,     round->history_removed};
    int64_t most = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] > most)
            most = counts[i];
    return most;
}

static void add(struct maintain_result *sum, const struct maintain_result *round) {
    sum->instances_removed += round->instances_removed;
    sum->tombstones_removed += round->tombstones_removed;
    sum->dedupe_removed += round->dedupe_removed;
    sum->requests_removed += round->requests_removed;
    sum->claims_removed += round->claims_removed;
    sum->history_removed += round->history_removed;
    sum->claims_expired += round->claims_expired;
    sum->tally_folded += round->tally_folded;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {.key = "instances_removed", .type = CELL_INT}, {.key = "tombstones_removed", .type = CELL_INT},
        {.key = "dedupe_removed", .type = CELL_INT},    {.key = "requests_removed", .type = CELL_INT},
        {.key = "claims_removed", .type = CELL_INT},    {.key = "history_removed", .type = CELL_INT},
        {.key = "claims_expired", .type = CELL_INT},    {.key = "tally_folded", .type = CELL_INT},
    };
    struct maintain_in in = {.caller = uuid_nil(), .rows_max = ROWS_PER_ROUND};
    struct maintain_result sum = {0};
    struct maintain_result round;
    int rounds = 0;
    do { /* each round is a short transaction; a full one means that there is more */
        pawl_status status = cli->store->ops->core.maintain(cli->store, &in, &round, err);
        if (status != PAWL_OK)
            return status;
        add(&sum, &round);
    } while (biggest(&round) >= ROWS_PER_ROUND && ++rounds < ROUNDS_MAX);
    struct cell cells[] = {
        cell_int(sum.instances_removed), cell_int(sum.tombstones_removed), cell_int(sum.dedupe_removed),
        cell_int(sum.requests_removed),  cell_int(sum.claims_removed),     cell_int(sum.history_removed),
        cell_int(sum.claims_expired),    cell_int(sum.tally_folded),
    };
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

const struct command command_maintain = {
    .path = "maintain",
    .summary = "Remove what is no longer needed, and end claims that ran out",
    .database = DATABASE_OPEN,
    .writes = true,
    .details =
        "Workers do this by themselves; without a worker, or in a hurry, run it by hand or from a timer. It "
        "works in short transactions and is safe at any time.",
    .run = run,
};
