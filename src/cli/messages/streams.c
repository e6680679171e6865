/* pawl streams: the streams with waiting messages, and the first message of each. */
#include "base/error.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/output/row.h"
#include "view/stream.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    struct stream_rows found;
    if (limit->set && limit->number > STREAMS_LOOK_MAX)
        return error_set(err, PAWL_INVALID, "streams",
                         "--limit is %lld: at most %d messages of each state are looked at",
                         (long long)limit->number, STREAMS_LOOK_MAX);
    int look = limit->set ? (int)limit->number : PAWL_LIST_SCAN;
    pawl_status status = streams_waiting(cli->store, cli_kind(cli, 0), look, cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, stream_columns, STREAM_COLUMNS);
    output_rows(&cli->output, found.rows, sizeof *found.rows, found.count);
    status = output_list_end(&cli->output, "no message of a stream waits", err);
    if (status == PAWL_OK && found.count > 0 && !found.rows[0].complete)
        cli_note(cli,
                 "the first %d messages of each state were counted; there are more: --limit N looks at more",
                 look);
    return status;
}

static const struct command commands[] = {
    {COMMAND("streams list", "List the streams with waiting messages, and the first message of each"),
     .alias = "streams", .flags = FLAG(KIND) | FLAG(LIMIT), .limit_other = true,
     .details = "Those in which messages are blocked come first, then those with dead letters. At most "
                "--limit messages of each state are looked at, 10,000 without it; when there are more, "
                "complete is false: then the counts are those of what was looked at.",
     .example = "pawl streams list\npawl streams list --kind inbox -o ndjson | jq 'select(.blocked > 0)'",
     .run = list},
};

const struct command_table streams_commands = COMMAND_TABLE(commands);
