/* Steps of pipelines, signals, limits. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "store/model/jobs.h"

static int step_order(const struct mstep *step, int64_t job_id, pawl_str name, int index) {
    if (step->job_id != job_id)
        return step->job_id < job_id ? -1 : 1;
    int order = str_compare(step->step.step, name);
    return order != 0 ? order : step->step.index - index;
}

enum store_answer model_step_write(struct model *model, int64_t job_id, const struct job_step *step) {
    struct model_jobs *jobs = model->jobs;
    struct mstep fresh = {.job_id = job_id, .step = *step};
    struct job_step *s = &fresh.step;
    s->step = model_keep(jobs, step->step);
    s->output = model_keep(jobs, step->output);
    s->error = model_keep(jobs, utf8_cut(step->error, PAWL_ERROR_BYTES_MAX));
    s->input_hash = model_keep(jobs, step->input_hash);
    s->output_hash = model_keep(jobs, step->output_hash);
    s->finished_ms = model->now_ms;
    s->started_ms = model->now_ms - step->duration_ms;
    size_t at = 0;
    while (at < jobs->steps.count &&
           step_order(PILE(jobs->steps, struct mstep, at), job_id, step->step, step->index) < 0)
        at++;
    bool there = at < jobs->steps.count &&
                 step_order(PILE(jobs->steps, struct mstep, at), job_id, step->step, step->index) == 0;
    if (there && !job_step_open(PILE(jobs->steps, struct mstep, at)->step.state))
        return ANSWER_DUPLICATE;
    if (!there) {
        pile_add(&jobs->steps, &fresh);
        for (size_t i = jobs->steps.count - 1; i > at; i--)
            *PILE(jobs->steps, struct mstep, i) = *PILE(jobs->steps, struct mstep, i - 1);
    }
    *PILE(jobs->steps, struct mstep, at) = fresh;
    return ANSWER_APPLIED;
}

pawl_status model_steps_put(struct store *store, const struct steps_put *in, struct arena *arena,
                            struct job_answers *out, pawl_error *err) {
    pawl_status status = check_steps_put(in, err);
    if (status != PAWL_OK)
        return status;
    enum store_answer *answers = arena_array(arena, in->count, sizeof *answers);
    if (answers == NULL)
        return error_set(err, PAWL_NO_MEMORY, "steps_put", "no memory for %zu answers", in->count);
    struct model *model = model_enter(store);
    bool held = model_job_held(model, in->instance, in->ref);
    for (size_t i = 0; i < in->count; i++)
        answers[i] = held ? model_step_write(model, in->ref.id, &in->steps[i]) : ANSWER_STALE;
    *out = (struct job_answers){answers, in->count};
    return model_leave(model, PAWL_OK);
}

pawl_status model_steps_read(struct store *store, int64_t job_id, struct arena *arena, struct job_steps *out,
                             pawl_error *err) {
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct job_steps list = {arena_array(arena, jobs->steps.count, sizeof *list.steps), 0};
    if (list.steps == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "steps_read", "no memory for the steps"));
    for (size_t i = 0; i < jobs->steps.count; i++) {
        const struct mstep *step = PILE(jobs->steps, struct mstep, i);
        if (step->job_id != job_id)
            continue;
        struct job_step copy = step->step;
        copy.step = model_give(arena, copy.step);
        copy.output = model_give(arena, copy.output);
        copy.error = model_give(arena, copy.error);
        copy.input_hash = model_give(arena, copy.input_hash);
        copy.output_hash = model_give(arena, copy.output_hash);
        copy.duration_ms = copy.finished_ms - copy.started_ms;
        list.steps[list.count++] = copy;
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

struct wake_result model_wake_in(struct model *model, const struct job_wake *in) {
    struct model_jobs *jobs = model->jobs;
    pawl_str payload = str_absent(in->payload) ? STR("null") : in->payload;
    struct wake_result result = {0, false};
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        struct mjob *job = PILE(jobs->jobs, struct mjob, i);
        if (job->row.state != JOB_WAITING || !str_equal(job->row.wait_key, in->wait_key))
            continue;
        (void)model_step_write(model, job->row.job.id,
                               &(struct job_step){.step = job->row.wait_step,
                                                  .state = JOB_STEP_DONE,
                                                  .attempt = JOB_STEP_WAIT_ATTEMPT,
                                                  .output = payload});
        job->row.wait_key = job->row.wait_step = (pawl_str){NULL, 0};
        job->row.job.due_ms = model->now_ms;
        job->ord = jobrule_order(model->now_ms, job->row.job.priority);
        model_job_state(jobs, job, JOB_READY);
        result.woken++;
    }
    if (result.woken == 0 && in->keep_ms > 0) {
        struct msignal kept = {model_keep(jobs, in->wait_key), model_keep(jobs, payload),
                               model->now_ms + in->keep_ms};
        pile_add(&jobs->signals, &kept);
        result.kept = true;
    }
    return result;
}

pawl_status model_jobs_wake(struct store *store, const struct job_wake *in, struct wake_result *out,
                            pawl_error *err) {
    pawl_status status = check_job_wake(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    *out = model_wake_in(model, in);
    return model_leave(model, PAWL_OK);
}

void model_limit_put(struct model_jobs *jobs, const struct job_limit *in) {
    bool remove = in->concurrency == 0 && in->rate == 0 && in->weight == 1;
    size_t at = 0;
    while (at < jobs->limits.count && str_compare(PILE(jobs->limits, struct job_limit, at)->key, in->key) < 0)
        at++;
    bool there = at < jobs->limits.count && str_equal(PILE(jobs->limits, struct job_limit, at)->key, in->key);
    struct job_limit fresh = *in;
    fresh.key = model_keep(jobs, in->key);
    if (there && remove) {
        pile_drop(&jobs->limits, at);
    } else if (!remove) {
        if (!there) {
            pile_add(&jobs->limits, &fresh);
            for (size_t i = jobs->limits.count - 1; i > at; i--)
                *PILE(jobs->limits, struct job_limit, i) = *PILE(jobs->limits, struct job_limit, i - 1);
        }
        *PILE(jobs->limits, struct job_limit, at) = fresh;
    }
}

pawl_status model_limit_set(struct store *store, const struct job_limit *in, pawl_error *err) {
    pawl_status status = check_job_limit(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    model_limit_put(model->jobs, in);
    return model_leave(model, PAWL_OK);
}

pawl_status model_limits(struct store *store, struct arena *arena, struct job_limits *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct job_limits list = {arena_array(arena, jobs->limits.count, sizeof *list.limits),
                              jobs->limits.count};
    if (list.limits == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "job_limits", "no memory for the limits"));
    for (size_t i = 0; i < list.count; i++) {
        list.limits[i] = *PILE(jobs->limits, struct job_limit, i);
        list.limits[i].key = model_give(arena, list.limits[i].key);
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}
