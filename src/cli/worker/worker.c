/* pawl worker: claims messages and hands them to handlers until it is stopped. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "cli/commands.h"
#include "cli/database.h"
#include "cli/worker/worker_setup.h"
#include "process/notify.h"

struct worker_run {
    pawl_worker *worker;
    struct notify notify;
};

static void print_log(void *self, int level, const char *line) {
    (void)self;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

/* Ready is a worker that is registered; one that waits for its database is not. */
static void tell_manager(void *self, const pawl_metrics *metrics) {
    struct worker_run *job = self;
    bool works = strcmp(metrics->state, "READY") == 0 || strcmp(metrics->state, "PROCESSING") == 0;
    if (works || job->notify.said_ready)
        notify_alive(&job->notify, clock_boot_ms());
    if (strcmp(metrics->state, "STOPPING") == 0)
        notify_stopping(&job->notify);
}

static void stop_when_idle(void *self) {
    struct worker_run *job = self;
    pawl_worker_stop(job->worker);
}

/* A database that cannot be reached now, or not by a worker, is an error now, unless waiting was asked for.
 */
static pawl_status check_database(struct cli *cli, pawl_error *err) {
    if (cli_value(cli, "wait").present)
        return PAWL_OK;
    pawl_status status = database_open(cli, err);
    if (status == PAWL_UNAVAILABLE)
        cli->hint = "Check --database-url; with --wait the worker waits for the database.";
    /* Only a worker may make this call, and for an unknown id it does nothing. A login without the right is
     * told now instead of with every try to register; anything else is the worker's own business. */
    if (status == PAWL_OK && cli->store->ops->core.wait_end(cli->store, uuid_nil(), err) == PAWL_CONFLICT)
        status = PAWL_CONFLICT;
    store_close(cli->store);
    cli->store = NULL;
    return status;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct worker_run job = {.notify = notify_from_environment()};
    pawl_worker_config config;
    pawl_status status = worker_setup_config(cli, &config, err);
    if (status != PAWL_OK)
        return status;
    if (!worker_setup_has_work(cli, &config))
        return error_set(err, PAWL_INVALID, "worker",
                         "the worker has no handler: add --on 'order.*=exec:./handle.sh', --handlers FILE, "
                         "--tools FILE or "
                         "--transports FILE");
    config.on_log = print_log;
    config.on_idle = cli_value(cli, "until_idle").present ? stop_when_idle : NULL;
    config.on_tick = job.notify.on ? tell_manager : NULL;
    config.self = &job;
    status = worker_setup(cli, &config, &job.worker, err);
    if (status == PAWL_OK)
        status = check_database(cli, err);
    if (status == PAWL_OK)
        status = worker_setup_run(cli, job.worker, err);
    notify_stopping(&job.notify); /* a drain may be too short for a tick */
    pawl_worker_free(job.worker);
    return status;
}

static const struct field fields[] = {
    WORKER_FIELDS,
    {BOOL_FIELD(IN_TERMINAL, "wait",
                "Wait for the database instead of failing when it cannot be "
                "reached.")}};

static const struct operation commands[] = {
    {OPERATION("worker", "Claim messages and jobs and pass them to handlers until stopped"), FIELDS(fields),
     .options = WORKER_OPTIONS, .database = DATABASE_NONE, .changes = CHANGES_WORK,
     .details = "A handler is a program: it gets the message as one JSON object on standard input, and id, "
                "attempt, token, stream, type and idempotency key in its environment (PAWL_ID, PAWL_ATTEMPT, "
                "…). Exit code 0: done. 75: try again. 65, 78 and the other permanent codes of sysexits.h: a "
                "dead letter. Anything else, or a signal: try again. Its standard error is kept as the "
                "reason. Messages of one stream are handled one by one, in order; the first pattern that "
                "matches the type wins. A name before the pattern makes receptors, of which several get the "
                "same inbox message; with event: before the pattern they get appended events; https://… "
                "instead of exec: is an endpoint (docs/receptors.md).\n"
                "\n"
                "SIGTERM, SIGINT and SIGHUP drain: nothing new is claimed, what runs may end until --drain "
                "is over, the rest is given back. A second signal stops at once. The exit code is 75 when "
                "work was given back unfinished.\n"
                "\n"
                "A handlers file has a section per pattern:\n"
                "\n"
                "    [order.*]\n"
                "    exec = ./handle.sh --fast\n"
                "    timeout = 30s\n"
                "    concurrency = 4\n"
                "    retry-base = 1s\n"
                "    retry-max = 60s\n"
                "    max-attempts = 5\n"
                "    on-dead = skip\n"
                "\n"
                "    [mail@event:Order*]\n"
                "    exec = ./mail.sh\n"
                "    from = start",
     .example =
         "pawl worker --on 'order.*=exec:./handle.sh' --on '*=exec:./other.sh'\n"
         "pawl worker --on 'ledger@order.*=exec:./book.sh' --on 'mail@order.*=https://mail.example/hook'\n"
         "pawl worker --on 'mail@event:OrderPaid=exec:./mail.sh'\n"
         "pawl worker --handlers handlers.ini --concurrency 16",
     .terminal = run},
};

const struct operation_table worker_commands = OPERATION_TABLE(commands);
