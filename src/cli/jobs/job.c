/* pawl job: enqueue one, look at them, stop and retry them. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/input.h"
#include "cli/jobs/pipeline_input.h"
#include "operations/jobs.h"
#include "operations/messages.h"
#include "operations/operations.h"
#include "view/work.h"
#include "work/enqueue_check.h"
#include "work/pipeline/run.h"
#include "work/schedule_duty.h"

static pawl_status list(struct cli *cli, pawl_error *err) {
    struct request request = front_request(cli);
    struct job_filter filter = job_filter_from(&request);
    pawl_status status = PAWL_OK;
    int64_t limit = cli_limit(cli), seen = 0;
    bool more = true;
    output_list_begin(&cli->output, job_columns, JOB_COLUMNS);
    while (more && status == PAWL_OK) {
        struct job_rows rows = {0};
        filter.limit = (int)(limit - seen);
        status = cli->store->ops->jobs->jobs(cli->store, &filter, cli->arena, &rows, err);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            struct cell cells[JOB_COLUMNS];
            job_cells(&rows.rows[i], cells);
            output_list_row(&cli->output, cells);
        }
        seen += (int64_t)rows.count;
        filter.after_id = rows.next_id;
        more = rows.next_id > 0 && seen < limit;
    }
    if (status == PAWL_OK)
        status = output_list_end(&cli->output, "no jobs", err);
    cli->list_said = true;
    if (status == PAWL_OK && filter.after_id > 0)
        cli_say_more(cli, limit);
    return status;
}

static pawl_status read_times(struct cli *cli, struct job_new *job, pawl_error *err) {
    const struct flag_value *at = cli_flag(cli, FLAG_AT), *end = cli_flag(cli, FLAG_END);
    if ((at->set && !schedule_parse_instant(at->text, &job->due_ms)) ||
        (end->set && !schedule_parse_instant(end->text, &job->deadline_ms)))
        return error_set(err, PAWL_INVALID, "job", "a time looks like 2026-01-02T03:04:05Z");
    return PAWL_OK;
}

/* {"pipeline": …, "params": …} */
static pawl_status read_pipeline(struct cli *cli, struct job_new *job, pawl_error *err) {
    struct pipeline_input in = {0};
    pawl_str params = STR("{}");
    pawl_status status = pipeline_input_read(cli, cli_flag(cli, FLAG_PIPELINE)->text.ptr, true, &in, err);
    if (status == PAWL_OK)
        status = pipeline_input_params(cli, &params, err);
    if (status != PAWL_OK)
        return status;
    char *payload = arena_printf(cli->arena, "{\"pipeline\":%.*s,\"params\":%.*s}", STR_ARG(in.document),
                                 STR_ARG(params));
    if (payload == NULL)
        return error_set(err, PAWL_NO_MEMORY, "job", "out of memory");
    job->type = STR(PIPELINE_JOB_TYPE);
    job->payload = str_from(payload);
    return PAWL_OK;
}

/* What would be left unsaid otherwise: a word or flag that nothing looks at. */
static pawl_status check_words(struct cli *cli, pawl_error *err) {
    bool pipeline = cli_flag(cli, FLAG_PIPELINE)->set, task = cli_flag(cli, FLAG_TASK)->set;
    if (pipeline && (task || cli->arguments.word_count > 0))
        return error_set(err, PAWL_INVALID, "job", "give one of a type, --task and --pipeline");
    if (cli_flag(cli, FLAG_PARAMS)->set && !pipeline && !task)
        return error_set(err, PAWL_INVALID, "job",
                         "--params are those of --task or --pipeline; a job of a type has a payload");
    return PAWL_OK;
}

static pawl_status enqueue(struct cli *cli, pawl_error *err) {
    const struct flag_value *count = cli_flag(cli, FLAG_COUNT);
    int words = cli->arguments.word_count;
    struct job_new job = {.task = cli_flag(cli, FLAG_TASK)->text,
                          .type = str_from(words > 0 ? cli->arguments.words[0] : NULL),
                          .payload = str_from(words > 1 ? cli->arguments.words[1] : NULL),
                          .queue = cli_flag(cli, FLAG_QUEUE)->text,
                          .key = cli_flag(cli, FLAG_KEY)->text,
                          .unique_key = cli_flag(cli, FLAG_UNIQUE)->text,
                          .traceparent = cli_flag(cli, FLAG_TRACEPARENT)->text,
                          .priority = (int)cli_flag(cli, FLAG_PRIORITY)->number,
                          .timeout_ms = cli_flag(cli, FLAG_TIMEOUT)->number,
                          .flags = JOB_AUDIT | JOB_EVENTS};
    if (cli->arguments.options.values[OPTION_MAX_ATTEMPTS].source != OPTION_FROM_DEFAULT)
        job.max_attempts = (int)options_number(&cli->arguments.options, OPTION_MAX_ATTEMPTS);
    pawl_status status = check_words(cli, err);
    if (status == PAWL_OK)
        status = read_times(cli, &job, err);
    if (status == PAWL_OK && cli_flag(cli, FLAG_PIPELINE)->set)
        status = read_pipeline(cli, &job, err);
    else if (status == PAWL_OK && words > 1 && cli->arguments.words[1][0] == '@')
        status =
            input_read(cli->arena, cli->arguments.words[1] + 1, PAWL_PAYLOAD_BYTES_MAX, &job.payload, err);
    if (status == PAWL_OK && !str_absent(job.task))
        status = pipeline_input_params(cli, &job.payload, err);
    if (status == PAWL_OK)
        status = enqueue_check(cli->store, &(struct jobs_enqueue){.jobs = &job, .count = 1}, cli->arena, err);
    int64_t left = count->set ? count->number : 1;
    struct job_new *jobs =
        arena_array(cli->arena, left < PAWL_BATCH_DEFAULT ? (size_t)left : PAWL_BATCH_DEFAULT, sizeof(job));
    if (status == PAWL_OK && jobs == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "job", "out of memory");
    if (status != PAWL_OK)
        return status;
    struct putter putter = cli_putter(cli, cli->arena);
    struct request request = front_request(cli);
    output_list_begin(&cli->output, enqueued_columns, ENQUEUED_COLUMNS);
    while (left > 0 && status == PAWL_OK) {
        struct enqueue_result result = {0};
        struct jobs_enqueue in = {.jobs = jobs,
                                  .count = left < PAWL_BATCH_DEFAULT ? (size_t)left : PAWL_BATCH_DEFAULT};
        for (size_t i = 0; i < in.count; i++)
            jobs[i] = job;
        status = traced_enqueue(&putter, &in, &result, err);
        for (size_t i = 0; status == PAWL_OK && i < in.count; i++) {
            struct cell cells[ENQUEUED_COLUMNS];
            status = enqueue_refused(&request, job.task, result.answers[i], err);
            if (status != PAWL_OK)
                return status;
            enqueued_cells(result.ids[i], result.answers[i], cells);
            output_list_row(&cli->output, cells);
        }
        left -= (int64_t)in.count;
    }
    return status == PAWL_OK ? output_list_end(&cli->output, "nothing", err) : status;
}

typedef pawl_status (*id_operation)(struct store *store, const int64_t *ids, size_t count,
                                    struct arena *arena, struct job_answers *out, pawl_error *err);

static pawl_status redrive(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                           struct job_answers *out, pawl_error *err) {
    return store->ops->jobs->redrive(store, ids, count, false, arena, out, err);
}

static pawl_status discard_ids(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                               struct job_answers *out, pawl_error *err) {
    return store->ops->jobs->redrive(store, ids, count, true, arena, out, err);
}

/* What was done to which of them is kept, with the reason. */
static pawl_status note_ids(struct cli *cli, const int64_t *ids, const struct job_answers *answers,
                            pawl_error *err) {
    struct buf list;
    buf_init(&list, 0);
    for (size_t i = 0; i < answers->count; i++) {
        if (answers->answers[i] == ANSWER_APPLIED)
            buf_printf(&list, "%s%" PRId64, list.len > 0 ? ", " : "", ids[i]);
    }
    pawl_status status = buf_status(&list, "job", err);
    if (status == PAWL_OK && list.len > 0)
        status = audit_note_reason(cli, cli->arguments.command->path, list.ptr, err);
    buf_free(&list);
    return status;
}

static pawl_status on_ids(struct cli *cli, id_operation operation, const char *done, pawl_error *err) {
    struct job_answers answers = {0};
    size_t count = (size_t)cli->arguments.word_count;
    int64_t *ids = arena_array(cli->arena, count, sizeof(*ids));
    pawl_status status = ids != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "job", "out of memory");
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = cli_job_id(cli->arguments.words[i], &ids[i], err);
    if (status == PAWL_OK)
        status = operation(cli->store, ids, count, cli->arena, &answers, err);
    if (status == PAWL_OK)
        status = note_ids(cli, ids, &answers, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, enqueued_columns, ENQUEUED_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        enum store_answer answer = answers.answers[i];
        struct cell cells[] = {cell_int(ids[i]),
                               cell_cstr(answer == ANSWER_APPLIED    ? done
                                         : answer == ANSWER_CONFLICT ? "its unique key is taken"
                                                                     : "not found")};
        output_list_row(&cli->output, cells);
        if (answer != ANSWER_APPLIED)
            cli->exit_code = error_exit_code(answer == ANSWER_CONFLICT ? PAWL_CONFLICT : PAWL_NOT_FOUND);
    }
    return output_list_end(&cli->output, "nothing", err);
}

static pawl_status cancel(struct cli *cli, pawl_error *err) {
    return on_ids(cli, cli->store->ops->jobs->cancel, "cancelled", err);
}
static pawl_status retry(struct cli *cli, pawl_error *err) { return on_ids(cli, redrive, "ready", err); }
static pawl_status discard(struct cli *cli, pawl_error *err) {
    return on_ids(cli, discard_ids, "discarded", err);
}

static const struct command commands[] = {
    {COMMAND("job enqueue", "Enqueue a job: of a type, of a task, or a pipeline"),
     .arguments = "[TYPE [PAYLOAD|@FILE]]",
     .flags = FLAG(TASK) | FLAG(PIPELINE) | FLAG(PARAMS) | FLAG(QUEUE) | FLAG(KEY) | FLAG(UNIQUE) |
              FLAG(PRIORITY) | FLAG(AT) | FLAG(END) | FLAG(TIMEOUT) | FLAG(COUNT) | FLAG(TRACEPARENT),
     .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV) | OPTION(MAX_ATTEMPTS),
     .database = DATABASE_MAKE, .writes = true,
     .details = "A type is handled by a worker's --on. A pipeline is checked here, before anything is "
                "stored, and again when it runs. If an unfinished job holds the unique key, its id is "
                "returned instead of a new one.",
     .example = "pawl job enqueue report.make '{\"day\":1}' --unique report-1\n"
                "pawl job enqueue --pipeline report.yaml --params '{\"day\":1}' --tools tools.json\n"
                "pawl job enqueue --task nightly",
     .run = enqueue},
    {COMMAND("job list", "List jobs"), .alias = "job",
     .flags = FLAG(JOB_STATE) | FLAG(QUEUE) | FLAG(TASK) | FLAG(TYPE) | FLAG(KEY) | FLAG(LIMIT) | FLAG(AFTER),
     .details = "Completed jobs are not listed; pawl audit list shows what they did.", .run = list},
    {COMMAND("job show", "Show one job"), .arguments = "ID", .operation = op_job_show},
    {COMMAND("job steps", "Show the steps of a job that are recorded"), .arguments = "ID",
     .details = "A completed step does not run again when the job is retried.",
     .empty = "no steps are recorded", .operation = op_job_steps},
    {COMMAND("job cancel", "Cancel jobs, also while they run"), .arguments = "ID...", .flags = FLAG(REASON),
     .writes = true,
     .details = "A running job is told within about two seconds; what it has done by then stays done.",
     .run = cancel},
    {COMMAND("job retry", "Redrive dead jobs: give them another round of attempts"), .arguments = "ID...",
     .flags = FLAG(REASON), .writes = true, .run = retry},
    {COMMAND("job discard", "Discard dead jobs"), .arguments = "ID...", .flags = FLAG(REASON), .writes = true,
     .run = discard},
    {COMMAND("job wake", "Signal an event to the jobs that wait for it"), .arguments = "EVENT [PAYLOAD]",
     .writes = true,
     .details = "The payload becomes the output of the waiting step. A signal that no job waits for yet is "
                "kept for a day.",
     .operation = op_job_wake},
};

const struct command_table job_commands = COMMAND_TABLE(commands);
