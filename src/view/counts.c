/* The gauges and counters of messages and jobs: their names, as columns, in JSON and as metrics. */
#include "view/counts.h"

#include <stdio.h>
#include <string.h>

#include "base/time/clock.h"
#include "view/output/row.h"

#define ROW struct kind_counts
static const struct count of_messages[] = {
    {{.key = "ready", INT_OF(ready)},
     "pawl_messages_ready",
     false,
     "Messages that wait for their lane's owner."},
    {{.key = "leased", INT_OF(leased)}, "pawl_messages_leased", false, "Messages in flight (ActiveLeases)."},
    {{.key = "aside", INT_OF(aside)},
     "pawl_messages_aside",
     false,
     "Messages that wait for another attempt, or behind such a message."},
    {{.key = "dead", INT_OF(dead)}, "pawl_messages_dead", false, "Dead letters."},
    {.column = {.key = "oldest_ready", TIME_OF(oldest_ready_ms), .drop = 1}},
    {.column = {.key = "lanes_free", INT_OF(lanes_free), .drop = 2}},
    {{.key = "claims_active", INT_OF(claims_active), .show = SHOW_WIDE},
     "pawl_claims_active",
     false,
     "Claims that are in force."},
    {{.key = "claims_overdue", INT_OF(claims_overdue), .drop = 3},
     "pawl_claims_overdue",
     false,
     "Claims whose lease has expired and that no worker has recovered yet (StaleLeases)."},
    {{.key = "put", INT_OF(put), .show = SHOW_WIDE},
     "pawl_messages_put",
     true,
     "Messages put (OutboxStored, InboxReceived)."},
    {{.key = "done", INT_OF(done), .show = SHOW_WIDE},
     "pawl_messages_done",
     true,
     "Messages completed (OutboxPublished, InboxCompleted)."},
    {{.key = "failed", INT_OF(failed)},
     "pawl_messages_failed",
     true,
     "Attempts that failed (OutboxFailed, InboxFailed)."},
    {{.key = "stale", INT_OF(stale), .show = SHOW_WIDE},
     "pawl_reports_stale",
     true,
     "Reports whose grant had ended."},
    {{.key = "duplicate", INT_OF(duplicate), .show = SHOW_WIDE},
     "pawl_messages_duplicate",
     true,
     "Messages that the inbox knew already."},
    {{.key = "redriven", INT_OF(redriven), .show = SHOW_WIDE},
     "pawl_messages_redriven",
     true,
     "Dead letters that were redriven."},
    {{.key = "discarded", INT_OF(discarded), .show = SHOW_WIDE},
     "pawl_messages_discarded",
     true,
     "Dead letters that were given up."},
};
#undef ROW

#define ROW struct job_counts
static const struct count of_jobs[] = {
    {{.key = "ready", INT_OF(ready)}, "pawl_jobs_ready", false, "Jobs that are due."},
    {{.key = "running", INT_OF(running)}, "pawl_jobs_running", false, "Jobs that are leased."},
    {{.key = "later", INT_OF(later)}, "pawl_jobs_later", false, "Jobs that are not due yet."},
    {{.key = "waiting", INT_OF(waiting)}, "pawl_jobs_waiting", false, "Jobs that wait for a signal."},
    {{.key = "dead", INT_OF(dead)}, "pawl_jobs_dead", false, "Jobs that failed for good."},
    {.column = {.key = "oldest_ready", TIME_OF(oldest_ready_ms)}},
    {{.key = "put", INT_OF(put)}, "pawl_jobs_put", true, "Jobs enqueued."},
    {{.key = "done", INT_OF(done)}, "pawl_jobs_done", true, "Jobs that succeeded (tasks_succeeded)."},
    {{.key = "failed", INT_OF(failed)},
     "pawl_jobs_failed",
     true,
     "Attempts that failed (tasks_failed, tasks_retried)."},
    {{.key = "lost", INT_OF(lost)},
     "pawl_jobs_lost",
     true,
     "Attempts that ended with their worker or lease (leases_expired)."},
    {{.key = "died", INT_OF(died)}, "pawl_jobs_died", true, "Jobs that became dead."},
    {{.key = "cancelled", INT_OF(cancelled)}, "pawl_jobs_cancelled", true, "Jobs that were cancelled."},
    {{.key = "redriven", INT_OF(redriven)}, "pawl_jobs_redriven", true, "Dead jobs that were let run again."},
    {{.key = "discarded", INT_OF(discarded)}, "pawl_jobs_discarded", true, "Dead jobs that were given up."},
    {{.key = "stale", INT_OF(stale)},
     "pawl_job_reports_stale",
     true,
     "Reports of jobs whose grant had ended."},
};
#undef ROW

const struct count_table message_counts = {of_messages, sizeof of_messages / sizeof *of_messages};
const struct count_table job_counts = {of_jobs, sizeof of_jobs / sizeof *of_jobs};

int64_t count_value(const struct count *count, const void *counts) {
    const char *at = (const char *)counts + count->column.member.offset;
    return count->column.member.type == MEMBER_INT ? *(const int *)at : *(const int64_t *)at;
}

void job_counts_add(struct job_counts *sum, const struct job_counts *more) {
    int64_t older_ms = more->oldest_ready_ms > 0 &&
                               (sum->oldest_ready_ms == 0 || more->oldest_ready_ms < sum->oldest_ready_ms)
                           ? more->oldest_ready_ms
                           : sum->oldest_ready_ms;
    for (size_t i = 0; i < job_counts.count; i++)
        *(int64_t *)((char *)sum + of_jobs[i].column.member.offset) += count_value(&of_jobs[i], more);
    sum->oldest_ready_ms = older_ms;
}

void counts_write_time(struct json_writer *json, const char *key, int64_t wall_ms) {
    char name[32], text[CLOCK_ISO_BYTES];
    snprintf(name, sizeof name, "%s_ms", key);
    json_key(json, name);
    if (wall_ms != 0)
        json_int(json, wall_ms);
    else
        json_null(json);
    snprintf(name, sizeof name, "%s_at", key);
    json_key(json, name);
    json_cstr(json, wall_ms != 0 ? clock_format_iso(wall_ms, text) : NULL);
}

void counts_write(struct json_writer *json, struct count_table table, const void *counts, int64_t now_ms) {
    for (size_t i = 0; i < table.count; i++) {
        const struct count *row = &table.rows[i];
        int64_t value = count_value(row, counts);
        if (row->column.type == CELL_TIME) {
            counts_write_time(json, row->column.key, value);
            json_key(json, "oldest_age_ms");
            json_int(json, value > 0 && now_ms > value ? now_ms - value : 0);
        } else {
            json_key(json, row->column.key);
            json_int(json, value);
        }
    }
}
