/* Runs: what happens to them, each a call of one function. */
#include "store/check/runs.h"
#include "store/postgres/jobs/jobs.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
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
    struct brief brief;
    struct buf options, partitions;
    struct json_writer w;
    pawl_status status = check_run_start(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_RUN_START, "run_start", err);
    if (status != PAWL_OK)
        return status;
    buf_init(&options, 0);
    buf_init(&partitions, 0);
    json_writer_init(&w, &options);
    write_options(&w, in);
    json_writer_init(&w, &partitions);
    write_partitions(&w, in);
    status = buf_status(&options, "run_start", err);
    if (status == PAWL_OK)
        status = buf_status(&partitions, "run_start", err);
    if (status == PAWL_OK) {
        struct params *p = &brief.statement.params;
        pg_params_text(p, in->name);
        pg_params_text(p, in->type);
        pg_params_json(p, buf_str(&partitions));
        pg_params_json(p, buf_str(&options));
        status = pg_statement_run(postgres_of(store), "run_start", &brief.statement, EFFECT_WRITE, err);
    }
    if (status == PAWL_OK)
        *out = (struct run_started){
            .answer = (enum store_answer)pg_cell_int((struct cell){brief.statement.result, 0, 0}),
            .id = pg_cell_int((struct cell){brief.statement.result, 0, 1})};
    buf_free(&options);
    buf_free(&partitions);
    pg_brief_end(&brief);
    return status;
}

static void page_params(const struct page_ref *in, struct params *p) {
    pg_params_uuid(p, in->instance);
    pg_params_big(p, in->job.token);
    pg_params_big(p, in->job.id);
    pg_params_big(p, in->run);
    pg_params_int(p, in->part);
    pg_params_int(p, in->generation);
    pg_params_big(p, in->page);
}

#define CELL(column) ((struct cell){r, 0, (column)})
#define TEXT(column) pg_cell_text(CELL(column), arena, &failed)

pawl_status postgres_runs_page_begin(struct store *store, const struct page_ref *in, struct arena *arena,
                                     struct page *out, pawl_error *err) {
    pawl_status status = check_page_ref("page_begin", in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_PAGE_BEGIN, arena);
    page_params(in, &statement.params);
    status = pg_statement_run(postgres_of(store), "page_begin", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        bool failed = false;
        struct page page = {.answer = (enum store_answer)pg_cell_int(CELL(0)),
                            .outcome = (enum page_outcome)pg_cell_int(CELL(1)),
                            .skip = (enum page_skip)pg_cell_int(CELL(2)),
                            .run_key = TEXT(3),
                            .run_name = TEXT(4),
                            .run_params = TEXT(5),
                            .spec = TEXT(6),
                            .partition = TEXT(7),
                            .params = TEXT(8),
                            .cursor = TEXT(9),
                            .traceparent = TEXT(10),
                            .bounded = pg_cell_bool(CELL(11)),
                            .low = pg_cell_int(CELL(12)),
                            .high = pg_cell_int(CELL(13)),
                            .total = pg_cell_int(CELL(14)),
                            .offset = pg_cell_int(CELL(15)),
                            .next_offset = pg_cell_int(CELL(16)),
                            .deadline_ms = pg_cell_int(CELL(17)),
                            .limit = (int)pg_cell_int(CELL(18)),
                            .end = (enum end_rule)pg_cell_int(CELL(19)),
                            .agent = TEXT(20)};
        if (failed)
            status = pg_answer_no_memory("page_begin", err);
        else
            *out = page;
    }
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_runs_page_commit(struct store *store, const struct page_commit *in, struct arena *arena,
                                      struct page_result *out, pawl_error *err) {
    pawl_status status = check_page_commit(in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_PAGE_COMMIT, arena);
    struct params *p = &statement.params;
    page_params(&in->ref, p);
    pg_params_texts(p, STRIDED(in->items, key, in->count));
    pg_params_jsons(p, STRIDED(in->items, payload, in->count));
    pg_params_small(p, (int)in->more);
    pg_params_text(p, in->cursor);
    pg_params_big(p, in->fetch_ms);
    status = pg_statement_run(postgres_of(store), "page_commit", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        bool failed = false;
        struct page_result result = {.answer = (enum store_answer)pg_cell_int(CELL(0)),
                                     .outcome = (enum page_outcome)pg_cell_int(CELL(1)),
                                     .skip = (enum page_skip)pg_cell_int(CELL(2)),
                                     .next_offset = pg_cell_int(CELL(3)),
                                     .next_job = pg_cell_int(CELL(4)),
                                     .last = pg_cell_bool(CELL(5)),
                                     .error = TEXT(6)};
        if (failed)
            status = pg_answer_no_memory("page_commit", err);
        else
            *out = result;
    }
    pg_statement_clear(&statement);
    return status;
}

/* Runs a brief statement whose first cell is a number, which is given; ends it. */
static pawl_status brief_run(struct store *store, struct brief *brief, const char *op, int64_t *number,
                             pawl_error *err) {
    pawl_status status = pg_statement_run(postgres_of(store), op, &brief->statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *number = pg_cell_int((struct cell){brief->statement.result, 0, 0});
    pg_brief_end(brief);
    return status;
}

static pawl_status answer_run(struct store *store, struct brief *brief, const char *op,
                              enum store_answer *out, pawl_error *err) {
    int64_t answer = 0;
    pawl_status status = brief_run(store, brief, op, &answer, err);
    if (status == PAWL_OK)
        *out = (enum store_answer)answer;
    return status;
}

pawl_status postgres_runs_reset(struct store *store, const struct partition_reset *in, enum store_answer *out,
                                pawl_error *err) {
    struct brief brief;
    pawl_status status = check_partition_reset(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_RUN_RESET, "partition_reset", err);
    if (status != PAWL_OK)
        return status;
    struct params *p = &brief.statement.params;
    pg_params_big(p, in->run);
    pg_params_int(p, in->part);
    pg_params_big(p, in->offset);
    pg_params_text(p, in->cursor);
    return answer_run(store, &brief, "partition_reset", out, err);
}

pawl_status postgres_runs_retry(struct store *store, const struct run_retry *in, struct run_retried *out,
                                pawl_error *err) {
    struct brief brief;
    pawl_status status = check_run_retry(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_RUN_RETRY, "run_retry", err);
    if (status != PAWL_OK)
        return status;
    pg_params_big(&brief.statement.params, in->run);
    pg_params_int(&brief.statement.params, in->part);
    status = pg_statement_run(postgres_of(store), "run_retry", &brief.statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *out =
            (struct run_retried){(enum store_answer)pg_cell_int((struct cell){brief.statement.result, 0, 0}),
                                 (int)pg_cell_int((struct cell){brief.statement.result, 0, 1})};
    pg_brief_end(&brief);
    return status;
}

pawl_status postgres_runs_pause(struct store *store, int64_t run, bool paused, enum store_answer *out,
                                pawl_error *err) {
    struct brief brief;
    pawl_status status = pg_brief_begin(&brief, POSTGRES_Q_RUN_PAUSE, "run_pause", err);
    if (status != PAWL_OK)
        return status;
    pg_params_big(&brief.statement.params, run);
    pg_params_bool(&brief.statement.params, paused);
    return answer_run(store, &brief, "run_pause", out, err);
}

pawl_status postgres_runs_cancel(struct store *store, int64_t run, enum store_answer *out, pawl_error *err) {
    struct brief brief;
    pawl_status status = pg_brief_begin(&brief, POSTGRES_Q_RUN_CANCEL, "run_cancel", err);
    if (status != PAWL_OK)
        return status;
    pg_params_big(&brief.statement.params, run);
    return answer_run(store, &brief, "run_cancel", out, err);
}

pawl_status postgres_runs_pace(struct store *store, const struct run_pace *in, enum store_answer *out,
                               pawl_error *err) {
    struct brief brief;
    pawl_status status = check_run_pace(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_RUN_PACE, "run_pace", err);
    if (status != PAWL_OK)
        return status;
    struct params *p = &brief.statement.params;
    pg_params_big(p, in->run);
    pg_params_int(p, in->concurrency);
    pg_params_int(p, in->rate);
    pg_params_big(p, in->rate_ms);
    pg_params_big(p, in->hold_ms);
    return answer_run(store, &brief, "run_pace", out, err);
}

pawl_status postgres_runs_target_put(struct store *store, const struct run_target *in, pawl_error *err) {
    struct brief brief;
    int64_t ignored = 0;
    pawl_status status = check_run_target(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_RUN_TARGET_PUT, "target_put", err);
    if (status != PAWL_OK)
        return status;
    pg_params_text(&brief.statement.params, in->name);
    pg_params_text(&brief.statement.params, in->sql);
    return brief_run(store, &brief, "target_put", &ignored, err);
}

pawl_status postgres_runs_target_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct brief brief;
    int64_t answer = 0;
    pawl_status status = pg_brief_begin(&brief, POSTGRES_Q_RUN_TARGET_REMOVE, "target_remove", err);
    if (status != PAWL_OK)
        return status;
    pg_params_text(&brief.statement.params, name);
    status = brief_run(store, &brief, "target_remove", &answer, err);
    if (status != PAWL_OK || answer == ANSWER_APPLIED)
        return status;
    return answer == ANSWER_CONFLICT ? run_target_used(name, err) : run_target_missing(name, err);
}

pawl_status postgres_runs_maintain(struct store *store, int rows_max, struct runs_maintain_result *out,
                                   pawl_error *err) {
    struct brief brief;
    pawl_status status = check_run_rows_max(rows_max, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_RUNS_MAINTAIN, "runs_maintain", err);
    if (status != PAWL_OK)
        return status;
    pg_params_int(&brief.statement.params, rows_max);
    status = pg_statement_run(postgres_of(store), "runs_maintain", &brief.statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *out = (struct runs_maintain_result){pg_cell_int((struct cell){brief.statement.result, 0, 0}),
                                             pg_cell_int((struct cell){brief.statement.result, 0, 1})};
    pg_brief_end(&brief);
    return status;
}
