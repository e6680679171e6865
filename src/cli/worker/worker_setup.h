/* Configuring a worker from the command line, for pawl worker and pawl up. */
#ifndef CLI_WORKER_WORKER_SETUP_H
#define CLI_WORKER_WORKER_SETUP_H

#include "cli/cli.h"

/* Fields and options that both commands take. */
#define WORKER_FIELDS                                                                                        \
    {TEXT_FIELD(IN_TERMINAL, "on", 0,                                                                        \
                "Hand messages whose type matches the pattern (* and ?, any letter case) to a program: "     \
                "exec:COMMAND starts it for each, pipe:COMMAND keeps it (docs/handlers.md). May be given "   \
                "more than once, the first match wins."),                                                    \
     .many = true, .value = "PATTERN=exec:COMMAND"},                                                         \
        {TEXT_FIELD(IN_TERMINAL, "handlers", 0, "Read handlers from this file."), .file = true},             \
        {TEXT_FIELD(                                                                                         \
             IN_TERMINAL, "transports", 0,                                                                   \
             "Broker settings: what is published and subscribed to, and where (docs/transports.md)."),       \
         .file = true},                                                                                      \
        {TEXT_FIELD(IN_TERMINAL, "kinds", 0,                                                                 \
                    "What to work on: outbox, inbox, jobs, perspectives. Default: all but perspectives."),   \
         .value = "KIND[,KIND]"},                                                                            \
        {DURATION_FIELD(IN_TERMINAL, "drain_ms", 1, PAWL_LEASE_MS_MAX,                                       \
                        "How long to wait for running handlers when stopping. Default: 25s.")},              \
        {BOOL_FIELD(IN_TERMINAL, "instant",                                                                  \
                    "Report every result immediately instead of with the next batch.")},                     \
        {BOOL_FIELD(                                                                                         \
            IN_TERMINAL, "until_idle",                                                                       \
            "Stop when no due work is left, here or with other workers; work that waits for a retry "        \
            "stays, and is reported.")},                                                                     \
        {TEXT_FIELD(IN_TERMINAL, "queue", 0, "The queue; \"default\" if not given.")}, {                     \
        BOOL_FIELD(IN_TERMINAL, "perspectives_outside",                                                      \
                   "Also run perspectives that are programs or endpoints: the database says which.")         \
    }
#define WORKER_OPTIONS                                                                                       \
    (OPTION(SERVICE) | OPTION(WORKER_ID) | OPTION(METADATA) | OPTION(LEASE) | OPTION(HEARTBEAT) |            \
     OPTION(INSTANCE_LEASE) | OPTION(POLL) | OPTION(IDLE_POLLS) | OPTION(BATCH) | OPTION(CONCURRENCY) |      \
     OPTION(WEIGHTS) | OPTION(MAX_PARTITIONS) | OPTION(MAX_ATTEMPTS) | OPTION(RETRY_BASE) |                  \
     OPTION(RETRY_MAX) | OPTION(RETRY_JITTER) | OPTION(CLEANUP_INTERVAL) | OPTION(PROCESSING_TIMEOUT) |      \
     OPTION(DURABILITY) | OPTION(DEBUG) | OPTION(LOG_LEVEL) | OPTION(JOB_LEASE) | OPTION(TOOLS) |            \
     OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV) | OPTION(ALERT_INTERVAL) | OPTION(ALERT_TARGETS))

enum { WORKER_EXIT_FORCED = 75 };

/* What the options say; the caller may add callbacks. PAWL_INVALID for kinds that do not exist. */
PAWL_MUSTCHECK pawl_status worker_setup_config(struct cli *cli, pawl_worker_config *config, pawl_error *err);

/* Whether the command line names anything that the worker could do. */
bool worker_setup_has_work(struct cli *cli, const pawl_worker_config *config);

/* The worker with its handlers. *worker is freed by the caller. */
PAWL_MUSTCHECK pawl_status worker_setup(struct cli *cli, const pawl_worker_config *config,
                                        pawl_worker **worker, pawl_error *err);

/* Runs it to its end and sets the exit code. */
PAWL_MUSTCHECK pawl_status worker_setup_run(struct cli *cli, pawl_worker *worker, pawl_error *err);

#endif
