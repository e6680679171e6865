/* Configuring a worker from the command line, for pawl worker and pawl up. */
#ifndef CLI_WORKER_WORKER_SETUP_H
#define CLI_WORKER_WORKER_SETUP_H

#include "cli/cli.h"

/* Flags and options that both commands take. */
#define WORKER_FLAGS                                                                                         \
    (FLAG(ON) | FLAG(HANDLERS) | FLAG(TRANSPORTS) | FLAG(KINDS) | FLAG(DRAIN) | FLAG(INSTANT) |              \
     FLAG(UNTIL_IDLE) | FLAG(QUEUE) | FLAG(PERSPECTIVES_OUTSIDE))
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
