/* Alerts: the metrics, the default rules, and when a rule fires or is resolved. */
#include "domain/alert.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

const struct alert_metric_row alert_metrics[METRIC_COUNT] = {
    [METRIC_OUTBOX_READY] = {"outbox_ready", "Outbox messages that are waiting."},
    [METRIC_INBOX_READY] = {"inbox_ready", "Inbox messages that are waiting."},
    [METRIC_PERSPECTIVE_READY] = {"perspective_ready", "Perspective messages that are waiting."},
    [METRIC_JOBS_READY] = {"jobs_ready", "Jobs that are due, in all queues."},
    [METRIC_OUTBOX_DEAD] = {"outbox_dead", "Outbox dead letters."},
    [METRIC_INBOX_DEAD] = {"inbox_dead", "Inbox dead letters."},
    [METRIC_PERSPECTIVE_DEAD] = {"perspective_dead", "Perspective dead letters."},
    [METRIC_JOBS_DEAD] = {"jobs_dead", "Jobs that failed for good, in all queues."},
    [METRIC_LEASES_ACTIVE] = {"leases_active", "Active claims."},
    [METRIC_LEASES_OVERDUE] = {"leases_overdue",
                               "Claims whose lease has expired and that no worker has recovered."},
    [METRIC_LEASES_PER_WORKER] = {"leases_per_worker", "Active claims per live worker, rounded up."},
    [METRIC_LEASES_LOST] = {"leases_lost", "Jobs whose worker or lease ended, in the last 5 minutes."},
    [METRIC_REPORTS_STALE] = {"reports_stale", "Reports whose grant had ended, in the last 5 minutes."},
    [METRIC_WORKERS_LIVE] = {"workers_live", "Workers whose heartbeat is in time."},
    [METRIC_WORKERS_LOST] = {"workers_lost",
                             "Workers that fell silent or were evicted without deregistering."},
    [METRIC_WORK_UNSERVED] = {"work_unserved",
                              "Messages and jobs that are waiting while no live worker handles them."},
    [METRIC_OLDEST_READY_S] = {"oldest_ready_s",
                               "Age in seconds of the oldest message or job that is waiting."},
    [METRIC_FAILURES] = {"failures", "Attempts that failed in the last 5 minutes."},
    [METRIC_ERROR_RATE_PERCENT] =
        {"error_rate_percent",
         "Percentage of attempts that failed in the last 5 minutes; 0 if there were fewer than 10."},
    [METRIC_PERSPECTIVES_FAILED] = {"perspectives_failed", "Perspective streams that have failed."},
    [METRIC_PERSPECTIVE_LAG_S] = {"perspective_lag_s",
                                  "Age in seconds of the oldest event that a perspective has not applied."},
    [METRIC_DATABASE_USED_PERCENT] = {"database_used_percent",
                                      "PostgreSQL: connections in use; SQLite: the disk of the file."},
    [METRIC_MEMORY_USED_PERCENT] = {"memory_used_percent",
                                    "Memory in use on the machine or in the container that evaluated."},
    [METRIC_EPOCH_RAISED] = {"epoch_raised",
                             "1 for a day after the database was promoted or restored or lost "
                             "commits: acknowledged work may be lost."},
};

enum alert_metric alert_metric_find(pawl_str name) {
    int found = 0;
    while (found < METRIC_COUNT && !str_equal_cstr(name, alert_metrics[found].name))
        found++;
    return (enum alert_metric)found;
}

#define RULE(rule_name, rule_metric, rule_severity, limit, wait_ms, rest_ms, on, text)                       \
    {                                                                                                        \
        .name = STR_INIT(rule_name), .metric = STR_INIT(rule_metric), .summary = STR_INIT(text),             \
        .targets = STR_INIT("log"), .side = ALERT_ABOVE, .severity = (rule_severity), .threshold = (limit),  \
        .clear_threshold = (limit), .for_ms = (wait_ms), .clear_ms = (rest_ms), .enabled = (on)              \
    }

/* sql/DIALECT/schema/alert.sql repeats them; a conformance test compares. By name. */
const struct alert_rule alert_defaults[] = {
    RULE("database-limit", "database_used_percent", ALERT_CRITICAL, 90, 60000, 60000, true,
         "The database is near a limit: connections, or the disk of its file."),
    RULE("epoch-raised", "epoch_raised", ALERT_CRITICAL, 0, 0, 0, true,
         "The database was promoted or restored or lost commits: acknowledged work may be lost."),
    RULE("error-rate", "error_rate_percent", ALERT_WARNING, 20, 60000, 120000, true, "Many attempts fail."),
    RULE("inbox-gave-up", "inbox_dead", ALERT_CRITICAL, 0, 0, 0, true,
         "Inbox messages failed for good and are waiting for a person."),
    RULE("jobs-gave-up", "jobs_dead", ALERT_WARNING, 0, 0, 0, false,
         "Jobs failed for good and are waiting for a person."),
    RULE("leases-per-worker", "leases_per_worker", ALERT_WARNING, 100, 60000, 60000, true,
         "Workers hold more leases than they should."),
    RULE("memory-limit", "memory_used_percent", ALERT_WARNING, 95, 60000, 60000, true,
         "Memory is running out on the machine that evaluated the rules."),
    RULE("outbox-backlog", "outbox_ready", ALERT_WARNING, 10000, 60000, 60000, true,
         "The outbox backlog is growing."),
    RULE("outbox-gave-up", "outbox_dead", ALERT_CRITICAL, 0, 0, 0, true,
         "Outbox messages failed for good and are waiting for a person."),
    RULE("perspectives-failed", "perspectives_failed", ALERT_WARNING, 0, 60000, 60000, true,
         "Perspectives have failed and are out of date."),
    RULE("queue-stagnant", "oldest_ready_s", ALERT_WARNING, 600, 60000, 60000, true,
         "Work has been waiting for more than 10 minutes."),
    RULE("stale-leases", "leases_overdue", ALERT_CRITICAL, 0, 30000, 60000, true,
         "Leases have expired and the work was not recovered: workers crashed or are stuck."),
    RULE("worker-lost", "workers_lost", ALERT_WARNING, 0, 0, 60000, true,
         "A worker fell silent without deregistering."),
    RULE("workers-missing", "work_unserved", ALERT_CRITICAL, 0, 60000, 0, true,
         "Work is waiting and no live worker handles it."),
};
const size_t alert_defaults_count = sizeof alert_defaults / sizeof *alert_defaults;

static bool beyond(const struct alert_rule *rule, int64_t value, int64_t limit) {
    return rule->side == ALERT_ABOVE ? value > limit : value < limit;
}

struct alert_move alert_step(const struct alert_rule *rule, bool silenced, int64_t value, int64_t now_ms,
                             struct alert_state *state) {
    bool firing = state->phase == ALERT_FIRING;
    bool holds = rule->enabled && beyond(rule, value, firing ? rule->clear_threshold : rule->threshold);
    int64_t wait_ms = !rule->enabled ? 0 : firing ? rule->clear_ms : rule->for_ms;
    struct alert_move move = {ALERT_NOTHING, false};
    state->value = value;
    if (state->since_ms == 0) {
        state->phase = ALERT_OK;
        state->since_ms = now_ms;
    }
    if (holds == firing)
        state->turning_ms = 0;
    else if (state->turning_ms == 0)
        state->turning_ms = now_ms;
    if (holds != firing && now_ms - state->turning_ms >= wait_ms) {
        state->phase = firing ? ALERT_OK : ALERT_FIRING;
        state->since_ms = now_ms;
        state->turning_ms = 0;
        move.event = firing ? ALERT_RESOLVED : ALERT_FIRED;
        move.tell = firing && state->told;
        state->told = false;
    }
    if (state->phase == ALERT_FIRING && !state->told && !silenced) {
        move = (struct alert_move){ALERT_FIRED, true};
        state->told = true;
    }
    return move;
}

size_t alert_targets(pawl_str targets, bool (*take)(void *self, pawl_str name), void *self) {
    size_t count = 0;
    pawl_str name;
    for (bool goes_on = true; goes_on && str_next(&targets, ',', &name); count++)
        goes_on = take(self, str_trim(name));
    return count;
}

pawl_status alert_name_check(pawl_str name, const char *what, pawl_error *err) {
    bool right = name.len > 0 && name.len <= PAWL_ALERT_NAME_BYTES_MAX;
    for (size_t i = 0; right && i < name.len; i++) {
        char c = name.ptr[i];
        right = char_is_alnum(c) || c == '-' || c == '_' || c == '.';
    }
    if (right)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "alerts",
                     "'%.*s' is not the name of %s: use 1 to %d letters, digits, '-', '_' and '.'",
                     STR_ARG(name), what, PAWL_ALERT_NAME_BYTES_MAX);
}

struct target_check {
    pawl_status status;
    pawl_error *err;
};

static bool check_target(void *self, pawl_str name) {
    struct target_check *check = self;
    check->status = alert_name_check(name, "a target", check->err);
    return check->status == PAWL_OK;
}

static pawl_status check_hold(int64_t hold_ms, const char *what, pawl_error *err) {
    if (hold_ms >= 0 && hold_ms <= PAWL_ALERT_HOLD_MS_MAX)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "alerts", "%s is %lld ms; it must be from 0 to %d", what,
                     (long long)hold_ms, PAWL_ALERT_HOLD_MS_MAX);
}

pawl_status alert_rule_check(const struct alert_rule *rule, pawl_error *err) {
    struct target_check check = {PAWL_OK, err};
    pawl_status status = alert_name_check(rule->name, "a rule", err);
    if (status != PAWL_OK)
        return status;
    if (alert_metric_find(rule->metric) == METRIC_COUNT)
        return error_set(err, PAWL_INVALID, "alerts",
                         "there is no metric '%.*s'; pawl alert metrics lists them", STR_ARG(rule->metric));
    if ((rule->side != ALERT_ABOVE && rule->side != ALERT_BELOW) ||
        (rule->severity != ALERT_WARNING && rule->severity != ALERT_CRITICAL))
        return error_set(err, PAWL_INVALID, "alerts",
                         "side is above or below, severity is warning or critical");
    if (beyond(rule, rule->clear_threshold, rule->threshold))
        return error_set(err, PAWL_INVALID, "alerts",
                         "the rule would fire and never resolve: the value at which it resolves (%lld) is "
                         "beyond the threshold (%lld)",
                         (long long)rule->clear_threshold, (long long)rule->threshold);
    status = check_hold(rule->for_ms, "for", err);
    if (status == PAWL_OK)
        status = check_hold(rule->clear_ms, "clear", err);
    if (status == PAWL_OK && alert_targets(rule->targets, check_target, &check) > PAWL_ALERT_TARGETS_MAX)
        return error_set(err, PAWL_INVALID, "alerts", "a rule has at most %d targets",
                         PAWL_ALERT_TARGETS_MAX);
    if (status == PAWL_OK && check.status == PAWL_OK &&
        (rule->summary.len > PAWL_ALERT_SUMMARY_BYTES_MAX || !utf8_valid(rule->summary, false, NULL)))
        return error_set(err, PAWL_INVALID, "alerts", "the summary is not UTF-8 text of at most %d bytes",
                         PAWL_ALERT_SUMMARY_BYTES_MAX);
    return status == PAWL_OK ? check.status : status;
}

enum { FIELDS = 5, SAMPLE_APART_MS = PAWL_ALERT_WINDOW_MS / (ALERT_WINDOW_SAMPLES - 10) };

void alert_window_read(struct alert_window *window, pawl_str text) {
    window->count = 0;
    for (pawl_str line, word; window->count < ALERT_WINDOW_SAMPLES && str_next(&text, '\n', &line);) {
        int64_t fields[FIELDS] = {0};
        for (int i = 0; i < FIELDS; i++) {
            if (!str_next(&line, ' ', &word) || !str_to_i64(word, INT64_MIN, INT64_MAX, &fields[i]))
                return;
        }
        window->samples[window->count++] =
            (struct alert_totals){fields[0], fields[1], fields[2], fields[3], fields[4]};
    }
}

void alert_window_write(const struct alert_window *window, struct buf *text) {
    for (size_t i = 0; i < window->count; i++) {
        const struct alert_totals *sample = &window->samples[i];
        buf_printf(text, "%lld %lld %lld %lld %lld\n", (long long)sample->at_ms, (long long)sample->done,
                   (long long)sample->failed, (long long)sample->lost, (long long)sample->stale);
    }
}

void alert_window_add(struct alert_window *window, const struct alert_totals *now) {
    size_t old = 0;
    /* The newest sample that is at least a window old is the baseline of the sums. */
    while (old + 1 < window->count && now->at_ms - window->samples[old + 1].at_ms >= PAWL_ALERT_WINDOW_MS)
        old++;
    if (old == 0 && window->count == ALERT_WINDOW_SAMPLES)
        old = 1;
    memmove(window->samples, window->samples + old, (window->count - old) * sizeof *window->samples);
    window->count -= old;
    if (window->count > 0 && now->at_ms - window->samples[window->count - 1].at_ms < SAMPLE_APART_MS)
        return;
    window->samples[window->count++] = *now;
}

static int64_t more(int64_t now, int64_t before) { return now > before ? now - before : 0; }

struct alert_totals alert_window_sums(const struct alert_window *window, const struct alert_totals *now) {
    if (window->count == 0)
        return (struct alert_totals){.at_ms = now->at_ms};
    const struct alert_totals *first = &window->samples[0];
    return (struct alert_totals){.at_ms = first->at_ms,
                                 .done = more(now->done, first->done),
                                 .failed = more(now->failed, first->failed),
                                 .lost = more(now->lost, first->lost),
                                 .stale = more(now->stale, first->stale)};
}
