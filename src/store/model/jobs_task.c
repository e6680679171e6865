/* Tasks, schedules, agents, refusals. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/authority/scope_list.h"
#include "store/model/jobs.h"

struct task *model_task_find(struct model_jobs *jobs, pawl_str name) {
    for (size_t i = 0; i < jobs->tasks.count; i++)
        if (str_equal(PILE(jobs->tasks, struct task, i)->name, name))
            return PILE(jobs->tasks, struct task, i);
    return NULL;
}

static struct agent *agent_find(struct model_jobs *jobs, pawl_str name) {
    for (size_t i = 0; i < jobs->agents.count; i++)
        if (str_equal(PILE(jobs->agents, struct agent, i)->name, name))
            return PILE(jobs->agents, struct agent, i);
    return NULL;
}

static struct job_schedule *schedule_find(struct model_jobs *jobs, pawl_str name) {
    for (size_t i = 0; i < jobs->schedules.count; i++)
        if (str_equal(PILE(jobs->schedules, struct job_schedule, i)->name, name))
            return PILE(jobs->schedules, struct job_schedule, i);
    return NULL;
}

bool model_scope_missing(struct model_jobs *jobs, pawl_str agent, pawl_str scopes, pawl_str *missing) {
    if (str_absent(agent))
        return false;
    const struct agent *who = agent_find(jobs, agent);
    if (who == NULL || who->disabled) {
        *missing = str_from(arena_printf(jobs->texts, "agent %.*s", STR_ARG(agent)));
        return true;
    }
    return !scope_list_covers(who->scopes, scopes, missing);
}

void model_refuse(struct model *model, pawl_str agent, pawl_str task, pawl_str missing, int64_t job_id) {
    struct model_jobs *jobs = model->jobs;
    struct refusal refusal = {.id = ++jobs->last_refusal,
                              .agent = model_keep(jobs, agent),
                              .task = model_keep(jobs, task),
                              .missing = model_keep(jobs, missing),
                              .job_id = job_id,
                              .made_ms = model->now_ms};
    pile_add(&jobs->refusals, &refusal);
}

/* Things with a name first are kept in its order. */
static void *named_add(struct pile *pile, const void *item, pawl_str name) {
    (void)pile_add(pile, item);
    size_t at = pile->count - 1;
    for (; at > 0 && str_compare(*(pawl_str *)(void *)(pile->items + (at - 1) * pile->size), name) > 0; at--)
        for (size_t b = 0; b < pile->size; b++)
            pile->items[at * pile->size + b] = pile->items[(at - 1) * pile->size + b];
    for (size_t b = 0; b < pile->size; b++)
        pile->items[at * pile->size + b] = ((const char *)item)[b];
    return pile->items + at * pile->size;
}

static struct task task_copy(const struct task *in, struct arena *arena) {
    struct task copy = *in;
    pawl_str *const texts[] = {&copy.name,   &copy.agent,  &copy.type,  &copy.spec,
                               &copy.params, &copy.scopes, &copy.queue, &copy.key};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = model_give(arena, *texts[i]);
    return copy;
}

static struct job_schedule schedule_copy(const struct job_schedule *in, struct arena *arena) {
    struct job_schedule copy = *in;
    pawl_str *const texts[] = {&copy.name, &copy.task, &copy.expr, &copy.zone, &copy.params};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = model_give(arena, *texts[i]);
    return copy;
}

pawl_status model_task_put(struct store *store, const struct task *in, struct arena *arena,
                           struct put_answer *out, pawl_error *err) {
    pawl_status status = check_task(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct task *old = model_task_find(jobs, in->name);
    struct put_answer answer = {ANSWER_APPLIED, old != NULL ? old->version : 0, {NULL, 0}};
    if (!str_absent(in->agent) && agent_find(jobs, in->agent) == NULL) {
        answer = (struct put_answer){ANSWER_NOT_FOUND, 0, {NULL, 0}};
    } else if (in->version != 0 && in->version != answer.version) {
        answer.answer = ANSWER_CONFLICT;
    } else if (model_scope_missing(jobs, in->agent, in->scopes, &answer.missing)) {
        answer.answer = ANSWER_REFUSED;
        model_refuse(model, in->agent, in->name, answer.missing, 0);
        answer.missing = model_give(arena, answer.missing);
    } else {
        struct task fresh = task_copy(in, jobs->texts);
        if (str_absent(fresh.scopes))
            fresh.scopes = STR("[]");
        fresh.version = ++answer.version;
        fresh.updated_ms = model->now_ms;
        if (old != NULL)
            *old = fresh;
        else
            (void)named_add(&jobs->tasks, &fresh, fresh.name);
    }
    *out = answer;
    return model_leave(model, PAWL_OK);
}

pawl_status model_task_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct task *task = model_task_find(jobs, name);
    if (task == NULL)
        return model_leave(
            model, error_set(err, PAWL_NOT_FOUND, "task_remove", "there is no '%.*s'", STR_ARG(name)));
    for (size_t i = 0; i < jobs->schedules.count; i++)
        if (str_equal(PILE(jobs->schedules, struct job_schedule, i)->task, name))
            return model_leave(model, error_set(err, PAWL_CONFLICT, "task_remove",
                                                "a schedule names task '%.*s': remove the schedule first",
                                                STR_ARG(name)));
    pile_drop(&jobs->tasks, (size_t)(task - PILE(jobs->tasks, struct task, 0)));
    return model_leave(model, PAWL_OK);
}

pawl_status model_tasks(struct store *store, pawl_str name, pawl_str after_name, int limit,
                        struct arena *arena, struct task_list *out, pawl_error *err) {
    pawl_status status = check_list_limit("tasks", limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct task_list list = {arena_array(arena, jobs->tasks.count, sizeof *list.tasks), 0};
    if (list.tasks == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "tasks", "no memory for the tasks"));
    for (size_t i = 0; i < jobs->tasks.count && list.count < (size_t)limit; i++) {
        const struct task *task = PILE(jobs->tasks, struct task, i);
        if ((str_absent(name) || str_equal(task->name, name)) &&
            (str_absent(after_name) || str_compare(task->name, after_name) > 0))
            list.tasks[list.count++] = task_copy(task, arena);
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_schedule_put(struct store *store, const struct job_schedule *in, struct put_answer *out,
                               pawl_error *err) {
    pawl_status status = check_schedule(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct job_schedule *old = schedule_find(jobs, in->name);
    struct put_answer answer = {ANSWER_APPLIED, old != NULL ? old->version : 0, {NULL, 0}};
    if (model_task_find(jobs, in->task) == NULL) {
        answer = (struct put_answer){ANSWER_NOT_FOUND, 0, {NULL, 0}};
    } else if (in->version != 0 && in->version != answer.version) {
        answer.answer = ANSWER_CONFLICT;
    } else {
        struct job_schedule fresh = schedule_copy(in, jobs->texts);
        fresh.last_ms = old != NULL ? old->last_ms : 0;
        fresh.version = ++answer.version;
        fresh.updated_ms = model->now_ms;
        if (old != NULL)
            *old = fresh;
        else
            (void)named_add(&jobs->schedules, &fresh, fresh.name);
    }
    *out = answer;
    return model_leave(model, PAWL_OK);
}

pawl_status model_schedule_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct job_schedule *schedule = schedule_find(jobs, name);
    if (schedule == NULL)
        return model_leave(
            model, error_set(err, PAWL_NOT_FOUND, "schedule_remove", "there is no '%.*s'", STR_ARG(name)));
    pile_drop(&jobs->schedules, (size_t)(schedule - PILE(jobs->schedules, struct job_schedule, 0)));
    for (size_t i = jobs->fires.count; i-- > 0;)
        if (str_equal(PILE(jobs->fires, struct mfire, i)->schedule, name))
            pile_drop(&jobs->fires, i);
    return model_leave(model, PAWL_OK);
}

pawl_status model_schedules(struct store *store, const struct schedule_filter *filter, struct arena *arena,
                            struct job_schedule_list *out, pawl_error *err) {
    pawl_status status = check_list_limit("schedules", filter->limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct job_schedule_list list = {arena_array(arena, jobs->schedules.count, sizeof *list.schedules), 0,
                                     model->now_ms};
    if (list.schedules == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "schedules", "no memory for the schedules"));
    for (size_t i = 0; i < jobs->schedules.count; i++) {
        const struct job_schedule *s = PILE(jobs->schedules, struct job_schedule, i);
        bool fits = (str_absent(filter->name) || str_equal(s->name, filter->name)) &&
                    (str_absent(filter->task) || str_equal(s->task, filter->task));
        if (filter->due)
            fits = fits && !s->paused && s->next_ms > 0 && s->next_ms <= model->now_ms;
        else
            fits = fits && (str_absent(filter->after_name) || str_compare(s->name, filter->after_name) > 0);
        if (!fits)
            continue;
        size_t at = list.count++;
        for (; filter->due && at > 0 && list.schedules[at - 1].next_ms > s->next_ms; at--)
            list.schedules[at] = list.schedules[at - 1];
        list.schedules[at] = schedule_copy(s, arena);
    }
    if (list.count > (size_t)filter->limit)
        list.count = (size_t)filter->limit;
    *out = list;
    return model_leave(model, PAWL_OK);
}

/* The job of one instant; its answer in the terms of schedule_fire. */
static enum store_answer fire_one(struct model *model, const struct job_schedule *schedule,
                                  int64_t instant_ms, int64_t due_ms, int64_t *id) {
    struct model_jobs *jobs = model->jobs;
    if (instant_ms <= schedule->last_ms)
        return ANSWER_DUPLICATE;
    for (size_t i = 0; i < jobs->fires.count; i++) {
        const struct mfire *fire = PILE(jobs->fires, struct mfire, i);
        if (fire->instant_ms == instant_ms && str_equal(fire->schedule, schedule->name))
            return ANSWER_DUPLICATE;
    }
    struct mjob job = {.row.job = {.task = schedule->task,
                                   .payload = schedule->params,
                                   .schedule = schedule->name,
                                   .instant_ms = instant_ms,
                                   .due_ms = due_ms}};
    pawl_str own = str_from(arena_printf(jobs->texts, "schedule:%.*s", STR_ARG(schedule->name)));
    if (schedule->overlap == OVERLAP_SKIP)
        job.row.job.unique_key = own;
    else if (schedule->overlap == OVERLAP_QUEUE)
        job.row.job.key = own;
    int64_t made = 0;
    enum store_answer answer = model_job_insert(model, &job, &made);
    struct mfire fire = {schedule->name, instant_ms, answer == ANSWER_APPLIED ? made : 0, model->now_ms};
    pile_add(&jobs->fires, &fire);
    if (answer == ANSWER_APPLIED)
        *id = made;
    return answer == ANSWER_DUPLICATE ? ANSWER_CONFLICT : answer;
}

pawl_status model_schedule_fire(struct store *store, const struct schedule_fire *in, struct arena *arena,
                                struct fire_result *out, pawl_error *err) {
    struct fire_result result = {.answer = ANSWER_APPLIED};
    pawl_status status = check_schedule_fire(in, err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.ids = arena_array(arena, in->count, sizeof *result.ids);
    if (result.answers == NULL || result.ids == NULL)
        return error_set(err, PAWL_NO_MEMORY, "schedule_fire", "no memory for %zu instants", in->count);
    struct model *model = model_enter(store);
    struct job_schedule *schedule = schedule_find(model->jobs, in->name);
    if (schedule == NULL || schedule->version != in->version)
        result.answer = schedule == NULL ? ANSWER_NOT_FOUND : ANSWER_CONFLICT;
    for (size_t i = 0; i < in->count; i++) {
        if (result.answer != ANSWER_APPLIED)
            result.answers[i] = ANSWER_CONFLICT;
        else if (i > 0 && result.answers[i - 1] == ANSWER_REFUSED)
            result.answers[i] = ANSWER_REFUSED;
        else
            result.answers[i] = fire_one(model, schedule, in->instants[i], in->due_ms[i], &result.ids[i]);
    }
    if (result.answer == ANSWER_APPLIED && schedule->last_ms <= in->through_ms) {
        schedule->last_ms = in->through_ms;
        schedule->next_ms = in->next_ms;
    }
    *out = result;
    return model_leave(model, PAWL_OK);
}

pawl_status model_agent_put(struct store *store, const struct agent *in, pawl_error *err) {
    pawl_status status = check_agent(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct agent fresh = {model_keep(jobs, in->name),
                          str_absent(in->scopes) ? STR("[]") : model_keep(jobs, in->scopes), in->disabled,
                          model->now_ms};
    struct agent *old = agent_find(jobs, in->name);
    if (old != NULL)
        *old = fresh;
    else
        (void)named_add(&jobs->agents, &fresh, fresh.name);
    return model_leave(model, PAWL_OK);
}

pawl_status model_agents(struct store *store, struct arena *arena, struct agent_list *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct agent_list list = {arena_array(arena, jobs->agents.count, sizeof *list.agents),
                              jobs->agents.count};
    if (list.agents == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "agents", "no memory for the agents"));
    for (size_t i = 0; i < list.count; i++) {
        list.agents[i] = *PILE(jobs->agents, struct agent, i);
        list.agents[i].name = model_give(arena, list.agents[i].name);
        list.agents[i].scopes = model_give(arena, list.agents[i].scopes);
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_refusals(struct store *store, int limit, struct arena *arena, struct refusal_list *out,
                           pawl_error *err) {
    pawl_status status = check_list_limit("refusals", limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct refusal_list list = {arena_array(arena, jobs->refusals.count, sizeof *list.refusals), 0};
    if (list.refusals == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "refusals", "no memory for the refusals"));
    for (size_t i = jobs->refusals.count; i-- > 0 && list.count < (size_t)limit;) {
        struct refusal copy = *PILE(jobs->refusals, struct refusal, i);
        copy.agent = model_give(arena, copy.agent);
        copy.task = model_give(arena, copy.task);
        copy.missing = model_give(arena, copy.missing);
        list.refusals[list.count++] = copy;
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}
