/* A worker made from the command line; shared by pawl worker and pawl up. */
#ifndef CLI_WORKER_WORKER_SETUP_H
#define CLI_WORKER_WORKER_SETUP_H

#include "cli/cli.h"

/* Flags and options that both commands take. */
#define WORKER_FLAGS                                                                                         \
    (FLAG_BIT(FLAG_ON) | FLAG_BIT(FLAG_HANDLERS) | FLAG_BIT(FLAG_TRANSPORTS) | FLAG_BIT(FLAG_KINDS) |        \
     FLAG_BIT(FLAG_DRAIN) | FLAG_BIT(FLAG_INSTANT) | FLAG_BIT(FLAG_UNTIL_IDLE) | FLAG_BIT(FLAG_QUEUE) |      \
     FLAG_BIT(FLAG_PERSPECTIVES_OUTSIDE))
#define WORKER_OPTIONS                                                                                       \
    (OPTION_BIT(OPTION_SERVICE) | OPTION_BIT(OPTION_WORKER_ID) | OPTION_BIT(OPTION_METADATA) |               \
     OPTION_BIT(OPTION_LEASE) | OPTION_BIT(OPTION_HEARTBEAT) | OPTION_BIT(OPTION_INSTANCE_LEASE) |           \
     OPTION_BIT(OPTION_POLL) | OPTION_BIT(OPTION_IDLE_POLLS) | OPTION_BIT(OPTION_BATCH) |                    \
     OPTION_BIT(OPTION_CONCURRENCY) | OPTION_BIT(OPTION_MAX_PARTITIONS) | OPTION_BIT(OPTION_MAX_ATTEMPTS) |  \
     OPTION_BIT(OPTION_RETRY_BASE) | OPTION_BIT(OPTION_RETRY_MAX) | OPTION_BIT(OPTION_RETRY_JITTER) |        \
     OPTION_BIT(OPTION_CLEANUP_INTERVAL) | OPTION_BIT(OPTION_PROCESSING_TIMEOUT) |                           \
     OPTION_BIT(OPTION_DURABILITY) | OPTION_BIT(OPTION_DEBUG) | OPTION_BIT(OPTION_LOG_LEVEL) |               \
     OPTION_BIT(OPTION_JOB_LEASE) | OPTION_BIT(OPTION_TOOLS) | OPTION_BIT(OPTION_TOOLS_TIMEOUT) |            \
     OPTION_BIT(OPTION_PIPELINE_ENV) | OPTION_BIT(OPTION_ALERT_INTERVAL) | OPTION_BIT(OPTION_ALERT_TARGETS))

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
