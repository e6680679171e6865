/* pawl event snapshot: a state folded from a long stream, stored and found again. */
#include <inttypes.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/names.h"

static pawl_status put(struct cli *cli, struct snapshot *in, enum store_answer *answer, pawl_error *err) {
    in->state = cli_value(cli, "state").text;
    in->version = cli_value(cli, "version").number;
    pawl_status status = cli->store->ops->events.snapshot_put(cli->store, in, answer, err);
    if (status == PAWL_OK && *answer == ANSWER_STALE)
        status = error_set(err, PAWL_STALE, "snapshot",
                           "there is one of this version or a later one; nothing was changed");
    if (status == PAWL_OK && *answer == ANSWER_CONFLICT)
        status = error_set(err, PAWL_CONFLICT, "snapshot", "the stream has not reached version %" PRId64,
                           in->version);
    return status;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "stream")},
                                            {COLUMN(TEXT, "name")},
                                            {COLUMN(TEXT, "answer")},
                                            {COLUMN(INT, "version")},
                                            {COLUMN(JSON, "state")}};
    struct snapshot in = {.stream = cli_value(cli, "stream").text, .name = cli_value(cli, "name").text};
    enum store_answer answer = ANSWER_APPLIED;
    bool asked = !cli_value(cli, "state").present;
    struct snapshot found = in;
    pawl_status status = PAWL_OK;
    if (asked) {
        status = cli->store->ops->events.snapshot_get(
            cli->store, in.stream, in.name, cli_value(cli, "version").number, cli->arena, &found, err);
    } else {
        status = put(cli, &in, &answer, err);
        found = in;
    }
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_text(found.stream), cell_text(found.name),
                           cell_cstr(asked ? "found" : answer_name(answer)), cell_int(found.version),
                           cell_text(found.state)};
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static const struct field fields[] = {
    {TEXT_FIELD(IN_TERMINAL, "stream", PAWL_STREAM_BYTES_MAX, "The stream."), .required = true, .word = true},
    {TEXT_FIELD(IN_TERMINAL, "name", PAWL_NAME_BYTES_MAX, "The name of the state."), .required = true,
     .word = true},
    {INT_FIELD(IN_TERMINAL, "version", 1, 0, "The version of the last event in the state."), .word = true},
    {FIELD(FIELD_JSON, IN_TERMINAL, "state", "JSON; - is standard input, @FILE a file."), .word = true}};

static const struct operation commands[] = {
    {OPERATION("event.snapshot", "Keep or show a state folded from a stream"), FIELDS(fields),
     .changes = CHANGES_WORK, .terminal = run, .options = OPTION(PAYLOAD_LIMIT),
     .details = "With STATE, stores the state of the stream as of VERSION; the last two of each name are "
                "kept. Without "
                "STATE, shows the newest, or with VERSION the newest up to it: to load a long stream, start "
                "there and "
                "read on from the next version.",
     .example = "pawl event snapshot account-7 balance 1 '{\"balance\":120}'\n"
                "pawl event snapshot account-7 balance"},
};

const struct operation_table snapshot_commands = OPERATION_TABLE(commands);
