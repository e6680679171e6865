/* The public API of libpawl: durable work coordination on SQLite and PostgreSQL. */
#ifndef PAWL_H
#define PAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; within one major number (from 1 on) what compiled still compiles and runs. */
#define PAWL_VERSION "0.1.0"
#define PAWL_VERSION_MAJOR 0
#define PAWL_VERSION_MINOR 1
#define PAWL_VERSION_PATCH 0
#define PAWL_VERSION_NUMBER (PAWL_VERSION_MAJOR * 1000000 + PAWL_VERSION_MINOR * 1000 + PAWL_VERSION_PATCH)

#define PAWL_API __attribute__((visibility("default")))
#define PAWL_MUSTCHECK __attribute__((warn_unused_result))

/* The outcome of a call, by what the caller can do about it. */
typedef enum pawl_status {
    PAWL_OK = 0,
    PAWL_INVALID,     /* the input is wrong: correct it */
    PAWL_NOT_FOUND,   /* it does not exist */
    PAWL_CONFLICT,    /* not possible in the current state: look, then decide */
    PAWL_STALE,       /* the grant has ended (old token, evicted instance): drop it */
    PAWL_BUSY,        /* held by another worker or session: try again later */
    PAWL_UNAVAILABLE, /* nothing happened: safe to try again */
    PAWL_UNKNOWN,     /* it may have happened: resolve with the same request key */
    PAWL_NO_MEMORY,   /* PostgreSQL: a write may have happened, as after PAWL_UNKNOWN */
    PAWL_DAMAGED,     /* the database is damaged, or was replaced while in use: stop and investigate */
    PAWL_INTERNAL
} pawl_status;

/* Why a call failed; owned by the caller, written only if the status is not PAWL_OK. */
typedef struct pawl_error {
    pawl_status status;
    char op[48];
    char text[512];
} pawl_error;

/* The name of a status, for messages; never NULL. */
PAWL_API const char *pawl_status_name(pawl_status status);

/* The version of the library that is running: "0.1.0", and its PAWL_VERSION_NUMBER. */
PAWL_API const char *pawl_version(void);
PAWL_API int pawl_version_number(void);

typedef struct pawl_uuid {
    uint8_t b[16];
} pawl_uuid;

/* Borrowed text with its length; ptr NULL means absent. */
typedef struct pawl_str {
    const char *ptr;
    size_t len;
} pawl_str;

/* Text that ends with a NUL byte, borrowed; NULL is absent. */
PAWL_API pawl_str pawl_text(const char *text);

/* A new id that sorts by its time (UUIDv7). */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_uuid_new(pawl_uuid *id, pawl_error *err);

/* Reads 8-4-4-4-12 hex digits of any letter case; false leaves *id alone. */
PAWL_API PAWL_MUSTCHECK bool pawl_uuid_parse(pawl_str text, pawl_uuid *id);

/* Writes 36 lower-case characters and a NUL byte. Returns text. */
#define PAWL_UUID_TEXT_BYTES 37
PAWL_API char *pawl_uuid_format(pawl_uuid id, char text[PAWL_UUID_TEXT_BYTES]);

/* ---- Stores
 * ---------------------------------------------------------------------------------------------------- */

typedef struct pawl_store pawl_store;

/* In every member, zero means the default. */
typedef struct pawl_store_config {
    const char *url;    /* an SQLite file, postgres://…, or a libpq "key=value" string */
    const char *schema; /* NULL = "pawl" */
    int connect_timeout_ms;
    int statement_timeout_ms;
    bool durability_normal; /* SQLite: a power cut may lose the last commits, but never corrupts the file */
} pawl_store_config;

/* Opens a migrated store. Only one thread at a time may use a handle. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_open(const pawl_store_config *config, pawl_store **store,
                                              pawl_error *err);
PAWL_API void pawl_close(pawl_store *store); /* accepts NULL */

/* Creates the schema or upgrades it to this library's version; several processes may call it at once. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_migrate(const pawl_store_config *config, pawl_error *err);

typedef struct pawl_trace_config {
    const char *service; /* default "pawl"; OTEL_SERVICE_NAME overrides it */
    /* Reports problems with the settings and with the collector; may be called from another thread. level as
     * in pawl_worker_config. NULL: nothing is logged. */
    void (*on_log)(void *self, int level, const char *line);
    void *self;
} pawl_trace_config;

/* From now on every send, enqueue and append through this handle creates a producer span, exported according
 * to OTEL_… in the environment (docs/traces.md); a given traceparent becomes the span's parent. *on: whether
 * the environment enables tracing. If it does not, or without this call, a traceparent is passed on
 * unchanged. pawl_close sends the spans that are left, for at most 2 s. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_trace(pawl_store *store, const pawl_trace_config *config, bool *on,
                                               pawl_error *err);

/* ---- Sending
 * ---------------------------------------------------------------------------------------------------- */

typedef enum pawl_kind { PAWL_OUTBOX = 1, PAWL_INBOX = 2, PAWL_JOB = 4 /* handled, not sent */ } pawl_kind;

/* One message to send. A ptr of NULL and a nil id mean absent. */
typedef struct pawl_outgoing {
    pawl_uuid id;    /* nil: one is generated */
    pawl_str stream; /* messages of one stream are handled one at a time, in order; absent: no order */
    pawl_str topic;
    pawl_str type;    /* required: chooses the handler */
    pawl_str payload; /* required, JSON */
    pawl_str headers; /* a JSON object */
    pawl_uuid correlation_id;
    pawl_uuid causation_id;
    pawl_str traceparent;
} pawl_outgoing;

typedef struct pawl_send_config {
    pawl_kind kind;    /* 0 = outbox */
    pawl_str consumer; /* inbox: the name that ids are deduplicated under; required there */
    pawl_uuid request; /* sending again with the same key writes nothing: use it after PAWL_UNKNOWN */
} pawl_send_config;

/* Sends messages in a new transaction. config may be NULL. ids (may be NULL) receives count ids. Inbox
 * messages that were received before are skipped; PAWL_CONFLICT if one was received with a different payload
 * (the others are written). To send inside your own transaction: pawl_send_pg (pawl_pg.h) and
 * pawl_send_sqlite (pawl_sqlite.h). */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_send(pawl_store *store, const pawl_send_config *config,
                                              const pawl_outgoing *messages, size_t count, pawl_uuid *ids,
                                              pawl_error *err);

/* ---- Workers
 * ---------------------------------------------------------------------------------------------------- */

/* A message as passed to a handler; valid during the call. */
typedef struct pawl_message {
    pawl_kind kind;
    pawl_uuid id;
    int64_t seq;
    int64_t token; /* grows with every grant: pass it on, so that other systems can refuse a late writer */
    int attempt;   /* counts from 1 */
    bool out_of_order; /* redriven after its stream had continued */
    pawl_str stream, topic, type, payload, headers, traceparent, consumer;
    pawl_uuid correlation_id, causation_id;
    int64_t sent_ms;
    pawl_str progress; /* jobs: the last progress reported by an earlier attempt */
    const void *run;   /* for pawl_cancelled */
} pawl_message;

typedef enum pawl_outcome {
    PAWL_DONE = 0,
    PAWL_RETRY,  /* failed; worth another attempt */
    PAWL_REJECT, /* failed for good: a dead letter */
    PAWL_SNOOZE  /* run again after retry_after_ms (at least 1 s if not set); no attempt is counted */
} pawl_outcome;

/* Details a handler may add to its outcome; zeroed before the call, except retry_after_ms = -1: by policy. */
typedef struct pawl_result {
    int64_t retry_after_ms;
    char error[512];
} pawl_result;

/* May be called by several threads at once, but never for two messages of one stream. */
typedef pawl_outcome (*pawl_handler_fn)(const pawl_message *message, pawl_result *result, void *self);

/* True if the result no longer counts or the worker is stopping; a long-running handler should call it now
 * and then. */
PAWL_API bool pawl_cancelled(const pawl_message *message);

/* For a job: keeps its lease as long as it makes progress, and stores JSON (at most 64 KiB) that the next
 * attempt gets in message->progress. False: not a job, or not JSON. */
PAWL_API bool pawl_progress(const pawl_message *message, pawl_str progress);

/* What happens to a stream when one of its messages becomes a dead letter. */
typedef enum pawl_on_dead {
    PAWL_ON_DEAD_DEFAULT = 0,
    PAWL_ON_DEAD_BLOCK,
    PAWL_ON_DEAD_SKIP,
    PAWL_ON_DEAD_PARK
} pawl_on_dead;

/* How messages are handled; zero means the default. Exactly one of function, command, pipe and url is set. */
typedef struct pawl_handler {
    pawl_handler_fn function;
    void *self;
    const char
        *command;    /* "./handle.sh --fast": message on stdin; exit 0 done, 75 retry, 65 or 78 permanent */
    const char *url; /* an endpoint: the payload is posted to it as a CloudEvent (docs/receptors.md) */
    const char *secret;   /* url: signs the request (Standard Webhooks) */
    bool allow_private;   /* url: allow loopback, private and link-local addresses */
    const char *receptor; /* makes it a receptor: one of several independent handlers of an inbox message
                             or, with a pattern "event:order.*", of events (docs/receptors.md) */
    bool from_start;      /* receptor on events, when first registered: include existing events */
    int64_t timeout_ms;   /* then a command is killed, a url is given up, and a function is asked to stop and
                             its   lease no longer renewed; default 1 h, as for pawl worker */
    int concurrency;      /* at most this many at the same time */
    int64_t retry_base_ms, retry_max_ms;
    int max_attempts;
    pawl_on_dead on_dead;
    const char
        *pipe; /* "python3 handlers.py": a program that is kept, one line per item (docs/handlers.md) */
    int recycle_after; /* pipe: a process is replaced after this many items */
    int recycle_mb;    /* pipe: a process is replaced when it uses more memory */
} pawl_handler;

/* When finished messages are reported to the store. */
typedef enum pawl_strategy { PAWL_BATCHED = 0, PAWL_INSTANT, PAWL_CUSTOM } pawl_strategy;

/* What a worker did with jobs since it started. */
typedef struct pawl_job_metrics {
    int64_t processed; /* executions that ended */
    int64_t succeeded, failed, retried, dead, cancelled;
    int64_t processing_ms; /* of all executions together */
    int64_t leases_acquired, leases_renewed, leases_expired;
    int64_t errors; /* failed store calls */
    int64_t running, waiting;
} pawl_job_metrics;

typedef struct pawl_metrics {
    char state[16];
    char instance[37];
    int64_t not_ready_checks; /* consecutive */
    int64_t empty_polls;      /* consecutive */
    bool idle;
    int64_t claimed, completed, failed, dead, released, stale, fenced, evictions, batches;
    int64_t running, waiting, pending_completions, pending_failures;
    int64_t heartbeats;
    pawl_job_metrics jobs;
} pawl_metrics;

/* Ratios from 0 to 1; 0 if there is nothing to divide by. */
typedef struct pawl_job_summary {
    double success_rate;     /* succeeded / processed */
    double error_rate;       /* failed / processed */
    double lease_efficiency; /* processed / leases acquired */
    double mean_ms;          /* per execution */
} pawl_job_summary;

PAWL_API pawl_job_summary pawl_job_metrics_summary(const pawl_job_metrics *metrics);

typedef struct pawl_worker pawl_worker;

/* Zero means the default. Texts are copied; callbacks run in the worker's thread unless stated otherwise. */
typedef struct pawl_worker_config {
    pawl_store_config store;
    const char *service;       /* default "pawl" */
    const char *metadata;      /* a JSON object, shown with the instance; another "version" is a deploy */
    const char *instance;      /* a UUID; default: a new one, which is almost always right */
    bool outbox, inbox, jobs;  /* what to handle; none of these and no perspectives = all three */
    bool perspectives;         /* build read models (pawl_events.h) */
    bool perspectives_outside; /* also perspectives that are programs or endpoints */
    int concurrency;           /* handlers at the same time, of all kinds; default 8 */
    const char *weights;       /* how the kinds share them; default "messages=1,jobs=1,perspectives=1" */
    int batch;
    int64_t lease_ms, instance_lease_ms, heartbeat_ms, poll_ms, drain_ms;
    int idle_polls;
    int max_attempts;
    int max_partitions;
    int64_t timeout_ms, retry_base_ms, retry_max_ms; /* for handlers without their own */
    bool retry_exact;          /* no jitter; work that failed together is then retried together */
    int64_t cleanup_ms;        /* how often old rows are removed; default 5 min */
    int64_t job_lease_ms;      /* default 60 s */
    const char *queue;         /* of the jobs; default "default" */
    const char *tools;         /* a file that defines tools for pipelines (docs/tools.md) */
    int64_t tools_timeout_ms;  /* how long MCP servers may take to list their tools; 0: 10 s */
    const char *pipeline_env;  /* comma-separated variables that pipelines may use as ${env.NAME} */
    int64_t alert_interval_ms; /* how often to evaluate alert rules; 0 = never in this worker */
    const char *alert_targets; /* a file that defines the targets of alerts (docs/alerts.md) */
    bool observe;              /* register and send heartbeats, but handle nothing: no handler is needed */
    bool debug;                /* keep completed messages readable */
    bool own_process; /* SIGTERM, SIGINT and SIGHUP stop the worker; orphaned children of commands are
                         adopted and killed */
    pawl_strategy strategy;
    bool (*flush)(void *self, size_t pending, int64_t oldest_age_ms); /* PAWL_CUSTOM: send the results now? */
    bool (*ready)(void *self); /* called before every batch, in a store thread */
    /* Called once per change. Idle: of the kinds this worker handles, nothing that is due is waiting, running
     * or in transit, here or in other workers, including dead ones; work that waits for another attempt does
     * not count. */
    void (*on_started)(void *self);
    void (*on_idle)(void *self);
    void (*on_tick)(void *self, const pawl_metrics *metrics); /* about five times a second */
    /* level: 0 debug, 1 info, 2 warning, 3 error; may also be called from subscription readers and handler
     * threads */
    void (*on_log)(void *self, int level, const char *line);
    int log_level;
    void *self;
} pawl_worker_config;

PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_create(const pawl_worker_config *config, pawl_worker **worker,
                                                       pawl_error *err);

/* Messages whose type matches the pattern (* and ?, ignoring case) go to the handler; first match wins. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_on(pawl_worker *worker, const char *pattern,
                                                   const pawl_handler *handler, pawl_error *err);

/* The same from text: "order.*=exec:./handle.sh --fast". */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_on_spec(pawl_worker *worker, const char *spec,
                                                        pawl_error *err);

/* The same from a file; errors name the line. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_on_file(pawl_worker *worker, const char *path,
                                                        pawl_error *err);

/* Brokers from a file (docs/transports.md): outbox messages are published by topic, subscriptions fill the
 * inbox. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_transports(pawl_worker *worker, const char *path,
                                                           pawl_error *err);

/* Runs until it is stopped. *forced: work was given back unfinished because the drain took too long. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_run(pawl_worker *worker, bool *forced, pawl_error *err);

/* Asks a running worker to drain and return; a second call makes it return at once. Safe from any thread or
 * signal handler. */
PAWL_API void pawl_worker_stop(pawl_worker *worker);

/* Copies the latest figures; safe from any thread. */
PAWL_API void pawl_worker_metrics(pawl_worker *worker, pawl_metrics *metrics);

PAWL_API void pawl_worker_free(pawl_worker *worker); /* takes NULL; not while it runs */

#ifdef __cplusplus
}
#endif

#endif
