/* What pawl monitor shows, as lines of text that fit a screen. */
#include "cli/fleet/monitor_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "view/fleet.h"
#include "view/names.h"
#include "view/output/grid.h"
#include "work/alerts/round.h"

pawl_status monitor_look(struct store *store, struct arena *arena, struct monitor_look *look,
                         pawl_error *err) {
    TRY(store->ops->view.fleet(store, arena, &look->facts, err));
    return store->ops->alerts->rules(store, (pawl_str){NULL, 0}, arena, &look->alerts, err);
}

struct monitor_totals monitor_totals(const struct monitor_look *look) {
    struct monitor_totals totals = {.at_ms = look->facts.counts.now_ms};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        totals.put += look->facts.counts.kind[kind].put;
        totals.done += look->facts.counts.kind[kind].done;
        totals.failed += look->facts.counts.kind[kind].failed;
    }
    for (size_t i = 0; i < look->facts.queues.count; i++) {
        totals.put += look->facts.queues.queues[i].put;
        totals.done += look->facts.queues.queues[i].done;
        totals.failed += look->facts.queues.queues[i].failed;
    }
    return totals;
}

/* Sums that every form shows. */
struct sums {
    int64_t ready, leased, dead, overdue, oldest_ms, lag_ms;
    double put, done, failed; /* per second */
    int64_t workers[3];       /* active, silent, evicted */
    int64_t firing;
};

static double rate(int64_t now, int64_t before, int64_t span_ms) {
    return span_ms > 0 && now > before ? (double)(now - before) * 1000.0 / (double)span_ms : 0;
}

static void older(int64_t *age_ms, int64_t now_ms, int64_t since_ms) {
    if (since_ms > 0 && now_ms - since_ms > *age_ms)
        *age_ms = now_ms - since_ms;
}

static struct sums sum_up(const struct monitor_look *look, const struct monitor_totals *before) {
    struct sums sums = {.ready = 0};
    struct monitor_totals now = monitor_totals(look);
    int64_t span_ms = before != NULL ? now.at_ms - before->at_ms : 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        const struct kind_counts *counts = &look->facts.counts.kind[kind];
        sums.ready += counts->ready + counts->aside;
        sums.leased += counts->leased;
        sums.dead += counts->dead;
        sums.overdue += counts->claims_overdue;
        older(&sums.oldest_ms, look->facts.counts.now_ms, counts->oldest_ready_ms);
    }
    for (size_t i = 0; i < look->facts.queues.count; i++) {
        const struct job_counts *counts = &look->facts.queues.queues[i];
        sums.ready += counts->ready;
        sums.leased += counts->running;
        sums.dead += counts->dead;
        older(&sums.oldest_ms, look->facts.queues.now_ms, counts->oldest_ready_ms);
    }
    for (size_t i = 0; i < look->facts.perspectives.count; i++) {
        if (look->facts.perspectives.rows[i].lag_ms > sums.lag_ms)
            sums.lag_ms = look->facts.perspectives.rows[i].lag_ms;
    }
    for (size_t i = 0; i < look->facts.instances.count; i++) {
        sums.workers[instance_standing(&look->facts.instances.rows[i], look->facts.counts.now_ms)]++;
    }
    for (size_t i = 0; i < look->alerts.count; i++)
        sums.firing += look->alerts.rows[i].state.phase == ALERT_FIRING;
    if (before != NULL) {
        sums.put = rate(now.put, before->put, span_ms);
        sums.done = rate(now.done, before->done, span_ms);
        sums.failed = rate(now.failed, before->failed, span_ms);
    }
    return sums;
}

/* The names of the rules that fire, joined. */
static void firing_names(const struct monitor_look *look, struct buf *out) {
    const char *between = "";
    for (size_t i = 0; i < look->alerts.count; i++) {
        const struct alert_row *row = &look->alerts.rows[i];
        if (row->state.phase != ALERT_FIRING)
            continue;
        buf_printf(out, "%s%.*s", between, STR_ARG(row->rule.name));
        between = ",";
    }
}

void monitor_line(const struct monitor_look *look, const struct monitor_totals *before, struct buf *out) {
    struct sums sums = sum_up(look, before);
    buf_printf(out,
               "ready=%" PRId64 " leased=%" PRId64 " dead=%" PRId64 " overdue=%" PRId64 " oldest_s=%" PRId64
               " lag_s=%" PRId64 " put/s=%.1f done/s=%.1f failed/s=%.1f workers=%" PRId64 " silent=%" PRId64
               " alerts=%" PRId64,
               sums.ready, sums.leased, sums.dead, sums.overdue, sums.oldest_ms / 1000, sums.lag_ms / 1000,
               sums.put, sums.done, sums.failed, sums.workers[0], sums.workers[1], sums.firing);
    if (sums.firing > 0) {
        buf_append_cstr(out, " firing=");
        firing_names(look, out);
    }
}

static void number(struct json_writer *json, const char *key, int64_t value) {
    json_key(json, key);
    json_int(json, value);
}

static void fraction(struct json_writer *json, const char *key, double value) {
    json_key(json, key);
    json_double(json, (double)(int64_t)(value * 10 + 0.5) / 10);
}

void monitor_json(const struct monitor_look *look, const struct monitor_totals *before, struct buf *out) {
    struct sums sums = sum_up(look, before);
    struct json_writer json;
    json_writer_init(&json, out);
    json_begin_object(&json);
    number(&json, "now_ms", look->facts.counts.now_ms);
    number(&json, "ready", sums.ready);
    number(&json, "leased", sums.leased);
    number(&json, "dead", sums.dead);
    number(&json, "claims_overdue", sums.overdue);
    number(&json, "oldest_age_ms", sums.oldest_ms);
    number(&json, "lag_ms", sums.lag_ms);
    fraction(&json, "put_per_s", sums.put);
    fraction(&json, "done_per_s", sums.done);
    fraction(&json, "failed_per_s", sums.failed);
    number(&json, "workers_active", sums.workers[0]);
    number(&json, "workers_silent", sums.workers[1]);
    number(&json, "workers_evicted", sums.workers[2]);
    json_key(&json, "alerts");
    json_begin_array(&json);
    for (size_t i = 0; i < look->alerts.count; i++) {
        if (look->alerts.rows[i].state.phase == ALERT_FIRING)
            json_str(&json, look->alerts.rows[i].rule.name);
    }
    json_end_array(&json);
    json_end_object(&json);
}

/* ---- The screen */

struct screen {
    struct buf *out;
    int columns, rows, used;
};

/* One line, cut to the width; what others wrote is escaped. Past the last row nothing is written. */
static void line(struct screen *screen, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line(struct screen *screen, const char *fmt, ...) {
    va_list args;
    if (screen->used >= screen->rows)
        return;
    AUTO_BUF(text, 0);
    AUTO_BUF(safe, 0);
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    grid_escape(&safe, buf_str(&text));
    size_t at = 0;
    for (int shown = 0; at < safe.len && shown < screen->columns; shown++) {
        at++;
        while (at < safe.len && ((unsigned char)safe.ptr[at] & 0xc0) == 0x80)
            at++;
    }
    buf_append(screen->out, safe.ptr, at);
    buf_append_char(screen->out, '\n');
    screen->used++;
}

static void show_work(struct screen *screen, const struct monitor_look *look) {
    line(screen, "%s", "");
    line(screen, "%-14s %9s %9s %9s %9s %9s", "WORK", "READY", "LEASED", "ASIDE", "DEAD", "OLDEST");
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        const struct kind_counts *counts = &look->facts.counts.kind[kind];
        line(screen, "%-14s %9" PRId64 " %9" PRId64 " %9" PRId64 " %9" PRId64 " %8" PRId64 "s",
             kind_name((enum store_kind)kind), counts->ready, counts->leased, counts->aside, counts->dead,
             fleet_age_s(look->facts.counts.now_ms, counts->oldest_ready_ms));
    }
    for (size_t i = 0; i < look->facts.queues.count; i++) {
        const struct job_counts *counts = &look->facts.queues.queues[i];
        line(screen, "jobs %-9.*s %9" PRId64 " %9" PRId64 " %9" PRId64 " %9" PRId64 " %8" PRId64 "s",
             STR_ARG(counts->queue), counts->ready, counts->running,
             job_counts_unfinished(counts) - counts->ready - counts->running, counts->dead,
             fleet_age_s(look->facts.queues.now_ms, counts->oldest_ready_ms));
    }
}

static void show_alerts(struct screen *screen, const struct monitor_look *look, const struct sums *sums) {
    line(screen, "%s", "");
    line(screen, "ALERTS %" PRId64 " firing", sums->firing);
    for (size_t i = 0; i < look->alerts.count; i++) {
        const struct alert_row *row = &look->alerts.rows[i];
        if (row->state.phase == ALERT_FIRING)
            line(screen, "  %s %.*s: %.*s is %" PRId64 ", since %" PRId64 "s",
                 alert_state_name(row, look->alerts.now_ms), STR_ARG(row->rule.name),
                 STR_ARG(row->rule.metric), row->state.value,
                 fleet_age_s(look->alerts.now_ms, row->state.since_ms));
    }
}

static void show_workers(struct screen *screen, const struct monitor_look *look, const struct sums *sums) {
    line(screen, "%s", "");
    line(screen, "WORKERS %" PRId64 " active, %" PRId64 " silent, %" PRId64 " evicted", sums->workers[0],
         sums->workers[1], sums->workers[2]);
    for (size_t i = 0; i < look->facts.instances.count; i++) {
        const struct instance_row *row = &look->facts.instances.rows[i];
        char id[UUID_TEXT_BYTES];
        line(screen, "  %s %-8s beat %" PRId64 "s, %d claims, %d in flight, %d jobs, %.*s on %.*s",
             uuid_format(row->id, id), instance_state_name(row, look->facts.counts.now_ms),
             row->beat_age_ms / 1000, row->claims, row->in_flight, row->jobs, STR_ARG(row->service),
             STR_ARG(row->host));
    }
}

void monitor_screen(const struct monitor_look *look, const struct monitor_totals *before, int columns,
                    int rows, struct buf *out) {
    struct screen screen = {out, columns, rows, 0};
    struct sums sums = sum_up(look, before);
    line(&screen, "pawl: done %.1f/s  put %.1f/s  failed %.1f/s", sums.done, sums.put, sums.failed);
    line(&screen,
         "waiting %" PRId64 "  in flight %" PRId64 "  dead %" PRId64 "  oldest %" PRId64 "s  lag %" PRId64
         "s  overdue leases %" PRId64,
         sums.ready, sums.leased, sums.dead, sums.oldest_ms / 1000, sums.lag_ms / 1000, sums.overdue);
    show_alerts(&screen, look, &sums);
    show_work(&screen, look);
    show_workers(&screen, look, &sums);
}
