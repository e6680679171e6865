/* Operations on runs on PostgreSQL, each a call of one SQL function. */
#include "store/check/runs.h"
#include "base/buf.h"
#include "base/json/json.h"
#include "base/str.h"
#include "store/postgres/query.h"
#include "store/run_words.h"

/* A member that is left out when it says nothing. */
static void put_text(struct json_writer *w, const char *name, pawl_str text) {
    if (str_absent(text))
        return;
    json_key(w, name);
    json_str(w, text);
}

static void put_json(struct json_writer *w, const char *name, pawl_str json) {
    if (str_absent(json))
        return;
    json_key(w, name);
    json_raw(w, json);
}

static void put_number(struct json_writer *w, const char *name, int64_t number) {
    json_key(w, name);
    json_int(w, number);
}

static void put_flag(struct json_writer *w, const char *name, bool flag) {
    json_key(w, name);
    json_bool(w, flag);
}

static void write_options(struct json_writer *w, const struct run_start *in) {
    static const char *const ends[] = {"handler", "handler", "short_page"};
    static const char *const policies[] = {"skip", "skip", "partial", "wait"};
    json_begin_object(w);
    put_text(w, "key", in->key);
    put_text(w, "consolidate", in->consolidate);
    put_text(w, "announce", in->announce);
    put_json(w, "params", in->params);
    put_json(w, "spec", in->spec);
    put_text(w, "target", in->target);
    put_text(w, "agent", in->agent);
    put_text(w, "queue", in->queue);
    put_text(w, "traceparent", in->traceparent);
    put_text(w, "wait_key", in->wait_key);
    put_number(w, "parent", in->parent);
    put_number(w, "page_size", in->page_size);
    put_number(w, "concurrency", in->concurrency);
    put_number(w, "rate", in->rate);
    put_number(w, "rate_ms", in->rate_ms);
    put_flag(w, "paced", in->paced);
    put_number(w, "deadline_ms", in->deadline_ms);
    put_number(w, "max_attempts", in->max_attempts);
    put_number(w, "priority", in->priority);
    put_flag(w, "audit", (in->flags & JOB_AUDIT) != 0);
    put_flag(w, "events", (in->flags & JOB_EVENTS) != 0);
    put_text(w, "end", str_from(ends[in->end]));
    put_text(w, "policy", str_from(policies[in->policy]));
    json_end_object(w);
}

static void write_partitions(struct json_writer *w, const struct run_start *in) {
    json_begin_array(w);
    for (size_t i = 0; i < in->count; i++) {
        const struct partition_new *part = &in->partitions[i];
        json_begin_object(w);
        put_text(w, "name", part->name);
        put_json(w, "params", part->params);
        if (part->bounded) {
            put_number(w, "low", part->low);
            put_number(w, "high", part->high);
        }
        put_number(w, "total", part->total);
        put_number(w, "offset", part->offset);
        put_json(w, "cursor", part->cursor);
        json_end_object(w);
    }
    json_end_array(w);
}

pawl_status postgres_runs_start(struct store *store, const struct run_start *in, struct run_started *out,
                                pawl_error *err) {
    struct buf options, partitions;
    struct json_writer w;
    struct query q = pg_write(store, POSTGRES_Q_RUN_START, "run_start", NULL, check_run_start(in, err));
    if (q.status != PAWL_OK)
        return q.status;
    buf_init(&options, 0);
    buf_init(&partitions, 0);
    json_writer_init(&w, &options);
    write_options(&w, in);
    json_writer_init(&w, &partitions);
    write_partitions(&w, in);
    q.status = buf_status(&options, q.op, err);
    if (q.status == PAWL_OK)
        q.status = buf_status(&partitions, q.op, err);
    SEND(&q, in->name, in->type, JSON_OF(buf_str(&partitions)), JSON_OF(buf_str(&options)));
    pawl_status status = pg_row(&q, &run_started_shape, out, err);
    buf_free(&options);
    buf_free(&partitions);
    return status;
}

pawl_status postgres_runs_page_begin(struct store *store, const struct page_ref *in, struct arena *arena,
                                     struct page *out, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_PAGE_BEGIN, "page_begin", arena, check_page_ref("page_begin", in, err));
    SEND(&q, ROW_OF(page_ref_shape, in));
    return pg_row(&q, &page_shape, out, err);
}

pawl_status postgres_runs_page_commit(struct store *store, const struct page_commit *in, struct arena *arena,
                                      struct page_result *out, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_PAGE_COMMIT, "page_commit", arena, check_page_commit(in, err));
    SEND(&q, ROW_OF(page_ref_shape, &in->ref), ROWS_OF(run_item_shape, in->items, in->count), in->more,
         in->cursor, in->fetch_ms);
    return pg_row(&q, &page_result_shape, out, err);
}

pawl_status postgres_runs_reset(struct store *store, const struct partition_reset *in, enum store_answer *out,
                                pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_RUN_RESET, "partition_reset", NULL, check_partition_reset(in, err));
    SEND(&q, ROW_OF(partition_reset_shape, in));
    return pg_answer(&q, out, err);
}

pawl_status postgres_runs_retry(struct store *store, const struct run_retry *in, struct run_retried *out,
                                pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RUN_RETRY, "run_retry", NULL, check_run_retry(in, err));
    SEND(&q, in->run, in->part);
    return pg_row(&q, &run_retried_shape, out, err);
}

pawl_status postgres_runs_pause(struct store *store, int64_t run, bool paused, enum store_answer *out,
                                pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RUN_PAUSE, "run_pause", NULL, PAWL_OK);
    SEND(&q, run, paused);
    return pg_answer(&q, out, err);
}

pawl_status postgres_runs_cancel(struct store *store, int64_t run, enum store_answer *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RUN_CANCEL, "run_cancel", NULL, PAWL_OK);
    SEND(&q, run);
    return pg_answer(&q, out, err);
}

pawl_status postgres_runs_pace(struct store *store, const struct run_pace *in, enum store_answer *out,
                               pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RUN_PACE, "run_pace", NULL, check_run_pace(in, err));
    SEND(&q, ROW_OF(run_pace_shape, in));
    return pg_answer(&q, out, err);
}

pawl_status postgres_runs_target_put(struct store *store, const struct run_target *in, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_RUN_TARGET_PUT, "target_put", NULL, check_run_target(in, err));
    SEND(&q, in->name, in->sql);
    return pg_done(&q, err);
}

pawl_status postgres_runs_target_remove(struct store *store, pawl_str name, pawl_error *err) {
    enum store_answer answer = ANSWER_APPLIED;
    struct query q = pg_write(store, POSTGRES_Q_RUN_TARGET_REMOVE, "target_remove", NULL, PAWL_OK);
    SEND(&q, name);
    pawl_status status = pg_answer(&q, &answer, err);
    if (status != PAWL_OK || answer == ANSWER_APPLIED)
        return status;
    return answer == ANSWER_CONFLICT ? run_target_used(name, err) : run_target_missing(name, err);
}

pawl_status postgres_runs_maintain(struct store *store, int rows_max, struct runs_maintain_result *out,
                                   pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_RUNS_MAINTAIN, "runs_maintain", NULL, check_run_rows_max(rows_max, err));
    SEND(&q, rows_max);
    return pg_row(&q, &runs_maintain_shape, out, err);
}
