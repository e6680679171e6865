/* The public API of libpawl: durable work coordination on SQLite and PostgreSQL. */
#ifndef PAWL_H
#define PAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_API __attribute__((visibility("default")))
#define PAWL_MUSTCHECK __attribute__((warn_unused_result))

/* What a caller can do about an outcome. */
typedef enum pawl_status {
    PAWL_OK = 0,
    PAWL_INVALID,     /* the input is wrong: correct it */
    PAWL_NOT_FOUND,   /* what was named does not exist */
    PAWL_CONFLICT,    /* the state forbids it: look, then decide */
    PAWL_STALE,       /* the grant is over (old token, evicted instance): drop it */
    PAWL_BUSY,        /* held by another worker or session: try again later */
    PAWL_UNAVAILABLE, /* nothing happened: safe to try again */
    PAWL_UNKNOWN,     /* it may have happened: resolve with the same request key */
    PAWL_NO_MEMORY,
    PAWL_DAMAGED, /* the database itself is damaged, or was replaced in use: stop and look */
    PAWL_INTERNAL
} pawl_status;

/* Why something failed; owned by the caller, written only when the status is not PAWL_OK. */
typedef struct pawl_error {
    pawl_status status;
    char op[48];
    char text[512];
} pawl_error;

/* The name of a status, for messages; never NULL. */
PAWL_API const char *pawl_status_name(pawl_status status);

typedef struct pawl_uuid {
    uint8_t b[16];
} pawl_uuid;

/* Borrowed text that carries its length; ptr NULL means absent. */
typedef struct pawl_str {
    const char *ptr;
    size_t len;
} pawl_str;

/* ---- Stores
 * ---------------------------------------------------------------------------------------------------- */

typedef struct pawl_store pawl_store;

/* Zero means the default, everywhere. */
typedef struct pawl_store_config {
    const char *url;    /* an SQLite file, postgres://…, or a libpq "key=value" string */
    const char *schema; /* NULL = "pawl" */
    int connect_timeout_ms;
    int statement_timeout_ms;
    bool durability_normal; /* SQLite: a power cut may lose the last commits, never consistency */
} pawl_store_config;

/* Opens a migrated store. One handle serves one thread at a time. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_open(const pawl_store_config *config, pawl_store **store,
                                              pawl_error *err);
PAWL_API void pawl_close(pawl_store *store); /* takes NULL */

/* Makes the schema or brings it to this library's version; safe when several processes do it at once. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_migrate(const pawl_store_config *config, pawl_error *err);

typedef struct pawl_trace_config {
    const char *service; /* default "pawl"; OTEL_SERVICE_NAME goes before it */
    /* What is wrong with the settings, and how the collector does; another thread may call it. level as in
     * pawl_worker_config. NULL: nothing is logged. */
    void (*on_log)(void *self, int level, const char *line);
    void *self;
} pawl_trace_config;

/* From now on what is sent, enqueued and appended through this handle is a producer span, exported as OTEL_…
 * in the environment says (docs/traces.md); a traceparent that comes with it is the span's parent. *on:
 * whether the environment asks for traces; without them, and without this call, a traceparent is passed on as
 * it is. What waits to be exported is sent by pawl_close, for at most 2 s. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_trace(pawl_store *store, const pawl_trace_config *config, bool *on,
                                               pawl_error *err);

/* ---- Sending
 * ---------------------------------------------------------------------------------------------------- */

typedef enum pawl_kind { PAWL_OUTBOX = 1, PAWL_INBOX = 2, PAWL_JOB = 4 /* handled, not sent */ } pawl_kind;

/* One message to send. A ptr of NULL and a nil id mean absent. */
typedef struct pawl_outgoing {
    pawl_uuid id;    /* nil: one is made */
    pawl_str stream; /* messages of one stream are handled one by one, in order; absent: no order */
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
    pawl_str consumer; /* inbox: who deduplicates; required there */
    pawl_uuid request; /* sending again under the same key writes nothing: the answer to PAWL_UNKNOWN */
} pawl_send_config;

/*
 * Sends in a transaction of its own. config may be NULL. ids (may be NULL) receives count ids. Inbox messages
 * that were received before are skipped; PAWL_CONFLICT when one came before with another payload (the others
 * are written). Inside a transaction of yours: pawl_send_pg (pawl_pg.h) and pawl_send_sqlite (pawl_sqlite.h).
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_send(pawl_store *store, const pawl_send_config *config,
                                              const pawl_outgoing *messages, size_t count, pawl_uuid *ids,
                                              pawl_error *err);

/* ---- Workers
 * ---------------------------------------------------------------------------------------------------- */

/* One message as a handler gets it; valid during the call. */
typedef struct pawl_message {
    pawl_kind kind;
    pawl_uuid id;
    int64_t seq;
    int64_t token;     /* grows with every grant: pass it on, so that others can refuse a late writer */
    int attempt;       /* counts from 1 */
    bool out_of_order; /* redriven after its stream had gone on */
    pawl_str stream, topic, type, payload, headers, traceparent, consumer;
    pawl_uuid correlation_id, causation_id;
    int64_t sent_ms;
    pawl_str progress; /* of a job: what an earlier attempt told last */
    const void *run;   /* for pawl_cancelled */
} pawl_message;

typedef enum pawl_outcome {
    PAWL_DONE = 0,
    PAWL_RETRY,  /* failed; worth another attempt */
    PAWL_REJECT, /* failed for good: a dead letter */
    PAWL_SNOOZE  /* not now: again after retry_after_ms (at least 1 s later when that is not set), no attempt
                  */
} pawl_outcome;

/* What a handler may say besides its outcome; zeroed before the call, retry_after_ms is -1 = by policy. */
typedef struct pawl_result {
    int64_t retry_after_ms;
    char error[512];
} pawl_result;

/* Called by several threads at once, but never for two messages of one stream. */
typedef pawl_outcome (*pawl_handler_fn)(const pawl_message *message, pawl_result *result, void *self);

/* True when the result no longer counts, or the worker wants to stop: a handler that takes long asks now and
 * then. */
PAWL_API bool pawl_cancelled(const pawl_message *message);

/* Of a job: keeps its lease while it gets on, and stores JSON (at most 64 KiB) that the next attempt finds in
 * message->progress. False: not a job, or not JSON. */
PAWL_API bool pawl_progress(const pawl_message *message, pawl_str progress);

/* What a stream does when one of its messages becomes a dead letter. */
typedef enum pawl_on_dead {
    PAWL_ON_DEAD_DEFAULT = 0,
    PAWL_ON_DEAD_BLOCK,
    PAWL_ON_DEAD_SKIP,
    PAWL_ON_DEAD_PARK
} pawl_on_dead;

/* How messages are handled; zero means the default. Exactly one of function, command and url is set. */
typedef struct pawl_handler {
    pawl_handler_fn function;
    void *self;
    const char
        *command;    /* "./handle.sh --fast": message on stdin; exit 0 done, 75 retry, 65 or 78 permanent */
    const char *url; /* an endpoint: the payload is posted to it, as a CloudEvent (docs/receptors.md) */
    const char *secret;   /* url: signs what is posted (Standard Webhooks) */
    bool allow_private;   /* url: loopback, private and link-local addresses may be called */
    const char *receptor; /* a name: one of several handlers of an inbox message, each on its own. With a
                             pattern "event:order.*": of events of these types (docs/receptors.md) */
    bool from_start;      /* a receptor on events, registered for the first time: also those that are there */
    int64_t timeout_ms;   /* a command is ended after it (default 5 min), a url given up (30 s), a function is
                             asked to stop and not kept alive */
    int concurrency;      /* at most this many at the same time */
    int64_t retry_base_ms, retry_max_ms;
    int max_attempts;
    pawl_on_dead on_dead;
} pawl_handler;

/* When finished messages are reported to the store. */
typedef enum pawl_strategy { PAWL_BATCHED = 0, PAWL_INSTANT, PAWL_CUSTOM } pawl_strategy;

/* What a worker did with jobs since it started. */
typedef struct pawl_job_metrics {
    int64_t processed; /* executions that ended */
    int64_t succeeded, failed, retried, dead, cancelled;
    int64_t processing_ms; /* of all executions together */
    int64_t leases_acquired, leases_renewed, leases_expired;
    int64_t errors; /* calls of the store that failed */
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

/* Shares of 0 to 1, and 0 while there is nothing to divide by. */
typedef struct pawl_job_summary {
    double success_rate;     /* of the executions that ended */
    double error_rate;       /* failed ones of them */
    double lease_efficiency; /* leases that led to an end */
    double mean_ms;          /* of an execution */
} pawl_job_summary;

PAWL_API pawl_job_summary pawl_job_metrics_summary(const pawl_job_metrics *metrics);

typedef struct pawl_worker pawl_worker;

/* Zero means the default. Texts are copied; callbacks run in the worker's own thread unless said. */
typedef struct pawl_worker_config {
    pawl_store_config store;
    const char *service;       /* default "pawl" */
    const char *metadata;      /* a JSON object, shown with the instance */
    const char *instance;      /* a UUID; default: a fresh one, which is almost always right */
    bool outbox, inbox, jobs;  /* what to work on; none, and no perspectives = these three */
    bool perspectives;         /* build read models (pawl_events.h) */
    bool perspectives_outside; /* also those that are programs and endpoints, as the store has them */
    int concurrency;           /* handlers at the same time, of all kinds; default 4 */
    const char *weights;       /* how messages and jobs share them; default "messages=1,jobs=1" */
    int batch;
    int64_t lease_ms, instance_lease_ms, heartbeat_ms, poll_ms, drain_ms;
    int idle_polls;
    int max_attempts;
    int max_partitions;
    int64_t timeout_ms, retry_base_ms, retry_max_ms; /* of handlers that do not have their own */
    bool retry_exact;          /* delays without jitter, which makes failures come back together */
    int64_t cleanup_ms;        /* how often old rows are removed; default 5 min */
    int64_t job_lease_ms;      /* default 60 s */
    const char *queue;         /* of the jobs; default "default" */
    const char *tools;         /* a file of tools that steps of pipelines use (docs/tools.md) */
    int64_t tools_timeout_ms;  /* how long their MCP servers may take to say what they have; 0: 10 s */
    const char *pipeline_env;  /* names, separated by commas, that ${env.NAME} of pipelines may use */
    int64_t alert_interval_ms; /* watch over the alert rules with the others, this often; 0 = do not */
    const char *alert_targets; /* a file that says what the names of targets are (docs/alerts.md) */
    bool observe;              /* register and beat, but handle nothing: no handler is needed */
    bool debug;                /* completed messages stay readable */
    bool own_process; /* SIGTERM, SIGINT and SIGHUP stop the worker; escaped children of commands are adopted
                         and ended */
    pawl_strategy strategy;
    bool (*flush)(void *self, size_t pending, int64_t oldest_age_ms); /* PAWL_CUSTOM: send the results now? */
    bool (*ready)(void *self); /* asked before every batch, in a store thread */
    /* Once per change. Idle: nothing that is due, of the kinds that it serves, waits, runs or is on its way,
     * here or with other workers, dead ones included; what waits for another attempt does not count. */
    void (*on_started)(void *self);
    void (*on_idle)(void *self);
    void (*on_tick)(void *self, const pawl_metrics *metrics); /* about five times a second */
    /* level: 0 debug, 1 info, 2 warning, 3 error; readers of subscriptions, and threads that run handlers,
     * call it too */
    void (*on_log)(void *self, int level, const char *line);
    int log_level;
    void *self;
} pawl_worker_config;

PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_create(const pawl_worker_config *config, pawl_worker **worker,
                                                       pawl_error *err);

/* Messages whose type matches the pattern (* and ?, any letter case) go to the handler; the first match wins.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_on(pawl_worker *worker, const char *pattern,
                                                   const pawl_handler *handler, pawl_error *err);

/* The same from text: "order.*=exec:./handle.sh --fast". */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_on_spec(pawl_worker *worker, const char *spec,
                                                        pawl_error *err);

/* The same from a file; a fault is told with its line. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_on_file(pawl_worker *worker, const char *path,
                                                        pawl_error *err);

/* Brokers from a file (docs/transports.md): outbox messages are published by topic, subscriptions fill the
 * inbox. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_transports(pawl_worker *worker, const char *path,
                                                           pawl_error *err);

/* Works until it is stopped. *forced: work was given back unfinished because the drain took too long. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_run(pawl_worker *worker, bool *forced, pawl_error *err);

/* Asks a running worker to drain and return; a second time: at once. From any thread or signal handler. */
PAWL_API void pawl_worker_stop(pawl_worker *worker);

/* A copy of the latest figures; from any thread. */
PAWL_API void pawl_worker_metrics(pawl_worker *worker, pawl_metrics *metrics);

PAWL_API void pawl_worker_free(pawl_worker *worker); /* takes NULL; not while it runs */

#ifdef __cplusplus
}
#endif

#endif
