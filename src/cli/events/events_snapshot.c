/* pawl events snapshot: a state folded from a long stream, stored and found again. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "view/names.h"

/* The version that was named; 0 = none. */
static int64_t version_of(const struct cli *cli) {
    int64_t version = 0;
    if (cli->arguments.word_count < 3 ||
        !str_to_i64(str_from(cli->arguments.words[2]), 1, INT64_MAX, &version))
        return 0;
    return version;
}

static pawl_status check_words(struct request *request, pawl_error *err) {
    struct cli *cli = request->self;
    if (cli->arguments.word_count > 2 && version_of(cli) == 0)
        return error_set(
            err, PAWL_INVALID, "snapshot",
            "version \"%s\" is not a number from 1 on: write the version of the last event in the "
            "state",
            cli->arguments.words[2]);
    return PAWL_OK;
}

static pawl_status put(struct cli *cli, struct snapshot *in, enum store_answer *answer, pawl_error *err) {
    const char *word = cli->arguments.words[3];
    size_t bytes_max = (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT);
    pawl_status status = PAWL_OK;
    in->state = str_from(word);
    in->version = version_of(cli);
    if (strcmp(word, "-") == 0 || word[0] == '@')
        status = input_read(cli->arena, word[0] == '@' ? word + 1 : word, bytes_max, &in->state, err);
    if (status == PAWL_OK)
        status = cli->store->ops->events.snapshot_put(cli->store, in, answer, err);
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
    struct snapshot in = {.stream = str_from(cli->arguments.words[0]),
                          .name = str_from(cli->arguments.words[1])};
    enum store_answer answer = ANSWER_APPLIED;
    bool asked = cli->arguments.word_count < 4;
    struct snapshot found = in;
    pawl_status status = PAWL_OK;
    if (asked) {
        status = cli->store->ops->events.snapshot_get(cli->store, in.stream, in.name, version_of(cli),
                                                      cli->arena, &found, err);
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

static const struct operation commands[] = {
    {COMMAND("events snapshot", "Keep or show a state folded from a stream"),
     .arguments = "STREAM NAME [VERSION [STATE]]", .options = OPTION(PAYLOAD_LIMIT), .check = check_words,
     .writes = true,
     .details =
         "With STATE (JSON; - is standard input, @FILE a file), stores the state of the stream as of "
         "VERSION; the last two of each name are kept. Without STATE, shows the newest, or with VERSION the "
         "newest up to it: to load a long stream, start there and read on from the next version.",
     .example = "pawl events snapshot account-7 balance 1 '{\"balance\":120}'\n"
                "pawl events snapshot account-7 balance",
     .terminal = run},
};

const struct operation_table events_snapshot_commands = OPERATION_TABLE(commands);
