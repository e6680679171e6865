/* pawl perspectives: reset, skip, pause, rebuild, switch and wait. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "operations/operations.h"
#include "view/names.h"
#include "work/perspective/file.h"

enum { WAIT_MS_DEFAULT = 30000 };

static pawl_status switch_to(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "name")},
                                            {COLUMN(TEXT, "answer")},
                                            {COLUMN(INT, "behind")},
                                            {COLUMN(TEXT, "digest_old")},
                                            {COLUMN(TEXT, "digest_new")}};
    const struct flag_value *timeout = cli_flag(cli, FLAG_TIMEOUT);
    int64_t version = 0;
    struct switch_result result;
    if (!str_to_i64(str_from(cli->arguments.words[1]), 1, PAWL_PERSPECTIVE_VERSION_MAX, &version))
        return error_set(err, PAWL_INVALID, "switch", "the version is \"%s\"; write a number from 1",
                         cli->arguments.words[1]);
    struct perspective_switch in = {.name = str_from(cli->arguments.words[0]),
                                    .version = (int)version,
                                    .wait_ms = timeout->set && timeout->number < PAWL_SWITCH_WAIT_MS_MAX
                                                   ? timeout->number
                                               : timeout->set ? PAWL_SWITCH_WAIT_MS_MAX
                                                              : 0,
                                    .digest_old = cli_flag(cli, FLAG_DIGEST_OLD)->text,
                                    .digest_new = cli_flag(cli, FLAG_DIGEST_NEW)->text};
    pawl_status status =
        cli->store->ops->events.perspective_switch(cli->store, &in, cli->arena, &result, err);
    if (status != PAWL_OK)
        return status;
    if (result.answer == ANSWER_CONFLICT && result.behind > 0)
        return error_set(err, PAWL_CONFLICT, "switch",
                         "%" PRId64 " streams are behind; wait until it has caught up and try again",
                         result.behind);
    if (result.answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "switch", "the digests differ: old %.*s, new %.*s",
                         STR_ARG(result.digest_old), STR_ARG(result.digest_new));
    struct cell cells[] = {cell_text(in.name), cell_cstr(answer_name(result.answer)), cell_int(result.behind),
                           cell_text(result.digest_old), cell_text(result.digest_new)};
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static pawl_status check_wait(struct cli *cli, pawl_error *err) {
    bool stream = cli_flag(cli, FLAG_STREAM)->set, version = cli_flag(cli, FLAG_AT_VERSION)->set;
    if (stream != version || stream == cli_flag(cli, FLAG_POSITION)->set)
        return error_set(err, PAWL_INVALID, "wait",
                         "it needs --stream and --at-version, or --position, and not both");
    return PAWL_OK;
}

static pawl_status wait_for(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "perspective")}, {COLUMN(INT, "reached")}};
    const struct flag_value *timeout = cli_flag(cli, FLAG_TIMEOUT);
    int64_t at = 0;
    struct perspective_target target = {.perspective = str_from(cli->arguments.words[0]),
                                        .stream = cli_flag(cli, FLAG_STREAM)->text,
                                        .version = cli_flag(cli, FLAG_AT_VERSION)->number,
                                        .position = cli_flag(cli, FLAG_POSITION)->number};
    pawl_status status =
        perspective_wait(cli->store, &target, timeout->set ? timeout->number : WAIT_MS_DEFAULT, &at, err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_cstr(cli->arguments.words[0]), cell_int(at)};
    return output_record(&cli->output, columns, 2, cells, err);
}

static const struct command commands[] = {
    {COMMAND("perspectives reset", "Retry the failed streams of a perspective now"),
     .arguments = "NAME@VERSION [STREAM...]", .arguments_max = 1000, .writes = true,
     .operation = op_perspective_retry},
    {COMMAND("perspectives skip", "Skip one event in a perspective, with a reason"),
     .arguments = "NAME@VERSION STREAM VERSION", .flags = FLAG(REASON), .writes = true,
     .example = "pawl perspectives skip orders@1 order-7 12 --reason 'amount was text'",
     .operation = op_perspective_skip},
    {COMMAND("perspectives pause", "Stop applying events to a perspective for now"),
     .arguments = "NAME@VERSION", .writes = true, .operation = op_perspective_pause},
    {COMMAND("perspectives resume", "Resume a paused perspective"), .arguments = "NAME@VERSION",
     .writes = true, .operation = op_perspective_resume},
    {COMMAND("perspectives rebuild", "Rebuild a perspective from the first event, in place"),
     .arguments = "NAME@VERSION [STREAM...]", .arguments_max = 1000, .flags = FLAG(YES), .writes = true,
     .details = "Its clear statement and the reset of its checkpoints are one transaction. Readers see the "
                "model fill up; to avoid that, register a new version and switch to it.",
     .operation = op_perspective_rebuild},
    {COMMAND("perspectives switch", "Make a filled version of a perspective the live one"),
     .arguments = "NAME VERSION", .flags = FLAG(TIMEOUT) | FLAG(DIGEST_OLD) | FLAG(DIGEST_NEW),
     .writes = true,
     .details = "In one transaction, when the version has applied everything; appends wait meanwhile, at "
                "most --timeout. With digests both versions are compared first.",
     .run = switch_to},
    {COMMAND("perspectives wait", "Wait until a perspective has applied what was written"),
     .arguments = "NAME[@VERSION]", .flags = FLAG(STREAM) | FLAG(AT_VERSION) | FLAG(POSITION) | FLAG(TIMEOUT),
     .check = check_wait, .writes = true,
     .example = "pawl perspectives wait orders --stream order-1 --at-version 3 --timeout 5s",
     .run = wait_for},
    {COMMAND("perspectives remove", "Remove a perspective; its checkpoints and tables stay"),
     .arguments = "NAME@VERSION", .flags = FLAG(YES), .writes = true, .operation = op_perspective_remove},
};

const struct command_table perspectives_change_commands = COMMAND_TABLE(commands);
