/* The route of /metrics: metrics of the fleet and of the server itself. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "server/http/call.h"
#include "server/metrics.h"
#include "server/server.h"
#include "server/stats.h"
#include "view/counts.h"
#include "view/fleet.h"
#include "view/names.h"
#include "work/alerts/round.h"
#include "work/doctor/fleet_facts.h"

#define LABELS(...) ((const struct metric_label[]){__VA_ARGS__, {NULL, {NULL, 0}}})

enum { INSTANCES_SHOWN = 1000 };

/* ---- Messages */

/* The family of a count; false when it has none. */
static bool begin(struct metrics *metrics, const struct count *count) {
    if (count->metric != NULL)
        metrics_family(metrics, count->metric, count->counter ? "counter" : "gauge", count->help);
    return count->metric != NULL;
}

static double seconds_since(int64_t now_ms, int64_t since_ms) {
    return since_ms > 0 && now_ms > since_ms ? (double)(now_ms - since_ms) / 1000.0 : 0;
}

static void write_kinds(struct metrics *metrics, const struct counts *counts) {
    for (size_t i = 0; i < message_counts.count; i++) {
        if (!begin(metrics, &message_counts.rows[i]))
            continue;
        for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
            metrics_int(metrics, LABELS({"kind", str_from(kind_name((enum store_kind)kind))}),
                        count_value(&message_counts.rows[i], &counts->kind[kind]));
    }
    metrics_family(metrics, "pawl_messages_oldest_ready_age_seconds", "gauge",
                   "Age of the oldest waiting message; 0 if there is none.");
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        metrics_double(metrics, LABELS({"kind", str_from(kind_name((enum store_kind)kind))}),
                       seconds_since(counts->now_ms, counts->kind[kind].oldest_ready_ms));
    metrics_family(metrics, "pawl_lanes_free", "gauge", "Lanes without an owner.");
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        metrics_int(metrics, LABELS({"kind", str_from(kind_name((enum store_kind)kind))}),
                    counts->kind[kind].lanes_free);
}

/* ---- Instances */

/* A family with a number of each instance. */
static void write_each(struct metrics *metrics, const struct instance_rows *rows, const char *name,
                       const char *help, size_t offset) {
    metrics_family(metrics, name, "gauge", help);
    for (size_t i = 0; i < rows->count && i < INSTANCES_SHOWN; i++) {
        char id[UUID_TEXT_BYTES];
        metrics_int(metrics, LABELS({"instance", str_from(uuid_format(rows->rows[i].id, id))}),
                    *(const int *)((const char *)&rows->rows[i] + offset));
    }
}

static void write_instances(struct metrics *metrics, const struct instance_rows *rows, int64_t now_ms) {
    int64_t counts[INSTANCE_STANDINGS] = {0};
    size_t shown = rows->count < INSTANCES_SHOWN ? rows->count : INSTANCES_SHOWN;
    char id[UUID_TEXT_BYTES];
    for (size_t i = 0; i < rows->count; i++)
        counts[instance_standing(&rows->rows[i], now_ms)]++;
    metrics_family(metrics, "pawl_instances", "gauge", "Worker processes by state.");
    for (int state = 0; state < INSTANCE_STANDINGS; state++)
        metrics_int(metrics, LABELS({"state", str_from(instance_standings[state])}), counts[state]);
    metrics_family(metrics, "pawl_instance_heartbeat_age_seconds", "gauge",
                   "Time since the instance's last heartbeat.");
    for (size_t i = 0; i < shown; i++)
        metrics_double(metrics,
                       LABELS({"instance", str_from(uuid_format(rows->rows[i].id, id))},
                              {"service", rows->rows[i].service}, {"host", rows->rows[i].host}),
                       (double)rows->rows[i].beat_age_ms / 1000.0);
    write_each(metrics, rows, "pawl_instance_in_flight", "Messages that the instance holds.",
               offsetof(struct instance_row, in_flight));
    write_each(metrics, rows, "pawl_instance_jobs", "Jobs that the instance has leased.",
               offsetof(struct instance_row, jobs));
    metrics_family(metrics, "pawl_instance_lanes", "gauge", "Lanes that the instance owns.");
    for (size_t i = 0; i < shown; i++)
        for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
            metrics_int(metrics,
                        LABELS({"instance", str_from(uuid_format(rows->rows[i].id, id))},
                               {"kind", str_from(kind_name((enum store_kind)kind))}),
                        rows->rows[i].lanes[kind]);
}

/* ---- Jobs */

static void write_jobs(struct metrics *metrics, const struct job_counts_list *queues) {
    for (size_t i = 0; i < job_counts.count; i++) {
        if (!begin(metrics, &job_counts.rows[i]))
            continue;
        for (size_t q = 0; q < queues->count; q++)
            metrics_int(metrics, LABELS({"queue", queues->queues[q].queue}),
                        count_value(&job_counts.rows[i], &queues->queues[q]));
    }
    metrics_family(metrics, "pawl_jobs_oldest_ready_age_seconds", "gauge",
                   "How long the first job of the queue has been due; 0 if none is.");
    for (size_t q = 0; q < queues->count; q++)
        metrics_double(metrics, LABELS({"queue", queues->queues[q].queue}),
                       seconds_since(queues->now_ms, queues->queues[q].oldest_ready_ms));
}

/* ---- Perspectives */

static void write_perspectives(struct metrics *metrics, const struct perspective_rows *rows) {
    static const struct {
        const char *name, *type, *help;
        size_t offset;
    } families[] = {
        {"pawl_perspective_lag_events", "gauge", "Events that are not applied yet.",
         offsetof(struct perspective_row, lag_events)},
        {"pawl_perspective_pending", "gauge", "Streams with waiting events.",
         offsetof(struct perspective_row, pending)},
        {"pawl_perspective_processing", "gauge", "Streams that are being applied.",
         offsetof(struct perspective_row, processing)},
        {"pawl_perspective_completed", "gauge", "Streams that are up to date.",
         offsetof(struct perspective_row, completed)},
        {"pawl_perspective_failed", "gauge", "Streams that failed.",
         offsetof(struct perspective_row, failed)},
        {"pawl_perspective_stopped", "gauge", "Streams that failed and need a person.",
         offsetof(struct perspective_row, stopped)},
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        metrics_family(metrics, families[i].name, families[i].type, families[i].help);
        for (size_t row = 0; row < rows->count; row++) {
            int64_t value;
            memcpy(&value, (const char *)&rows->rows[row] + families[i].offset, sizeof value);
            metrics_int(metrics, LABELS({"perspective", rows->rows[row].key}), value);
        }
    }
    metrics_family(metrics, "pawl_perspective_lag_seconds", "gauge",
                   "Age of the oldest event that is not applied.");
    for (size_t row = 0; row < rows->count; row++)
        metrics_double(metrics, LABELS({"perspective", rows->rows[row].key}),
                       (double)rows->rows[row].lag_ms / 1000.0);
}

/* ---- The database */

static void write_store(struct metrics *metrics, const struct fleet_facts *facts) {
    metrics_family(metrics, "pawl_epoch", "gauge",
                   "Raised when the database was promoted or restored or lost commits.");
    metrics_int(metrics, LABELS({"cause", str_from(epoch_cause_name(facts->settings.epoch_cause))}),
                facts->settings.epoch);
    metrics_family(metrics, "pawl_durable", "gauge",
                   "1 when an acknowledged commit survives it, as the database is set.");
    metrics_int(metrics, LABELS({"against", STR("crash")}), facts->durability.crash);
    metrics_int(metrics, LABELS({"against", STR("failover")}), facts->durability.failover);
}

/* ---- Alerts */

static void write_alerts(struct metrics *metrics, const struct alert_rows *rows) {
    int64_t firing[ALERT_CRITICAL + 1] = {0};
    for (size_t i = 0; i < rows->count; i++)
        firing[rows->rows[i].rule.severity] += rows->rows[i].state.phase == ALERT_FIRING;
    metrics_family(metrics, "pawl_alerts_firing", "gauge", "Firing alert rules, including silenced ones.");
    for (int severity = ALERT_WARNING; severity <= ALERT_CRITICAL; severity++)
        metrics_int(metrics,
                    LABELS({"severity", str_from(alert_severity_name((enum alert_severity)severity))}),
                    firing[severity]);
    metrics_family(metrics, "pawl_alert_state", "gauge", "1 while the rule fires, even if silenced.");
    for (size_t i = 0; i < rows->count; i++)
        metrics_int(metrics, LABELS({"rule", rows->rows[i].rule.name}),
                    rows->rows[i].state.phase == ALERT_FIRING);
}

/* ---- How long work waits and takes */

/* The samples of one series; none if nothing was counted. */
static void write_series(struct metrics *metrics, const struct rollup_cells *cells, struct rollup_series at,
                         bool with_result) {
    struct rollup_histogram sums =
        rollup_histogram(cells->cells, cells->count, (int)at.measure, (int)at.kind, (int)at.result);
    struct metric_buckets buckets = {rollup_bounds, sums.counts, ROLLUP_BUCKETS, (double)sums.sum / 1e6};
    pawl_str kind = str_from(rollup_kind_name(at.kind)), result = str_from(rollup_result_name(at.result));
    if (sums.count == 0)
        return;
    if (with_result)
        metrics_histogram(metrics, LABELS({"kind", kind}, {"result", result}), &buckets);
    else
        metrics_histogram(metrics, LABELS({"kind", kind}), &buckets);
}

static void write_latency(struct metrics *metrics, const struct rollup_cells *cells) {
    static const struct {
        enum rollup_measure measure;
        bool with_result;
        const char *name, *help;
    } families[] = {
        {ROLLUP_HANDLE, true, "pawl_handler_duration_seconds",
         "Duration of handlers on all workers, per message, job, page or batch of a perspective."},
        {ROLLUP_WAIT, false, "pawl_wait_duration_seconds",
         "From put, or from when it was due, to the start of the first attempt."},
        {ROLLUP_CLAIM, true, "pawl_claim_duration_seconds",
         "How long workers wait for the store when they claim."},
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        metrics_family(metrics, families[i].name, "histogram", families[i].help);
        for (int kind = 0; kind < ROLLUP_KINDS; kind++)
            for (int result = 0; result < ROLLUP_RESULTS; result++)
                write_series(metrics, cells,
                             (struct rollup_series){families[i].measure, (enum rollup_kind)kind,
                                                    (enum rollup_result)result},
                             families[i].with_result);
    }
}

/* Of the workers, and of this server. */
static void write_spans(struct metrics *metrics, const struct rollup_cells *cells, struct server *server) {
    struct tracer_counts own = tracer_counts(server->tracer);
    const struct {
        const char *name;
        enum rollup_result result;
        int64_t own;
    } ends[] = {{"exported", ROLLUP_DONE, own.exported},
                {"failed", ROLLUP_RETRY, own.failed},
                {"dropped", ROLLUP_OTHER, own.dropped}};
    metrics_family(
        metrics, "pawl_trace_spans", "counter",
        "Trace spans: exported, not accepted by the collector, dropped because the queue was full.");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        metrics_int(
            metrics, LABELS({"result", str_from(ends[i].name)}),
            ends[i].own +
                rollup_histogram(cells->cells, cells->count, ROLLUP_SPANS, -1, (int)ends[i].result).count);
}

/* ---- The server */

static int64_t resident_bytes(void) {
    long pages = 0, total = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%ld %ld", &total, &pages) != 2)
        pages = 0;
    fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static void write_server(struct metrics *metrics, struct server *server, const struct store *store) {
    static const char *const classes[] = {NULL, "1xx", "2xx", "3xx", "4xx", "5xx"};
    struct stats stats;
    stats_read(server->stats, &stats);
    metrics_family(metrics, "pawl_build_info", "gauge", "The version, the store and its durability.");
    metrics_int(metrics,
                LABELS({"version", STR(PAWL_VERSION)}, {"store", str_from(store->dialect)},
                       {"durability", strcmp(store->dialect, "sqlite") != 0                ? STR("server")
                                      : server->config.store.durability == DURABILITY_FULL ? STR("full")
                                                                                           : STR("normal")}),
                1);
    metrics_family(metrics, "pawl_http_requests", "counter",
                   "Requests answered, by the class of the status.");
    for (int class = 2; class < STATS_CLASSES; class ++)
        metrics_int(metrics, LABELS({"code", str_from(classes[class])}), stats.requests[class]);
    metrics_family(metrics, "pawl_http_refused", "counter",
                   "Requests refused for their host, origin or token.");
    metrics_int(metrics, NULL, stats.refused);
    metrics_family(metrics, "pawl_http_request_duration_seconds", "histogram",
                   "From the request line to the last byte of the response, without event streams.");
    metrics_histogram(metrics, NULL,
                      &(struct metric_buckets){stats_bounds, stats.buckets, STATS_BUCKETS,
                                               (double)stats.duration_us / 1e6});
    metrics_family(metrics, "pawl_http_stream_events_dropped", "counter",
                   "Events that a client did not read in time.");
    metrics_int(metrics, NULL, stats.streams_dropped);
    metrics_family(metrics, "pawl_http_claims_waiting", "gauge",
                   "Claims of the lease API that wait for work.");
    metrics_int(metrics, NULL, stats.claims_waiting);
    metrics_family(metrics, "process_resident_memory_bytes", "gauge", "Memory of the server.");
    metrics_int(metrics, NULL, resident_bytes());
    metrics_family(metrics, "pawl_server_uptime_seconds", "gauge", "Time since the server started.");
    metrics_double(metrics, NULL, (double)(clock_boot_ms() - server->started_ms) / 1000.0);
}

static pawl_status read_metrics(struct call *call, pawl_error *err) {
    const struct store_ops *ops = call->store->ops;
    struct fleet_facts facts;
    struct alert_rows alerts = {.count = 0};
    struct rollup_cells rollups = {.count = 0};
    struct audit_head head;
    TRY(call->store->ops->view.fleet(call->store, call->arena, &facts, err));
    TRY(ops->alerts->rules(call->store, (pawl_str){NULL, 0}, call->arena, &alerts, err));
    TRY(ops->view.rollups(call->store, call->arena, &rollups, err));
    TRY(ops->jobs->audit_head(call->store, &head, err));
    struct metrics metrics = {.buf = &call->out};
    metrics.open = call->accept != NULL && strstr(call->accept, "application/openmetrics-text") != NULL;
    write_kinds(&metrics, &facts.counts);
    write_instances(&metrics, &facts.instances, facts.counts.now_ms);
    write_jobs(&metrics, &facts.queues);
    write_perspectives(&metrics, &facts.perspectives);
    write_store(&metrics, &facts);
    write_alerts(&metrics, &alerts);
    metrics_family(&metrics, "pawl_audit_head", "gauge",
                   "Number of the last anchor of the audit; the label is its hash.");
    metrics_int(&metrics, LABELS({"hash", str_from(head.hash)}), head.number);
    write_latency(&metrics, &rollups);
    write_spans(&metrics, &rollups, call->server);
    write_server(&metrics, call->server, call->store);
    metrics_end(&metrics);
    call->type = metrics.open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                              : "text/plain; version=0.0.4; charset=utf-8";
    return PAWL_OK;
}

static const struct operation routes[] = {
    {OPERATION("server.metrics", "Metrics for Prometheus, or OpenMetrics 1.0 on request"), READS("/metrics"),
     .shape = ANSWER_TEXT, .serve = read_metrics},
};

const struct operation_table metrics_routes = OPERATION_TABLE(routes);
