/* Decides from the recorded results which steps may run, which are skipped, and how a pipeline ended. */
#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/condition.h"
#include "domain/pipeline/pipeline.h"

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
    pawl_status status; /* the first failure; nothing is decided after it */
    pawl_error *err;
};

static bool has_ended(enum step_state state) { return state != STEP_WAITING && state != STEP_RUNNING; }

static bool has_records(const struct planner *planner, size_t step) {
    for (size_t i = 0; i < planner->records_count; i++)
        if (planner->records[i].step == step)
            return true;
    return false;
}

/* Not the pipeline's failure but ours. Takes what an allocation gave; true when it gave nothing. */
static bool no_memory(struct planner *planner, const void *made) {
    if (made == NULL)
        planner->status = error_no_memory(planner->err, "pipeline");
    return made == NULL;
}

/* Sets a step's state with a reason; reason NULL = none. */
static void decide(struct planner *planner, size_t step, enum step_state state, const char *reason) {
    planner->states[step] = state;
    if (reason == NULL)
        return;
    planner->reasons[step] = arena_strdup(planner->arena, reason);
    (void)no_memory(planner, planner->reasons[step]);
}

static void succeed(struct planner *planner, size_t step, const struct tree *output) {
    const struct tree *member = tree_with_key(planner->arena, output != NULL ? output : &tree_null,
                                              planner->pipeline->steps[step].id);
    if (no_memory(planner, member))
        return;
    planner->outputs[planner->outputs_count++] = member;
    planner->states[step] = STEP_SUCCEEDED;
}

/* Makes a step's result visible to later steps. */
static void update_scope(struct planner *planner, size_t step) {
    struct tree *name =
        tree_scalar(planner->arena, TREE_STRING, str_from(step_state_name(planner->states[step])));
    if (no_memory(planner, name))
        return;
    name->key = planner->pipeline->steps[step].id;
    planner->ends[planner->ends_count++] = name;
    planner->scope.status = tree_object(planner->arena, planner->ends, planner->ends_count);
    planner->scope.steps = tree_object(planner->arena, planner->outputs, planner->outputs_count);
    if (!no_memory(planner, planner->scope.status))
        (void)no_memory(planner, planner->scope.steps);
}

static void add_ready(struct planner *planner, struct step_ready ready) {
    if (planner->ready_count == planner->ready_cap) {
        size_t cap = planner->ready_cap == 0 ? 16 : planner->ready_cap * 2;
        struct step_ready *grown = arena_array(planner->arena, cap, sizeof(*grown));
        if (no_memory(planner, grown))
            return;
        if (planner->ready_count > 0)
            memcpy(grown, planner->ready, planner->ready_count * sizeof(*grown));
        planner->ready = grown;
        planner->ready_cap = cap;
    }
    planner->ready[planner->ready_count++] = ready;
}

/* A template filled; NULL when it cannot be, which makes the step fail. */
static const struct tree *fill(struct planner *planner, size_t step, const struct tree *template) {
    pawl_error reason;
    const struct tree *filled = NULL;
    pawl_status status = template_fill(planner->arena, template, &planner->scope, &filled, &reason);
    if (status == PAWL_INVALID)
        decide(planner, step, STEP_FAILED, reason.text);
    else
        (void)no_memory(planner, filled);
    return filled;
}

/* Fills the arguments of a step that can start. */
static void prepare(struct planner *planner, size_t step, size_t item) {
    const struct tree *with = fill(planner, step, planner->pipeline->steps[step].with);
    if (with != NULL)
        add_ready(planner, (struct step_ready){.step = step, .item = item, .with = with});
}

static void fail_by_record(struct planner *planner, const struct step_record *record) {
    const char *reason = arena_printf(planner->arena, "%.*s", STR_ARG(record->error));
    if (!no_memory(planner, reason))
        decide(planner, record->step, STEP_FAILED, reason);
}

static void plan_single(struct planner *planner, size_t step) {
    for (size_t i = 0; i < planner->records_count; i++) {
        const struct step_record *record = &planner->records[i];
        if (record->step != step)
            continue;
        if (record->state == STEP_SUCCEEDED)
            succeed(planner, step, record->output);
        else if (record->state == STEP_FAILED)
            fail_by_record(planner, record);
        else
            decide(planner, step, STEP_RUNNING, NULL);
        return;
    }
    prepare(planner, step, 0);
}

/* The items of a foreach; NULL, with the step failed, if it is not a list. */
static const struct tree *find_items(struct planner *planner, size_t step) {
    const struct tree *found = fill(planner, step, planner->pipeline->steps[step].foreach);
    if (found == NULL)
        return NULL;
    const char *wrong = found->kind != TREE_ARRAY                  ? "foreach is not a list"
                        : found->count > PAWL_PIPELINE_FOREACH_MAX ? "foreach has more than 10000 items"
                                                                   : NULL;
    if (wrong != NULL)
        decide(planner, step, STEP_FAILED, wrong);
    return wrong == NULL ? found : NULL;
}

/* Starts more items, as many as may run together with those already running. */
static void start_items(struct planner *planner, size_t step, const struct tree *items,
                        const struct step_record *const *found, size_t running) {
    int parallel = planner->pipeline->steps[step].foreach_parallel;
    size_t ready_before = planner->ready_count;
    for (size_t i = 0; i < items->count && planner->status == PAWL_OK && !has_ended(planner->states[step]);
         i++) {
        if (found[i] != NULL)
            continue;
        if (parallel > 0 && running >= (size_t)parallel)
            break;
        planner->scope.item = items->items[i];
        planner->scope.index = tree_from_i64(planner->arena, (int64_t)i);
        if (!no_memory(planner, planner->scope.index))
            prepare(planner, step, i);
        running++;
    }
    planner->scope.item = planner->scope.index = NULL;
    if (planner->states[step] == STEP_FAILED)
        planner->ready_count = ready_before;
    else
        planner->states[step] = STEP_RUNNING;
}

static void gather_outputs(struct planner *planner, size_t step, const struct step_record *const *found,
                           size_t count) {
    const struct tree **outputs = arena_array(planner->arena, count, sizeof(struct tree *));
    if (no_memory(planner, outputs))
        return;
    for (size_t i = 0; i < count; i++)
        outputs[i] = found[i]->output != NULL ? found[i]->output : &tree_null;
    struct tree *list = tree_array(planner->arena, outputs, count);
    if (!no_memory(planner, list))
        succeed(planner, step, list);
}

static void plan_foreach(struct planner *planner, size_t step) {
    const struct step_record *failure = NULL;
    size_t done = 0, running = 0;
    const struct tree *items = find_items(planner, step);
    if (items == NULL)
        return;
    const struct step_record **found =
        arena_array(planner->arena, items->count, sizeof(struct step_record *));
    if (no_memory(planner, found))
        return;
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
        gather_outputs(planner, step, found, items->count);
    else if (failure == NULL)
        start_items(planner, step, items, found, running);
    else if (running == 0)
        fail_by_record(planner, failure);
    else
        decide(planner, step, STEP_RUNNING, NULL); /* nothing new is started; running items may finish */
}

/* Whether a step runs at all once all it waits for has ended; if not, it is skipped here. */
static bool choose(struct planner *planner, size_t index) {
    const struct pipeline_step *step = &planner->pipeline->steps[index];
    bool runs = true;
    if (has_records(planner, index))
        return true; /* it was chosen before: a condition is evaluated once */
    for (size_t i = 0; i < step->needs_count && !step->condition_on_status; i++) {
        const struct pipeline_need *need = &step->needs[i];
        enum step_state state = planner->states[need->step];
        if (!need->must_succeed || state == STEP_SUCCEEDED)
            continue;
        const char *why = arena_printf(planner->arena, "it needs '%.*s', which %s",
                                       STR_ARG(planner->pipeline->steps[need->step].id),
                                       state == STEP_FAILED ? "failed" : "was skipped");
        if (!no_memory(planner, why))
            decide(planner, index, STEP_SKIPPED, why);
        return false;
    }
    if (step->condition.ptr == NULL)
        return true;
    planner->status = condition_holds(planner->arena, step->condition, &planner->scope, &runs, planner->err);
    if (planner->status == PAWL_OK && !runs)
        decide(planner, index, STEP_SKIPPED, "its condition does not hold");
    return runs && planner->status == PAWL_OK;
}

static void plan_step(struct planner *planner, size_t index) {
    const struct pipeline_step *step = &planner->pipeline->steps[index];
    for (size_t i = 0; i < step->needs_count; i++)
        if (!has_ended(planner->states[step->needs[i].step]))
            return;
    bool runs = choose(planner, index);
    if (runs && step->foreach != NULL)
        plan_foreach(planner, index);
    else if (runs)
        plan_single(planner, index);
    if (planner->status == PAWL_OK && has_ended(planner->states[index]))
        update_scope(planner, index);
}

/* How it ended, if it has: the first failed step and why, or the output. */
static void conclude(struct planner *planner, struct pipeline_plan *plan) {
    const struct pipeline *pipeline = planner->pipeline;
    pawl_error reason;
    size_t failed = pipeline->steps_count;
    plan->outcome = PIPELINE_RUNNING;
    for (size_t i = pipeline->steps_count; i > 0; i--) {
        if (!has_ended(planner->states[i - 1]))
            return;
        failed = planner->states[i - 1] == STEP_FAILED ? i - 1 : failed;
    }
    plan->output = planner->scope.steps;
    plan->outcome = PIPELINE_SUCCEEDED;
    if (failed < pipeline->steps_count) {
        plan->outcome = PIPELINE_FAILED;
        plan->error = arena_printf(planner->arena, "step '%.*s': %s", STR_ARG(pipeline->steps[failed].id),
                                   planner->reasons[failed] != NULL ? planner->reasons[failed] : "failed");
        (void)no_memory(planner, plan->error);
        return;
    }
    if (pipeline->output == NULL)
        return;
    pawl_status status =
        template_fill(planner->arena, pipeline->output, &planner->scope, &plan->output, &reason);
    if (status == PAWL_INVALID) {
        plan->outcome = PIPELINE_FAILED;
        plan->error = arena_printf(planner->arena, "output: %s", reason.text);
        (void)no_memory(planner, plan->error);
    } else if (status != PAWL_OK) {
        (void)no_memory(planner, NULL);
    }
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
    for (size_t i = 0; i < count && planner.status == PAWL_OK; i++)
        plan_step(&planner, pipeline->order[i]);
    if (planner.status == PAWL_OK)
        conclude(&planner, &made);
    if (planner.status != PAWL_OK)
        return planner.status;
    made.ready = planner.ready;
    made.ready_count = planner.ready_count;
    made.states = planner.states;
    made.reasons = planner.reasons;
    *plan = made;
    return PAWL_OK;
}
