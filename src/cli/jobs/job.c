/* pawl job enqueue: a job of a type, of a task, or of a pipeline in a file. */
#include "base/error.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/jobs/pipeline_input.h"
#include "operations/jobs.h"
#include "work/pipeline/run.h"
#include "work/schedule_duty.h"

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
    struct request request = front_request(cli);
    struct job_new job = job_from(&request);
    if (cli->arguments.options.values[OPTION_MAX_ATTEMPTS].source != OPTION_FROM_DEFAULT)
        job.max_attempts = (int)options_number(&cli->arguments.options, OPTION_MAX_ATTEMPTS);
    pawl_status status = check_words(cli, err);
    if (status == PAWL_OK)
        status = read_times(cli, &job, err);
    if (status == PAWL_OK && cli_flag(cli, FLAG_PIPELINE)->set)
        status = read_pipeline(cli, &job, err);
    else if (status == PAWL_OK)
        status = request_content(&request, "payload", false, &job.payload, err);
    if (status == PAWL_OK && !str_absent(job.task))
        status = pipeline_input_params(cli, &job.payload, err);
    if (status == PAWL_OK)
        status = enqueue_jobs(&request, &job, count->set ? count->number : 1, err);
    return status == PAWL_OK ? output_list_end(&cli->output, "nothing", err) : status;
}

static const struct operation commands[] = {
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
     .terminal = enqueue},
};

const struct operation_table job_commands = OPERATION_TABLE(commands);
