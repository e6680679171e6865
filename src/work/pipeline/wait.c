/* Steps that wait: checking them, and deciding when they are over. */
#include "work/pipeline/wait.h"

#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/pipeline/nested.h"

pawl_status wait_state_read(struct wait_state *state, struct arena *arena, size_t step, pawl_str output,
                            pawl_error *err) {
    const struct tree *mark = NULL;
    int64_t until_ms = 0;
    if (str_absent(output))
        return PAWL_OK;
    pawl_status status = tree_parse(arena, output, NULL, &mark, err);
    const struct tree *until = tree_get_cstr(mark, "until_ms");
    if (status == PAWL_OK && until != NULL && tree_to_i64(until, &until_ms) &&
        state->count < PAWL_PIPELINE_STEPS_MAX)
        state->marks[state->count++] = (struct wait_mark){step, until_ms};
    return status;
}

void wait_state_begin(struct wait_state *state) {
    state->waits = false;
    state->event = false;
    state->delay_ms = -1;
}

/* The store's clock as the worker knows it: the value at the claim plus the time since. */
static int64_t store_now_ms(const struct pipeline_run_in *in) {
    return in->job->lease_until_ms - in->lease_ms + (clock_boot_ms() - in->claimed_ms);
}

static pawl_status read_duration(const struct tree *with, const char *name, int64_t *duration_ms,
                                 pawl_error *err) {
    const struct tree *text = tree_get_cstr(with, name);
    if (text == NULL || (text->kind == TREE_STRING && clock_parse_duration(text->text, duration_ms)))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "pipeline", "%s of a step that waits is a duration such as \"30s\"",
                     name);
}

pawl_status pipeline_wait_arguments(const struct tree *with, pawl_error *err) {
    const struct tree *event = tree_get_cstr(with, "event");
    int64_t limit_ms = 0;
    if (event != NULL && event->kind != TREE_STRING)
        return error_set(err, PAWL_INVALID, "pipeline", "event of a step that waits is a text");
    return read_duration(with, event != NULL ? "timeout" : "for", &limit_ms, err);
}

static const char *wait_fault(const struct pipeline_step *step) {
    const struct tree *with = step->with, *event = tree_get_cstr(with, "event");
    const struct tree *limit = tree_get_cstr(with, event != NULL ? "timeout" : "for");
    int64_t limit_ms = 0;
    if (step->foreach != NULL)
        return "pawl.wait cannot be used with foreach";
    for (size_t i = 0; i < with->count; i++) {
        pawl_str key = with->items[i]->key;
        if (!str_equal_cstr(key, "event") && !str_equal_cstr(key, "timeout") && !str_equal_cstr(key, "for"))
            return "pawl.wait knows \"event\" with \"timeout\", or \"for\", and nothing else";
    }
    if ((event != NULL) == (tree_get_cstr(with, "for") != NULL))
        return "pawl.wait needs one of \"event\" (text) and \"for\" (a duration)";
    /* A template is checked when it is filled. */
    if (limit != NULL &&
        (limit->kind != TREE_STRING || (!clock_parse_duration(limit->text, &limit_ms) &&
                                        memmem(limit->text.ptr, limit->text.len, "${", 2) == NULL)))
        return event != NULL ? "timeout of a step that waits is a duration such as \"30s\""
                             : "for of a step that waits is a duration such as \"30s\"";
    return NULL;
}

pawl_status pipeline_wait_check(const struct pipeline *pipeline, pawl_error *err) {
    for (size_t i = 0; i < pipeline->steps_count; i++) {
        const struct pipeline_step *step = &pipeline->steps[i];
        const char *fault = str_equal_cstr(step->uses, PIPELINE_WAIT_TOOL) ? wait_fault(step) : NULL;
        if (step->foreach != NULL && nested_waits(step, step->with))
            fault = "a pawl.run that waits cannot have foreach (or set wait: false)";
        if (fault != NULL)
            return tree_fault(step->place, "pipeline", err, "step '%.*s': %s", STR_ARG(step->id), fault);
    }
    return PAWL_OK;
}

/* NULL when too many steps wait. */
static struct wait_mark *mark_add(struct wait_state *state, size_t step, int64_t until_ms) {
    if (state->count == PAWL_PIPELINE_STEPS_MAX)
        return NULL;
    struct wait_mark *mark = &state->marks[state->count++];
    *mark = (struct wait_mark){step, until_ms};
    return mark;
}

/* What is recorded for a waiting step: when it is over. */
static pawl_status write_begin(struct arena *arena, pawl_str step, int64_t until_ms,
                               struct wait_verdict *verdict, pawl_error *err) {
    char *output = arena_printf(arena, "{\"until_ms\":%lld}", (long long)until_ms);
    if (output == NULL)
        return error_no_memory(err, "pipeline");
    verdict->put = true;
    verdict->step = (struct job_step){.step = step,
                                      .state = JOB_STEP_WAITING,
                                      .attempt = JOB_STEP_WAIT_ATTEMPT,
                                      .output = str_from(output)};
    return PAWL_OK;
}

pawl_status wait_state_look(struct wait_state *state, const struct pipeline_run_in *in, struct arena *arena,
                            const struct pipeline_step *step, const struct step_ready *ready,
                            struct wait_verdict *verdict, pawl_error *err) {
    const struct tree *event = tree_get_cstr(ready->with, "event");
    int64_t limit_ms = -1;
    struct wait_mark *mark = NULL;
    pawl_status status = read_duration(ready->with, event != NULL ? "timeout" : "for", &limit_ms, err);
    if (status != PAWL_OK)
        return status;
    if ((event == NULL && limit_ms < 0) ||
        (event != NULL && (event->kind != TREE_STRING || event->text.len == 0)) || step->foreach != NULL)
        return error_set(
            err, PAWL_INVALID, "pipeline",
            "step '%.*s': pawl.wait needs \"event\" (text) or \"for\" (a duration), and no foreach",
            STR_ARG(step->id));
    for (size_t i = 0; i < state->count; i++) {
        if (state->marks[i].step == ready->step)
            mark = &state->marks[i];
    }
    if (mark == NULL) {
        mark = mark_add(state, ready->step, limit_ms >= 0 ? store_now_ms(in) + limit_ms : 0);
        if (mark == NULL)
            return error_set(err, PAWL_INVALID, "pipeline", "too many steps wait");
        status = write_begin(arena, step->id, mark->until_ms, verdict, err);
    }
    if (status != PAWL_OK)
        return status;
    int64_t left_ms = mark->until_ms > 0 ? mark->until_ms - store_now_ms(in) : INT64_MAX;
    if (left_ms <= 0) {
        verdict->over = true;
        verdict->failed = event != NULL;
        verdict->put = true;
        verdict->step = (struct job_step){.step = step->id,
                                          .state = event != NULL ? JOB_STEP_FAILED : JOB_STEP_DONE,
                                          .attempt = JOB_STEP_WAIT_ATTEMPT,
                                          .output = STR("null"),
                                          .error = event != NULL ? STR("no signal arrived in time")
                                                                 : (pawl_str){NULL, 0}};
        verdict->output = tree_scalar(arena, TREE_NULL, (pawl_str){NULL, 0});
        return verdict->output != NULL ? PAWL_OK : error_no_memory(err, "pipeline");
    }
    if (left_ms != INT64_MAX && (state->delay_ms < 0 || left_ms < state->delay_ms))
        state->delay_ms = left_ms;
    if (!state->waits || (event != NULL && !state->event)) {
        char *key = event != NULL
                        ? arena_copy(arena, event->text.ptr, event->text.len)
                        : arena_printf(arena, "job:%lld:%.*s", (long long)in->job->id, STR_ARG(step->id));
        if (key == NULL)
            return error_no_memory(err, "pipeline");
        state->key = str_from(key);
        state->step = step->id;
        state->event = event != NULL;
    }
    state->waits = true;
    return PAWL_OK;
}

void wait_state_result(const struct wait_state *state, struct job_result_in *result) {
    result->end = JOB_END_WAIT;
    result->wait_key = state->key;
    result->wait_step = state->step;
    result->delay_ms = state->delay_ms;
}
