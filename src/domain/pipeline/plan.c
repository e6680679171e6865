/* Decides from the recorded results which steps may run, which are skipped, and how a pipeline ended. */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/condition.h"
#include "domain/pipeline/int.h"

/* A plan under construction. */
struct planner {
    struct arena *arena;
    const struct pipeline *pipeline;
    const struct step_record *records;
    size_t records_count;
    struct template_scope scope; /* steps and status grow as steps are decided */
    const struct tree **outputs; /* members of steps */
    size_t outputs_count;
    const struct tree **ends; /* members of status */
    size_t ends_count;
    enum step_state *states;
    const char **reasons;
    struct step_ready *ready;
    size_t ready_count, ready_cap;
    pawl_error *err;
};

static bool has_ended(enum step_state state) { return state != STEP_WAITING && state != STEP_RUNNING; }

static bool has_records(const struct planner *planner, size_t step) {
    for (size_t i = 0; i < planner->records_count; i++)
        if (planner->records[i].step == step)
            return true;
    return false;
}

/* Sets a step's state with a reason; reason NULL = none. */
static pawl_status decide(struct planner *planner, size_t step, enum step_state state, const char *reason) {
    planner->states[step] = state;
    if (reason == NULL)
        return PAWL_OK;
    planner->reasons[step] = arena_strdup(planner->arena, reason);
    return planner->reasons[step] == NULL ? error_no_memory(planner->err, "pipeline") : PAWL_OK;
}

static pawl_status succeed(struct planner *planner, size_t step, const struct tree *output) {
    static const struct tree null_value = {.kind = TREE_NULL, .nodes = 1};
    const struct tree *member = tree_with_key(planner->arena, output != NULL ? output : &null_value,
                                              planner->pipeline->steps[step].id);
    if (member == NULL)
        return error_no_memory(planner->err, "pipeline");
    planner->outputs[planner->outputs_count++] = member;
    planner->states[step] = STEP_SUCCEEDED;
    return PAWL_OK;
}

/* Makes a step's result visible to later steps. */
static pawl_status update_scope(struct planner *planner, size_t step) {
    struct tree *name =
        tree_scalar(planner->arena, TREE_STRING, str_from(step_state_name(planner->states[step])));
    if (name == NULL)
        return error_no_memory(planner->err, "pipeline");
    name->key = planner->pipeline->steps[step].id;
    planner->ends[planner->ends_count++] = name;
    planner->scope.status = tree_object(planner->arena, planner->ends, planner->ends_count);
    planner->scope.steps = tree_object(planner->arena, planner->outputs, planner->outputs_count);
    return planner->scope.status == NULL || planner->scope.steps == NULL
               ? error_no_memory(planner->err, "pipeline")
               : PAWL_OK;
}

static pawl_status add_ready(struct planner *planner, struct step_ready ready) {
    if (planner->ready_count == planner->ready_cap) {
        size_t cap = planner->ready_cap == 0 ? 16 : planner->ready_cap * 2;
        struct step_ready *grown = arena_array(planner->arena, cap, sizeof(*grown));
        if (grown == NULL)
            return error_no_memory(planner->err, "pipeline");
        if (planner->ready_count > 0)
            memcpy(grown, planner->ready, planner->ready_count * sizeof(*grown));
        planner->ready = grown;
        planner->ready_cap = cap;
    }
    planner->ready[planner->ready_count++] = ready;
    return PAWL_OK;
}

/* Fills arguments; if that is impossible, the step fails, not the call. *failed says so. */
static pawl_status prepare(struct planner *planner, size_t step, size_t item, bool *failed) {
    pawl_error reason;
    struct step_ready ready = {.step = step, .item = item};
    pawl_status status = template_fill(planner->arena, planner->pipeline->steps[step].with, &planner->scope,
                                       &ready.with, &reason);
    *failed = status == PAWL_INVALID;
    if (*failed)
        return decide(planner, step, STEP_FAILED, reason.text);
    return status != PAWL_OK ? error_no_memory(planner->err, "pipeline") : add_ready(planner, ready);
}

static pawl_status fail_by_record(struct planner *planner, const struct step_record *record) {
    const char *reason = arena_printf(planner->arena, "%.*s", STR_ARG(record->error));
    return reason == NULL ? error_no_memory(planner->err, "pipeline")
                          : decide(planner, record->step, STEP_FAILED, reason);
}

static pawl_status plan_single(struct planner *planner, size_t step) {
    bool failed = false;
    for (size_t i = 0; i < planner->records_count; i++) {
        const struct step_record *record = &planner->records[i];
        if (record->step != step)
            continue;
        if (record->state == STEP_SUCCEEDED)
            return succeed(planner, step, record->output);
        if (record->state == STEP_FAILED)
            return fail_by_record(planner, record);
        return decide(planner, step, STEP_RUNNING, NULL);
    }
    return prepare(planner, step, 0, &failed);
}

/* The items of a foreach; NULL, with the step failed, if it is not a list. */
static pawl_status find_items(struct planner *planner, size_t step, const struct tree **items) {
    pawl_error reason;
    const struct tree *found = NULL;
    pawl_status status = template_fill(planner->arena, planner->pipeline->steps[step].foreach,
                                       &planner->scope, &found, &reason);
    *items = NULL;
    if (status == PAWL_INVALID)
        return decide(planner, step, STEP_FAILED, reason.text);
    if (status != PAWL_OK)
        return error_no_memory(planner->err, "pipeline");
    if (found->kind != TREE_ARRAY)
        return decide(planner, step, STEP_FAILED, "foreach is not a list");
    if (found->count > PAWL_PIPELINE_FOREACH_MAX)
        return decide(planner, step, STEP_FAILED, "foreach has more than 10000 items");
    *items = found;
    return PAWL_OK;
}

/* Starts more items, as many as may run together with those already running. */
static pawl_status start_items(struct planner *planner, size_t step, const struct tree *items,
                               const struct step_record *const *found, size_t running) {
    int parallel = planner->pipeline->steps[step].foreach_parallel;
    bool failed = false;
    size_t ready_before = planner->ready_count;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < items->count && status == PAWL_OK && !failed; i++) {
        if (found[i] != NULL)
            continue;
        if (parallel > 0 && running >= (size_t)parallel)
            break;
        planner->scope.item = items->items[i];
        planner->scope.index = tree_from_i64(planner->arena, (int64_t)i);
        if (planner->scope.index == NULL)
            return error_no_memory(planner->err, "pipeline");
        status = prepare(planner, step, i, &failed);
        running++;
    }
    planner->scope.item = planner->scope.index = NULL;
    if (failed)
        planner->ready_count = ready_before;
    else if (status == PAWL_OK)
        planner->states[step] = STEP_RUNNING;
    return status;
}

static pawl_status gather_outputs(struct planner *planner, size_t step,
                                  const struct step_record *const *found, size_t count) {
    static const struct tree null_value = {.kind = TREE_NULL, .nodes = 1};
    const struct tree **outputs = arena_array(planner->arena, count, sizeof(struct tree *));
    if (outputs == NULL)
        return error_no_memory(planner->err, "pipeline");
    for (size_t i = 0; i < count; i++)
        outputs[i] = found[i]->output != NULL ? found[i]->output : &null_value;
    struct tree *list = tree_array(planner->arena, outputs, count);
    return list == NULL ? error_no_memory(planner->err, "pipeline") : succeed(planner, step, list);
}

static pawl_status plan_foreach(struct planner *planner, size_t step) {
    const struct tree *items = NULL;
    const struct step_record *failure = NULL;
    size_t done = 0;
    size_t running = 0;
    pawl_status status = find_items(planner, step, &items);
    if (status != PAWL_OK || items == NULL)
        return status;
    const struct step_record **found =
        arena_array(planner->arena, items->count, sizeof(struct step_record *));
    if (found == NULL)
        return error_no_memory(planner->err, "pipeline");
    for (size_t i = 0; i < planner->records_count; i++) {
        const struct step_record *record = &planner->records[i];
        if (record->step != step || record->item >= items->count)
            continue;
        found[record->item] = record;
        done += record->state == STEP_SUCCEEDED ? 1 : 0;
        running += record->state == STEP_RUNNING ? 1 : 0;
        if (record->state == STEP_FAILED && failure == NULL)
            failure = record;
    }
    if (done == items->count)
        return gather_outputs(planner, step, found, items->count);
    if (failure != NULL && running == 0)
        return fail_by_record(planner, failure);
    if (failure != NULL)
        return decide(planner, step, STEP_RUNNING,
                      NULL); /* nothing new is started; running items may finish */
    return start_items(planner, step, items, found, running);
}

/* Whether a step runs at all once all it waits for has ended; if not, it is skipped here. */
static pawl_status choose(struct planner *planner, size_t index, bool *runs) {
    const struct pipeline_step *step = &planner->pipeline->steps[index];
    *runs = true;
    if (has_records(planner, index))
        return PAWL_OK; /* it was chosen before: a condition is evaluated once */
    for (size_t i = 0; i < step->needs_count && !step->condition_on_status; i++) {
        const struct pipeline_need *need = &step->needs[i];
        enum step_state state = planner->states[need->step];
        if (!need->must_succeed || state == STEP_SUCCEEDED)
            continue;
        *runs = false;
        const char *why = arena_printf(planner->arena, "it needs '%.*s', which %s",
                                       STR_ARG(planner->pipeline->steps[need->step].id),
                                       state == STEP_FAILED ? "failed" : "was skipped");
        return why == NULL ? error_no_memory(planner->err, "pipeline")
                           : decide(planner, index, STEP_SKIPPED, why);
    }
    if (step->condition.ptr == NULL)
        return PAWL_OK;
    pawl_status status =
        condition_holds(planner->arena, step->condition, &planner->scope, runs, planner->err);
    if (status != PAWL_OK || *runs)
        return status;
    return decide(planner, index, STEP_SKIPPED, "its condition does not hold");
}

static pawl_status plan_step(struct planner *planner, size_t index) {
    const struct pipeline_step *step = &planner->pipeline->steps[index];
    bool runs = false;
    for (size_t i = 0; i < step->needs_count; i++)
        if (!has_ended(planner->states[step->needs[i].step]))
            return PAWL_OK;
    pawl_status status = choose(planner, index, &runs);
    if (status == PAWL_OK && runs)
        status = step->foreach != NULL ? plan_foreach(planner, index) : plan_single(planner, index);
    if (status == PAWL_OK && has_ended(planner->states[index]))
        status = update_scope(planner, index);
    return status;
}

/* The first failed step and why, as one sentence. */
static pawl_status describe_failure(struct planner *planner, struct pipeline_plan *plan) {
    for (size_t i = 0; i < planner->pipeline->steps_count; i++) {
        if (planner->states[i] != STEP_FAILED)
            continue;
        plan->error = arena_printf(planner->arena, "step '%.*s': %s", STR_ARG(planner->pipeline->steps[i].id),
                                   planner->reasons[i] != NULL ? planner->reasons[i] : "failed");
        return plan->error == NULL ? error_no_memory(planner->err, "pipeline") : PAWL_OK;
    }
    return PAWL_OK;
}

static pawl_status conclude(struct planner *planner, struct pipeline_plan *plan) {
    pawl_error reason;
    bool failed = false;
    plan->outcome = PIPELINE_SUCCEEDED;
    for (size_t i = 0; i < planner->pipeline->steps_count; i++) {
        if (!has_ended(planner->states[i])) {
            plan->outcome = PIPELINE_RUNNING;
            return PAWL_OK;
        }
        failed = failed || planner->states[i] == STEP_FAILED;
    }
    plan->output = planner->scope.steps;
    if (failed) {
        plan->outcome = PIPELINE_FAILED;
        return describe_failure(planner, plan);
    }
    if (planner->pipeline->output == NULL)
        return PAWL_OK;
    pawl_status status =
        template_fill(planner->arena, planner->pipeline->output, &planner->scope, &plan->output, &reason);
    if (status == PAWL_INVALID) {
        plan->outcome = PIPELINE_FAILED;
        plan->error = arena_printf(planner->arena, "output: %s", reason.text);
        return plan->error == NULL ? error_no_memory(planner->err, "pipeline") : PAWL_OK;
    }
    return status == PAWL_OK ? PAWL_OK : error_no_memory(planner->err, "pipeline");
}

/* NOLINTNEXTLINE(readability-function-size): a list and its count are two of the seven parameters */
pawl_status pipeline_plan(struct arena *arena, const struct pipeline *pipeline,
                          const struct template_scope *context, const struct step_record *records,
                          size_t records_count, struct pipeline_plan *plan, pawl_error *err) {
    size_t count = pipeline->steps_count;
    struct planner planner = {
        .arena = arena,
        .pipeline = pipeline,
        .records = records,
        .records_count = records_count,
        .scope = {.params = context->params, .env = context->env, .run = context->run},
        .outputs = arena_array(arena, count, sizeof(struct tree *)),
        .ends = arena_array(arena, count, sizeof(struct tree *)),
        .states = arena_array(arena, count, sizeof(enum step_state)),
        .reasons = arena_array(arena, count, sizeof(char *)),
        .err = err,
    };
    if (planner.outputs == NULL || planner.ends == NULL || planner.states == NULL || planner.reasons == NULL)
        return error_no_memory(err, "pipeline");
    struct pipeline_plan made = {0};
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = plan_step(&planner, pipeline->order[i]);
    if (status == PAWL_OK)
        status = conclude(&planner, &made);
    if (status != PAWL_OK)
        return status;
    made.ready = planner.ready;
    made.ready_count = planner.ready_count;
    made.states = planner.states;
    made.reasons = planner.reasons;
    *plan = made;
    return PAWL_OK;
}
