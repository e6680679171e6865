/* pawl task: create a task from files; pause, resume and delete it with its schedules. */
#include "base/error.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/jobs/pipeline_input.h"
#include "operations/tasks.h"

static pawl_status create(struct cli *cli, pawl_error *err) {
    struct pipeline_input in = {0};
    struct job_schedule schedule = {0};
    const struct flag_value *file = cli_flag(cli, FLAG_PIPELINE);
    bool scheduled = false;
    if (!file->set)
        return error_set(err, PAWL_INVALID, "task", "a task needs --pipeline FILE");
    struct request request = front_request(cli);
    struct task task = task_from(&request);
    if (cli->arguments.options.values[OPTION_MAX_ATTEMPTS].source != OPTION_FROM_DEFAULT)
        task.max_attempts = (int)options_number(&cli->arguments.options, OPTION_MAX_ATTEMPTS);
    pawl_status status = schedule_given(&request, &schedule, &scheduled, err);
    if (status == PAWL_OK)
        status = pipeline_input_read(cli, file->text.ptr, scheduled, &in, err);
    if (status == PAWL_OK)
        status = pipeline_input_params(cli, &task.params, err);
    if (status != PAWL_OK)
        return status;
    task.scopes = in.scopes;
    schedule.name = task.name;
    schedule.task = task.name;
    status = task_store(&request, &task, in.document, err);
    if (status == PAWL_OK && scheduled)
        status = schedule_store(&request, &schedule, err);
    /* As the store has it, with its version. */
    return status == PAWL_OK ? task_show(&request, err) : status;
}

/* The task that is named, and its schedules. */
static pawl_status find_with_schedules(struct cli *cli, struct task *task,
                                       struct job_schedule_list *schedules, pawl_error *err) {
    struct request request = front_request(cli);
    pawl_status status = task_find(&request, str_from(cli->arguments.words[0]), task, err);
    if (status != PAWL_OK)
        return status;
    struct schedule_filter filter = {.task = task->name, .limit = PAWL_LIST_MAX};
    return cli->store->ops->jobs->schedules(cli->store, &filter, cli->arena, schedules, err);
}

/* Its schedules stop or go on; a schedule that goes on does not make up for the pause. */
static pawl_status set_paused(struct cli *cli, bool paused, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "schedule")}, {COLUMN(BOOL, "paused")}};
    struct task task;
    struct job_schedule_list found = {0};
    struct request request = front_request(cli);
    pawl_status status = find_with_schedules(cli, &task, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, columns, 2);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++) {
        found.schedules[i].paused = paused;
        status = schedule_store(&request, &found.schedules[i], err);
        struct cell cells[] = {cell_text(found.schedules[i].name), cell_bool(paused)};
        if (status == PAWL_OK)
            output_list_row(&cli->output, cells);
    }
    return status == PAWL_OK ? output_list_end(&cli->output, "the task has no schedule", err) : status;
}

static pawl_status pause_task(struct cli *cli, pawl_error *err) { return set_paused(cli, true, err); }
static pawl_status resume(struct cli *cli, pawl_error *err) { return set_paused(cli, false, err); }

static pawl_status delete_task(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "name")}, {COLUMN(TEXT, "state")}};
    struct task task;
    struct job_schedule_list found = {0};
    pawl_status status = find_with_schedules(cli, &task, &found, err);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        status = cli->store->ops->jobs->schedule_remove(cli->store, found.schedules[i].name, err);
    if (status == PAWL_OK)
        status = cli->store->ops->jobs->task_remove(cli->store, task.name, err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_text(task.name), cell_cstr("deleted")};
    return output_record(&cli->output, columns, 2, cells, err);
}

#define NAME_ONLY .arguments = "NAME"

static const struct operation create_rows[] = {
    {COMMAND("task create", "Create a task, or a new version of one: a pipeline, and when it runs"),
     NAME_ONLY,
     .flags = FLAG(PIPELINE) | FLAG(PARAMS) | FLAG(AGENT) | FLAG(QUEUE) | FLAG(KEY) | FLAG(PRIORITY) |
              FLAG(TIMEOUT) | SCHEDULE_FLAGS,
     .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV) | OPTION(MAX_ATTEMPTS),
     .database = DATABASE_MAKE, .writes = true,
     .details =
         "With --cron, --every or --at it gets a schedule of the same name. A task of an agent may use only "
         "tools whose scopes the agent has: that is checked here, when a job is enqueued, and when it runs.",
     .example = "pawl task create nightly --pipeline report.yaml --cron '0 3 * * *' --zone Europe/Berlin "
                "--tools tools.json",
     .terminal = create},
};

static const struct operation schedule_rows[] = {
    {COMMAND("task pause", "Pause the schedules of a task"), NAME_ONLY, .writes = true,
     .details = "Existing jobs continue.", .terminal = pause_task},
    {COMMAND("task resume", "Resume the schedules of a task"), NAME_ONLY, .writes = true,
     .details = "Runs that fell into the pause are not made up for.", .terminal = resume},
    {COMMAND("task delete", "Delete a task with its schedules"), NAME_ONLY, .writes = true,
     .details = "What its jobs did stays in the audit.", .terminal = delete_task},
};

const struct operation_table task_create_commands = OPERATION_TABLE(create_rows);
const struct operation_table task_schedule_commands = OPERATION_TABLE(schedule_rows);
