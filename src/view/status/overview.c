/* Reading the state of the whole system and writing it as JSON. */
#include "view/status/overview.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "view/counts.h"
#include "view/fleet.h"
#include "view/names.h"

/* Queues beyond the limit are combined into one, so that sums over all queues are correct. */
static void add_queue(struct overview *made, const struct job_counts *counts) {
    if (made->queue_count < OVERVIEW_QUEUES_MAX) {
        struct overview_queue *queue = &made->queues[made->queue_count++];
        queue->counts = *counts;
        snprintf(queue->name, sizeof queue->name, "%.*s", STR_ARG(counts->queue));
        return;
    }
    struct overview_queue *last = &made->queues[OVERVIEW_QUEUES_MAX - 1];
    job_counts_add(&last->counts, counts);
    snprintf(last->name, sizeof last->name, "%s", "(other queues)");
}

pawl_status overview_read(struct store *store, struct arena *arena, struct overview *out,
                          struct instance_rows *instances, pawl_error *err) {
    struct job_counts_list queues;
    struct rollup_cells rollups;
    struct overview made = {.queue_count = 0};
    TRY(store->ops->view.counts(store, &made.counts, err));
    TRY(store->ops->view.instances(store, arena, instances, err));
    TRY(store->ops->jobs->counts(store, arena, &queues, err));
    TRY(store->ops->view.rollups(store, arena, &rollups, err));
    made.latency = latency_of(&rollups);
    for (size_t i = 0; i < instances->count; i++) {
        const struct instance_row *row = &instances->rows[i];
        made.instances[instance_standing(row, made.counts.now_ms)]++;
        made.in_flight += row->in_flight;
        for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
            made.lanes_owned += row->lanes[kind];
    }
    for (size_t i = 0; i < queues.count; i++)
        add_queue(&made, &queues.queues[i]);
    *out = made;
    return PAWL_OK;
}

static void number(struct json_writer *json, const char *key, int64_t value) {
    json_key(json, key);
    json_int(json, value);
}

static void rate(struct json_writer *json, const struct count *count, int64_t grown, int64_t span_ms) {
    char key[32];
    snprintf(key, sizeof key, "%s_per_s", count->column.key);
    json_key(json, key);
    int64_t tenths = span_ms > 0 ? (grown * 10000 + span_ms / 2) / span_ms : 0;
    if (span_ms <= 0)
        json_null(json);
    else
        json_double(json, (double)tenths / 10.0);
}

/* An object with every count, and how fast those of put, done and failed grew; old NULL: not known. */
static void write_counts(struct json_writer *json, struct count_table table, const void *counts,
                         const void *old, const struct overview *now, const struct overview *before) {
    static const char *const rated[] = {"put", "done", "failed"};
    int64_t span_ms = old != NULL && before != NULL ? now->counts.now_ms - before->counts.now_ms : 0;
    counts_write(json, table, counts, now->counts.now_ms);
    for (size_t i = 0; i < sizeof rated / sizeof *rated; i++)
        for (size_t row = 0; row < table.count; row++)
            if (strcmp(table.rows[row].column.key, rated[i]) == 0)
                rate(json, &table.rows[row],
                     count_value(&table.rows[row], counts) -
                         count_value(&table.rows[row], old != NULL ? old : counts),
                     span_ms);
    json_end_object(json);
}

static const struct job_counts *queue_before(const struct overview *before, const char *name) {
    for (size_t i = 0; before != NULL && i < before->queue_count; i++)
        if (strcmp(before->queues[i].name, name) == 0)
            return &before->queues[i].counts;
    return NULL;
}

void overview_kinds(struct json_writer *json, const struct overview *now, const struct overview *before) {
    json_begin_array(json);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        json_begin_object(json);
        json_key(json, "kind");
        json_cstr(json, kind_name((enum store_kind)kind));
        write_counts(json, message_counts, &now->counts.kind[kind],
                     before != NULL ? &before->counts.kind[kind] : NULL, now, before);
    }
    json_end_array(json);
}

void overview_queues(struct json_writer *json, const struct overview *now, const struct overview *before) {
    json_begin_array(json);
    for (size_t i = 0; i < now->queue_count; i++) {
        json_begin_object(json);
        json_key(json, "queue");
        json_cstr(json, now->queues[i].name);
        write_counts(json, job_counts, &now->queues[i].counts, queue_before(before, now->queues[i].name), now,
                     before);
    }
    json_end_array(json);
}

void overview_write(struct json_writer *json, const struct overview *now, const struct overview *before,
                    const struct latency *while_ago) {
    counts_write_time(json, "now", now->counts.now_ms);
    number(json, "instances_active", now->instances[0]);
    number(json, "instances_silent", now->instances[1]);
    number(json, "instances_evicted", now->instances[2]);
    number(json, "in_flight", now->in_flight);
    json_key(json, "kinds");
    overview_kinds(json, now, before);
    json_key(json, "queues");
    overview_queues(json, now, before);
    json_key(json, "latency");
    latency_write(json, &now->latency, while_ago);
}

void overview_changes(struct json_writer *json, const struct overview *now, const struct overview *before) {
    bool messages = false, dead = false, jobs = before != NULL && now->queue_count != before->queue_count;
    for (int kind = KIND_OUTBOX; before != NULL && kind <= KIND_COUNT; kind++) {
        const struct kind_counts *a = &now->counts.kind[kind], *b = &before->counts.kind[kind];
        messages = messages || a->put != b->put || a->done != b->done || a->aside != b->aside ||
                   a->leased != b->leased || a->failed != b->failed;
        dead = dead || a->dead != b->dead || a->redriven != b->redriven || a->discarded != b->discarded;
    }
    for (size_t i = 0; before != NULL && i < now->queue_count; i++) {
        const struct job_counts *a = &now->queues[i].counts, *b = queue_before(before, now->queues[i].name);
        jobs = jobs || b == NULL ||
               memcmp(&a->ready, &b->ready, sizeof *a - offsetof(struct job_counts, ready)) != 0;
        dead = dead || b == NULL || a->dead != b->dead;
    }
    bool instances = before != NULL &&
                     (memcmp(now->instances, before->instances, sizeof now->instances) != 0 ||
                      now->lanes_owned != before->lanes_owned);
    json_key(json, "changes");
    json_begin_array(json);
    if (messages)
        json_cstr(json, "messages");
    if (dead)
        json_cstr(json, "dead");
    if (jobs)
        json_cstr(json, "jobs");
    if (instances)
        json_cstr(json, "instances");
    json_end_array(json);
}
