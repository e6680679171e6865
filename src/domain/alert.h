/* Alerts: the metrics, and when a rule fires or is resolved; pure functions (docs/alerts.md). */
#ifndef DOMAIN_ALERT_H
#define DOMAIN_ALERT_H

#include "base/buf.h"
#include "pawl.h"

/* The metrics a rule can watch; the values index alert_metrics. All are whole numbers. */
enum alert_metric {
    METRIC_OUTBOX_READY,
    METRIC_INBOX_READY,
    METRIC_PERSPECTIVE_READY,
    METRIC_JOBS_READY,
    METRIC_OUTBOX_DEAD,
    METRIC_INBOX_DEAD,
    METRIC_PERSPECTIVE_DEAD,
    METRIC_JOBS_DEAD,
    METRIC_LEASES_ACTIVE,
    METRIC_LEASES_OVERDUE,
    METRIC_LEASES_PER_WORKER,
    METRIC_LEASES_LOST,
    METRIC_REPORTS_STALE,
    METRIC_WORKERS_LIVE,
    METRIC_WORKERS_LOST,
    METRIC_WORK_UNSERVED,
    METRIC_OLDEST_READY_S,
    METRIC_FAILURES,
    METRIC_ERROR_RATE_PERCENT,
    METRIC_PERSPECTIVES_FAILED,
    METRIC_PERSPECTIVE_LAG_S,
    METRIC_DATABASE_USED_PERCENT,
    METRIC_MEMORY_USED_PERCENT,
    METRIC_EPOCH_RAISED,
    METRIC_COUNT
};

struct alert_metric_row {
    const char *name, *help;
};

extern const struct alert_metric_row alert_metrics[METRIC_COUNT];

/* The metric with that name, or METRIC_COUNT. */
enum alert_metric alert_metric_find(pawl_str name);

enum alert_side { ALERT_ABOVE = 1, ALERT_BELOW };
enum alert_severity { ALERT_WARNING = 1, ALERT_CRITICAL };
enum alert_phase { ALERT_OK = 1, ALERT_FIRING };
enum notice_state { NOTICE_WAITING = 1, NOTICE_DELIVERED, NOTICE_GIVEN_UP };
enum alert_event { ALERT_NOTHING = 0, ALERT_FIRED, ALERT_RESOLVED, ALERT_TESTED };

/* What people set. */
struct alert_rule {
    pawl_str name;
    pawl_str metric; /* of alert_metrics */
    pawl_str summary;
    pawl_str targets; /* names separated by commas: log, message, and those defined in target files */
    enum alert_side side;
    enum alert_severity severity;
    int64_t threshold; /* the condition is true beyond it, not at it */
    int64_t
        clear_threshold; /* once firing, the condition stays true until the value is back at this or better */
    int64_t for_ms;      /* how long the condition must be true before it fires */
    int64_t clear_ms;    /* and how long it must be false before it is resolved */
    bool enabled;
    int64_t version; /* grows with every put; put: the expected one, 0 = any */
    int64_t updated_ms;
};

/* The state that evaluations keep. */
struct alert_state {
    enum alert_phase phase;
    int64_t since_ms;   /* of the phase; 0 = it was never evaluated */
    int64_t turning_ms; /* since when the value contradicts the phase; 0 = it does not */
    bool told;          /* its targets were notified that it fires */
    int64_t value;
};

struct alert_move {
    enum alert_event event;
    bool tell; /* notify the targets */
};

/*
 * One evaluation: the state follows the value. A silenced rule fires and resolves without notification; if it
 * still fires when the silence ends, the targets are notified then. If they were notified that it fired, they
 * are notified that it is resolved. A disabled rule is resolved at once.
 */
struct alert_move alert_step(const struct alert_rule *rule, bool silenced, int64_t value, int64_t now_ms,
                             struct alert_state *state);

/* The rules that a new schema has; version and updated_ms are left out. */
extern const struct alert_rule alert_defaults[];
extern const size_t alert_defaults_count;

/* "log, pager": calls take for every name, trimmed; stops when it returns false. Returns how many. */
size_t alert_targets(pawl_str targets, bool (*take)(void *self, pawl_str name), void *self);

/* PAWL_INVALID with a sentence. */
PAWL_MUSTCHECK pawl_status alert_rule_check(const struct alert_rule *rule, pawl_error *err);
PAWL_MUSTCHECK pawl_status alert_name_check(pawl_str name, const char *what, pawl_error *err);

/* ---- Sums over the last minutes, for rates. */

struct alert_totals {
    int64_t at_ms, done, failed, lost, stale;
};

enum { ALERT_WINDOW_SAMPLES = 40 };

struct alert_window {
    struct alert_totals samples[ALERT_WINDOW_SAMPLES]; /* oldest first */
    size_t count;
};

/* Text that the store keeps; what cannot be read is an empty window. */
void alert_window_read(struct alert_window *window, pawl_str text);
void alert_window_write(const struct alert_window *window, struct buf *text);

/* Forgets what is older than PAWL_ALERT_WINDOW_MS, keeping one sample as the baseline, and adds this one. */
void alert_window_add(struct alert_window *window, const struct alert_totals *now);

/* What was added since the oldest sample; zero when there is none, and never below zero. */
struct alert_totals alert_window_sums(const struct alert_window *window, const struct alert_totals *now);

#endif
