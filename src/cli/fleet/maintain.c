/* pawl maintain: the housekeeping that workers do by themselves, done now. */
#include "base/uuid.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "work/housekeeping.h"

enum { ROWS_PER_ROUND = 10000, ROUNDS_MAX = 100000 };

static pawl_status run(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(INT, "instances_removed")}, {COLUMN(INT, "tombstones_removed")},
        {COLUMN(INT, "dedupe_removed")},    {COLUMN(INT, "requests_removed")},
        {COLUMN(INT, "claims_removed")},    {COLUMN(INT, "history_removed")},
        {COLUMN(INT, "receptors_removed")}, {COLUMN(INT, "claims_expired")},
        {COLUMN(INT, "tally_folded")},      {COLUMN(INT, "executions_removed")},
        {COLUMN(INT, "spine_removed")},     {COLUMN(INT, "runs_removed")},
    };
    struct housekeeping sum = {0}, round;
    int rounds = 0;
    do { /* each round is a short transaction; a full one means that there is more */
        pawl_status status = housekeeping_round(cli->store, uuid_nil(), ROWS_PER_ROUND, &round, err);
        if (status != PAWL_OK)
            return status;
        housekeeping_add(&sum, &round);
    } while (round.more && ++rounds < ROUNDS_MAX);
    struct cell cells[] = {
        cell_int(sum.core.instances_removed), cell_int(sum.core.tombstones_removed),
        cell_int(sum.core.dedupe_removed),    cell_int(sum.core.requests_removed),
        cell_int(sum.core.claims_removed),    cell_int(sum.core.history_removed),
        cell_int(sum.core.receptors_removed), cell_int(sum.core.claims_expired),
        cell_int(sum.core.tally_folded),      cell_int(sum.jobs.runs_removed),
        cell_int(sum.jobs.spine_removed),     cell_int(sum.runs.runs_removed),
    };
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static const struct command commands[] = {
    {COMMAND("maintain", "Remove what is no longer needed, and end expired claims"), .writes = true,
     .details = "Workers do this by themselves; if none is running, or you cannot wait, run it by hand or "
                "from a timer. It works in short transactions and is safe at any time.",
     .run = run},
};

const struct command_table maintain_commands = COMMAND_TABLE(commands);
