/* The table of all options: names, variables, defaults, ranges and help texts. */
#include "base/limits.h"
#include "base/options/options.h"

#define DAY_MS 86400000

/* A row by type, in braces, so that rare members can be added by name. */
#define ROW(key, variable, text_of_default, text)                                                            \
    .name = (key), .environment = (variable), .fallback = (text_of_default), .help = (text)
#define TEXT(key, variable, standard, text) ROW(key, variable, standard, text), .type = OPTION_STRING
#define SWITCH(key, variable, standard, text) ROW(key, variable, standard, text), .type = OPTION_BOOL
#define CHOICE(key, variable, standard, words, text)                                                         \
    ROW(key, variable, standard, text), .type = OPTION_CHOICE, .choices = (words)
#define RANGE(least, most) .min = (least), .max = (most)
#define INT(key, variable, standard, least, most, text)                                                      \
    ROW(key, variable, standard, text), .type = OPTION_INT, RANGE(least, most)
#define DURATION(key, variable, standard, least, most, text)                                                 \
    ROW(key, variable, standard, text), .type = OPTION_DURATION, RANGE(least, most)
#define SIZE(key, variable, standard, least, most, text)                                                     \
    ROW(key, variable, standard, text), .type = OPTION_SIZE, RANGE(least, most)

const struct option_row option_rows[OPTION_COUNT] = {
    [OPTION_CONFIG] = {TEXT("config", "PAWL_CONFIG", NULL,
                            "Read options from this file (INI: name = value)."),
                       .flag_only = true},
    [OPTION_DATABASE_URL] = {TEXT("database_url", "DATABASE_URL", "pawl.db",
                                  "Where the work lives: postgres://…, or the path of an SQLite file."),
                             .alias = "PAWL_DATABASE_URL"},
    [OPTION_SCHEMA] = {TEXT("schema", "PAWL_SCHEMA", "pawl", "PostgreSQL schema of this service.")},
    [OPTION_SERVICE] = {TEXT("service", "PAWL_SERVICE", "pawl",
                             "Name of the service that this process belongs to.")},
    [OPTION_WORKER_ID] = {TEXT("worker_id", "PAWL_WORKER_ID", NULL,
                               "The worker's id; by default a new one is generated at each start."),
                          .alias = "WORKER_ID"},
    [OPTION_METADATA] = {TEXT("metadata", "PAWL_METADATA", NULL,
                              "JSON object kept with the instance; another version in it is a deploy.")},
    [OPTION_OUTPUT] = {CHOICE("output", "PAWL_OUTPUT", "auto", "auto|table|wide|json|ndjson",
                              "How results are printed; auto is a table on a terminal, JSON elsewhere."),
                       .letter = 'o'},
    [OPTION_LEASE] = {DURATION("lease", "PAWL_LEASE", "5m", PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX,
                               "How long a claimed message or checkpoint stays with one worker.")},
    [OPTION_JOB_LEASE] = {DURATION("job_lease", "PAWL_JOB_LEASE", "60s", PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX,
                                   "How long a claimed job or page stays with one worker."),
                          .alias = "WORKER_LEASE_SECONDS"},
    [OPTION_HEARTBEAT] = {.name = "heartbeat",
                          .environment = "PAWL_HEARTBEAT",
                          .alias = "WORKER_HEARTBEAT_INTERVAL",
                          .type = OPTION_DURATION,
                          .fallback = "5s",
                          .min = PAWL_HEARTBEAT_MS_MIN,
                          .max = PAWL_LEASE_MS_MAX / 3, /* an instance lease lasts three */
                          .help = "How often a worker sends a heartbeat."},
    [OPTION_INSTANCE_LEASE] = {DURATION("instance_lease", "PAWL_INSTANCE_LEASE", "15s", PAWL_LEASE_MS_MIN,
                                        PAWL_LEASE_MS_MAX,
                                        "A worker that is silent for longer loses its lanes; at least twice "
                                        "the heartbeat, three times by default.")},
    [OPTION_STALE] = {DURATION("stale", "PAWL_STALE", "10m", PAWL_LEASE_MS_MIN, PAWL_STALE_MS_MAX,
                               "A worker that is silent for longer is removed from the list.")},
    [OPTION_POLL] = {DURATION("poll", "PAWL_POLL", "1s", PAWL_POLL_MS_MIN, PAWL_TIMEOUT_MS_MAX,
                              "How often a worker polls when nothing wakes it.")},
    [OPTION_IDLE_POLLS] = {INT("idle_polls", "PAWL_IDLE_POLLS", "2", 1, 1000000,
                               "Consecutive empty polls after which a worker counts as idle.")},
    [OPTION_BATCH] = {INT("batch", "PAWL_BATCH", "500", 1, PAWL_BATCH_MAX, "Most messages in one claim.")},
    [OPTION_PERSPECTIVE_BATCH] = {INT(
        "perspective_batch", "PAWL_PERSPECTIVE_BATCH", "100", 1, PAWL_BATCH_MAX,
        "Most events applied to a perspective in one transaction, where its file has no batch.")},
    [OPTION_CONCURRENCY] = {INT("concurrency", "PAWL_CONCURRENCY", "8", 1, 1024,
                                "Handlers that run at the same time in one worker."),
                            .alias = "WORKER_MAX_LEASES"},
    [OPTION_WEIGHTS] = {TEXT(
        "weights", "PAWL_WEIGHTS", "messages=1,jobs=1,perspectives=1",
        "How messages, jobs and perspectives share the slots of --concurrency while several have work; "
        "each from 1 to 100.")},
    [OPTION_MAX_PARTITIONS] = {INT("max_partitions", "PAWL_MAX_PARTITIONS", "0", 0, PAWL_PARTITIONS_MAX,
                                   "Most partitions one worker owns; 0 means no limit.")},
    [OPTION_PARTITIONS] = {INT("partitions", "PAWL_PARTITIONS", "10000", 1, PAWL_PARTITIONS_MAX,
                               "Number of partitions; fixed when the schema is made.")},
    [OPTION_LANES] = {INT("lanes", "PAWL_LANES", "64", 1, PAWL_LANES_MAX,
                          "Number of lanes; fixed when the schema is made.")},
    [OPTION_MAX_ATTEMPTS] = {INT(
        "max_attempts", "PAWL_MAX_ATTEMPTS", "5", 1, PAWL_ATTEMPTS_MAX,
        "Attempts before a message becomes a dead letter; a job gets 25 by default.")},
    [OPTION_RETRY_BASE] = {DURATION("retry_base", "PAWL_RETRY_BASE", "1s", 1, PAWL_RETRY_MS_MAX,
                                    "Delay after the first failed attempt; doubled after each further one."),
                           .alias = "WORKER_BACKOFF_BASE_DELAY"},
    [OPTION_RETRY_MAX] = {DURATION("retry_max", "PAWL_RETRY_MAX", "60s", 1, PAWL_RETRY_MS_MAX,
                                   "Longest delay between attempts."),
                          .alias = "WORKER_BACKOFF_MAX_DELAY"},
    [OPTION_RETRY_JITTER] = {SWITCH(
                                 "retry_jitter", "PAWL_RETRY_JITTER", "true",
                                 "Wait 50 to 100 % of the delay, so that retries do not arrive all at once."),
                             .alias = "WORKER_BACKOFF_JITTER"},
    [OPTION_PROCESSING_TIMEOUT] = {DURATION("processing_timeout", "PAWL_PROCESSING_TIMEOUT", "1h", 1, DAY_MS,
                                            "A handler that runs longer is killed and the attempt fails."),
                                   .alias = "WORKER_MAX_PROCESSING_TIME"},
    [OPTION_CLEANUP_INTERVAL] = {DURATION("cleanup_interval", "PAWL_CLEANUP_INTERVAL", "5m", 1000, DAY_MS,
                                          "How often old rows are removed."),
                                 .alias = "WORKER_CLEANUP_INTERVAL"},
    [OPTION_DEDUPE_WINDOW] = {DURATION("dedupe_window", "PAWL_DEDUPE_WINDOW", "7d", 1000, PAWL_DEDUPE_MS_MAX,
                                       "How long an inbox remembers ids for deduplication.")},
    [OPTION_HISTORY] = {DURATION("history", "PAWL_HISTORY", "0", 0, PAWL_HISTORY_MS_MAX,
                                 "How long completed work is kept; 0 keeps none.")},
    [OPTION_STATEMENT_TIMEOUT] = {DURATION("statement_timeout", "PAWL_STATEMENT_TIMEOUT", "30s", 100,
                                           PAWL_TIMEOUT_MS_MAX,
                                           "Longest wait for one statement of the database.")},
    [OPTION_CONNECT_TIMEOUT] = {DURATION("connect_timeout", "PAWL_CONNECT_TIMEOUT", "10s", 100,
                                         PAWL_TIMEOUT_MS_MAX,
                                         "Longest wait for a connection to the database.")},
    [OPTION_PAYLOAD_LIMIT] = {SIZE("payload_limit", "PAWL_PAYLOAD_LIMIT", "256KiB", 1, PAWL_PAYLOAD_BYTES_MAX,
                                   "Largest payload of one message.")},
    [OPTION_DURABILITY] = {CHOICE(
        "durability", "PAWL_DURABILITY", "full", "full|normal",
        "SQLite: full survives power loss; normal may lose the last commits then.")},
    [OPTION_DEBUG] = {SWITCH("debug", "PAWL_DEBUG", "false", "Keep completed work, with its payload.")},
    [OPTION_LOG_LEVEL] = {CHOICE("log_level", "PAWL_LOG_LEVEL", "info", "debug|info|warn|error|off",
                                 "The lowest level that is logged."),
                          .alias = "WORKER_LOG_LEVEL"},
    [OPTION_TOOLS] = {TEXT("tools", "PAWL_TOOLS", NULL,
                           "File that defines the tools for pipelines (docs/tools.md).")},
    [OPTION_TOOLS_TIMEOUT] = {DURATION(
        "tools_timeout", "PAWL_TOOLS_TIMEOUT", "10s", 100, PAWL_TOOLS_TIMEOUT_MS_MAX,
        "Time limit for the MCP servers of a pipeline, asked in parallel, to list their tools.")},
    [OPTION_PIPELINE_ENV] = {TEXT("pipeline_env", "PAWL_PIPELINE_ENV", NULL,
                                  "Variables that ${env.NAME} of pipelines may use, separated by commas.")},
    [OPTION_ALERT_INTERVAL] = {DURATION(
        "alert_interval", "PAWL_ALERT_INTERVAL", "60s", 0, PAWL_ALERT_INTERVAL_MS_MAX,
        "How often alert rules are evaluated, by one process at a time; 0: not by this one.")},
    [OPTION_ALERT_TARGETS] = {TEXT("alert_targets", "PAWL_ALERT_TARGETS", NULL,
                                   "File that defines alert targets by name (docs/alerts.md).")},
    [OPTION_SERVE] = {SWITCH("serve", "PAWL_SERVE", "true",
                             "pawl up also runs the server; --serve=false leaves it out.")},
    [OPTION_LISTEN] = {TEXT("listen", "PAWL_LISTEN", "127.0.0.1:7295",
                            "Where pawl server listens; port 0 takes any free one.")},
    [OPTION_TOKEN_FILE] = {TEXT("token_file", "PAWL_TOKEN_FILE", NULL,
                                "File with the tokens of pawl server; created with mode 0600 if missing.")},
    [OPTION_TLS_CERT] = {TEXT("tls_cert", "PAWL_TLS_CERT", NULL,
                              "Certificate of pawl server (PEM); with --tls-key it speaks HTTPS.")},
    [OPTION_TLS_KEY] = {TEXT("tls_key", "PAWL_TLS_KEY", NULL, "Key of the certificate (PEM).")},
    [OPTION_PUBLIC_URL] = {TEXT(
        "public_url", "PAWL_PUBLIC_URL", NULL,
        "Public URL of the proxy in front of pawl server, such as https://pawl.example.org.")},
    [OPTION_REDACT] = {TEXT("redact", "PAWL_REDACT", NULL,
                            "Payload fields that pawl server hides, separated by commas; * hides all.")},
    [OPTION_LEASE_API] = {SWITCH("lease_api", "PAWL_LEASE_API", "false",
                                 "Let workers claim and report over HTTP, with the worker's token.")},
    [OPTION_HELP] = {SWITCH("help", NULL, "false", "Show help."), .letter = 'h', .flag_only = true},
    [OPTION_VERSION] = {SWITCH("version", NULL, "false", "Show the version."), .flag_only = true},
};
