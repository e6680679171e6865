/* pawl run: reset, re-enqueue, retry, pause, resume and cancel. */
#include <inttypes.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "view/names.h"
#include "view/run.h"

static pawl_status find(struct cli *cli, struct run_row *run, pawl_error *err) {
    int64_t now_ms = 0;
    return run_view_find(cli->store, str_from(cli->arguments.words[0]), cli->arena, run, &now_ms, err);
}

static pawl_status say(struct cli *cli, const struct run_row *run, enum store_answer answer, int64_t count,
                       pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(INT, "run")}, {COLUMN(TEXT, "answer")}, {COLUMN(INT, "count")}};
    if (answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "run", "the run %" PRId64 " is gone", run->id);
    struct cell cells[] = {cell_int(run->id), cell_cstr(answer_name(answer)), cell_int(count)};
    return output_record(&cli->output, columns, 3, cells, err);
}

static pawl_status refuse(const struct run_row *run, const char *what, pawl_error *err) {
    return error_set(err, PAWL_CONFLICT, "run", "the run %" PRId64 " is %s: %s", run->id,
                     run_state_name(run->state), what);
}

static pawl_status check_words(struct cli *cli, pawl_error *err) {
    const struct flag_value *cursor = cli_flag(cli, FLAG_CURSOR);
    if (cursor->set && json_check(cursor->text, "reset", err) != PAWL_OK)
        return PAWL_INVALID;
    return PAWL_OK;
}

static pawl_status reset(struct cli *cli, pawl_error *err) {
    struct run_row run;
    struct partition_row partition;
    enum store_answer answer = ANSWER_APPLIED;
    pawl_status status = find(cli, &run, err);
    if (status == PAWL_OK)
        status = run_view_partition(cli->store, &run, str_from(cli->arguments.words[1]), cli->arena,
                                    &partition, err);
    if (status != PAWL_OK)
        return status;
    struct partition_reset in = {
        .run = run.id,
        .part = partition.part,
        .offset = cli_flag(cli, FLAG_OFFSET)->set ? cli_flag(cli, FLAG_OFFSET)->number : 0,
        .cursor = cli_flag(cli, FLAG_CURSOR)->text};
    status = cli->store->ops->runs->reset(cli->store, &in, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        return refuse(&run, "its partitions can no longer be reset", err);
    return status == PAWL_OK ? say(cli, &run, answer, 1, err) : status;
}

static pawl_status again(struct cli *cli, const struct run_row *run, int part, pawl_error *err) {
    struct run_retry in = {run->id, part};
    struct run_retried out = {0};
    pawl_status status = cli->store->ops->runs->retry(cli->store, &in, &out, err);
    if (status == PAWL_OK && out.answer == ANSWER_CONFLICT)
        return refuse(run, "there is nothing to retry", err);
    return status == PAWL_OK ? say(cli, run, out.answer, out.count, err) : status;
}

static pawl_status retry(struct cli *cli, pawl_error *err) {
    struct run_row run;
    struct partition_row partition = {.part = -1};
    pawl_status status = find(cli, &run, err);
    if (status == PAWL_OK && cli->arguments.word_count > 1)
        status = run_view_partition(cli->store, &run, str_from(cli->arguments.words[1]), cli->arena,
                                    &partition, err);
    return status == PAWL_OK ? again(cli, &run, partition.part, err) : status;
}

static pawl_status note(struct cli *cli, const struct run_row *run, const char *action, pawl_error *err) {
    return audit_note_reason(cli, action, arena_printf(cli->arena, "%" PRId64, run->id), err);
}

static pawl_status set_paused(struct cli *cli, bool paused, pawl_error *err) {
    struct run_row run;
    enum store_answer answer = ANSWER_APPLIED;
    pawl_status status = find(cli, &run, err);
    if (status == PAWL_OK)
        status = cli->store->ops->runs->pause(cli->store, run.id, paused, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        return refuse(&run, "it has ended", err);
    if (status == PAWL_OK && answer == ANSWER_APPLIED)
        status = note(cli, &run, paused ? "run pause" : "run resume", err);
    return status == PAWL_OK ? say(cli, &run, answer, 1, err) : status;
}

static pawl_status pause_run(struct cli *cli, pawl_error *err) { return set_paused(cli, true, err); }
static pawl_status resume_run(struct cli *cli, pawl_error *err) { return set_paused(cli, false, err); }

static pawl_status cancel(struct cli *cli, pawl_error *err) {
    struct run_row run;
    enum store_answer answer = ANSWER_APPLIED;
    pawl_status status = find(cli, &run, err);
    if (status == PAWL_OK)
        status = cli_confirm(cli, "Cancel this run for good", err);
    if (status == PAWL_OK)
        status = cli->store->ops->runs->cancel(cli->store, run.id, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        return refuse(&run, "it has ended", err);
    if (status == PAWL_OK && answer == ANSWER_APPLIED)
        status = note(cli, &run, "run cancel", err);
    return status == PAWL_OK ? say(cli, &run, answer, 1, err) : status;
}

static const struct command commands[] = {
    {COMMAND("run reset", "Restart a partition, from an offset or a cursor"), .arguments = "RUN PARTITION",
     .flags = FLAG_BIT(FLAG_OFFSET) | FLAG_BIT(FLAG_CURSOR), .check = check_words, .writes = true,
     .details = "Without --offset and --cursor it begins from the first page. Pages that are on the way are "
                "of an older generation then, and are skipped. A partition that was done or failed is open "
                "again, and so is a run that failed.",
     .example = "pawl run reset 7 0..125 --offset 60", .run = reset},
    {COMMAND("run reenqueue", "Enqueue the next page of a partition again, in a new generation"),
     .arguments = "RUN PARTITION", .writes = true,
     .details = "For a stuck partition. It continues where it is; nothing is fetched twice.",
     .example = "pawl run reenqueue 7 0..125", .run = retry},
    {COMMAND("run retry", "Retry failed partitions, or a failed consolidation"),
     .arguments = "RUN [PARTITION]", .writes = true,
     .details = "Partitions continue where they stopped. Without PARTITION, every failed one does; if there "
                "is none, the failed consolidation is retried.",
     .example = "pawl run retry 7", .run = retry},
    {COMMAND("run pause", "Pause a run: no new pages start, those in flight finish"), .arguments = "RUN",
     .flags = FLAG_BIT(FLAG_REASON), .writes = true, .run = pause_run},
    {COMMAND("run resume", "Resume a paused run"), .arguments = "RUN", .writes = true, .run = resume_run},
    {COMMAND("run cancel", "Cancel a run for good; what it stored stays"), .arguments = "RUN",
     .flags = FLAG_BIT(FLAG_YES) | FLAG_BIT(FLAG_REASON), .writes = true, .run = cancel},
};

const struct command_table run_change_commands = COMMAND_TABLE(commands);
