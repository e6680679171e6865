/* The channel of the jobs: reports and the next claim in one call, renewals in another, one at a time; and
 * when there is nothing to ask for. */
#include <stdlib.h>

#include "engine/core/int.h"

/* The job has a result that the store must hear of. */
void core_jobs_pend(struct engine_core *core, struct entry *entry) {
    core_entry_state(entry, ENTRY_PENDING);
    if (core->jobs.pending.count == 0)
        core->jobs.pending_since_ms = core->now_ms;
    core_list_push(core, &core->jobs.pending, entry);
}

/* There may be work now, or schedules; a call that is on its way does not know of it. */
void core_jobs_wake(struct engine_core *core) {
    struct job_channel *jobs = &core->jobs;
    jobs->wakes++;
    jobs->next_claim_ms = 0;
    if (core_duty(core, DUTY_SCHEDULES)->due_ms > core->now_ms + core->config.poll_ms)
        duties_wake(&core->duties, DUTY_SCHEDULES, core->now_ms);
    jobs->look_free_ms = core->now_ms + core->config.poll_ms;
}

bool core_jobs_idle(const struct engine_core *core) {
    const struct job_channel *jobs = &core->jobs;
    return jobs->empty && core->grant_count[CHANNEL_JOBS] == 0 && core->busy[CHANNEL_JOBS] == 0;
}

/* Nothing is left to say. */
bool core_jobs_reported(const struct engine_core *core) {
    const struct job_channel *jobs = &core->jobs;
    return jobs->call == JOBS_QUIET && jobs->pending.count == 0 && jobs->telling == 0 && !jobs->resend;
}

static bool may_claim(const struct engine_core *core) {
    return core_serves(core, CHANNEL_JOBS) && !core->stopping && !core->jobs.lost &&
           core->now_ms < core->instance_fence_ms && core->now_ms >= core->trouble_until_ms[CHANNEL_JOBS];
}

/* How many the next claim should ask for: as many as can begin at once; more only while all that comes is
 * short. */
static int claim_wanted(const struct engine_core *core) {
    int64_t room = core->config.slots - core_running(core) + core->busy[CHANNEL_JOBS];
    if (room <= 0 || !may_claim(core))
        return 0;
    int64_t ahead = (int64_t)core_run_ahead(core, CHANNEL_JOBS), wanted = room + ahead;
    if (wanted > core->config.batch)
        wanted = core->config.batch;
    int64_t held = (int64_t)core->waiting[CHANNEL_JOBS] + core->busy[CHANNEL_JOBS];
    bool enough = ahead > 0 ? held * 2 > wanted : held >= wanted;
    return enough ? 0 : (int)(wanted - held);
}

/* Whether jobs are asked for, or about to be: a slot may be left to them. */
bool core_jobs_asked(const struct engine_core *core) {
    const struct job_channel *jobs = &core->jobs;
    if (jobs->call == JOBS_FINISH && jobs->finish.claim.max > 0)
        return core->now_ms < jobs->sent_ms + ENGINE_TURN_MS;
    return core->now_ms >= jobs->next_claim_ms && core->now_ms >= jobs->backoff_until_ms &&
           claim_wanted(core) > 0;
}

static bool report_due(const struct engine_core *core) {
    const struct job_channel *jobs = &core->jobs;
    return jobs->pending.count > 0 &&
           (core->busy[CHANNEL_JOBS] == 0 || jobs->pending.count * 2 >= (size_t)core->config.batch ||
            core->now_ms >= jobs->pending_since_ms + ENGINE_JOB_LINGER_MS);
}

static struct finish_item report(struct engine_core *core, const struct entry *entry) {
    const struct job_result_in *in = &entry->extra->result;
    struct finish_item item = {.ref = {entry->job->token, entry->job->id},
                               .delay_ms = in->delay_ms,
                               .duration_ms = in->duration_ms,
                               .output = in->output,
                               .error = in->error,
                               .steps = in->steps,
                               .input_hash = in->input_hash,
                               .output_hash = in->output_hash,
                               .wait_key = in->wait_key,
                               .wait_step = in->wait_step};
    switch (in->end) {
    case JOB_END_DONE:
    case JOB_END_SETTLED: /* never gets here */
        item.outcome = JOB_COMPLETE;
        item.delay_ms = 0;
        break;
    case JOB_END_NOT_RUN:
        item.outcome = JOB_RELEASE;
        item.delay_ms = in->delay_ms > 0 ? in->delay_ms : 0;
        break;
    case JOB_END_WAIT:
        item.outcome = JOB_WAIT;
        break;
    case JOB_END_SNOOZE:
        item.outcome = JOB_SNOOZE;
        item.delay_ms = in->delay_ms > ENGINE_SNOOZE_MS ? in->delay_ms : ENGINE_SNOOZE_MS;
        break;
    case JOB_END_RETRY:
    case JOB_END_PERMANENT:
    case JOB_END_CANCELLED:
        item.outcome = JOB_FAIL;
        item.refused = in->refused;
        item.error_class = in->end == JOB_END_PERMANENT ? CLASS_PERMANENT : CLASS_RETRYABLE;
        item.delay_ms = core_report_retry_ms(core, entry, in->delay_ms);
        break;
    }
    return item;
}

static void build_finish(struct engine_core *core, int wanted) {
    struct job_channel *jobs = &core->jobs;
    size_t most = (size_t)core->config.batch, count = jobs->pending.count < most ? jobs->pending.count : most;
    if (!core_grow(core, (void **)&jobs->items, &jobs->items_capacity, count, sizeof(*jobs->items)))
        return;
    for (size_t i = 0; i < count; i++)
        jobs->items[i] = report(core, jobs->pending.items[i]);
    core_list_send(core, &jobs->pending, count, &jobs->sending);
    pawl_uuid instance = core->metrics.instance;
    jobs->finish = (struct jobs_finish){.instance = instance,
                                        .items = jobs->items,
                                        .count = count,
                                        .claim = {.instance = instance,
                                                  .queue = core->config.queue,
                                                  .max = wanted,
                                                  .lease_ms = core->config.job_lease_ms}};
    if (wanted > 0)
        jobs->finish.claim.request = core_request_key(core);
    jobs->mark = core->known[CHANNEL_JOBS].newest_token;
}

static struct engine_action *call(struct engine_core *core, enum job_call type) {
    static const enum engine_action_type actions[] = {
        [JOBS_FINISH] = ACTION_JOBS_FINISH, [JOBS_RENEW] = ACTION_JOBS_RENEW, [JOBS_FREE] = ACTION_JOBS_FREE};
    core->jobs.call = type;
    core->jobs.sent_ms = core->now_ms; /* before it is sent: leases can only be longer than we think */
    core->jobs.wakes_seen = core->jobs.wakes;
    return core_act(core, actions[type]);
}

static void send_finish(struct engine_core *core, int wanted) {
    struct job_channel *jobs = &core->jobs;
    if (!jobs->resend) {
        build_finish(core, wanted);
        jobs->first_sent_ms = core->now_ms;
    }
    jobs->resend = false;
    struct engine_action *action = call(core, JOBS_FINISH);
    if (action != NULL)
        action->finish = &jobs->finish;
}

static void send_renewals(struct engine_core *core) {
    struct job_channel *jobs = &core->jobs;
    size_t count = core_lease_collect_jobs(core);
    jobs->renew =
        (struct jobs_renew){core->metrics.instance, jobs->renew_items, count, core->config.job_lease_ms};
    struct engine_action *action = call(core, JOBS_RENEW);
    if (action != NULL)
        action->renew = &jobs->renew;
}

/* Idle, and a put wakes us: the store may know that claiming and firing find nothing for a while. */
static bool may_rest(const struct engine_core *core) {
    return core->config.rest_ms > 0 && core->jobs.quiet && !core->stopping && core_jobs_idle(core);
}

void core_jobs_decide(struct engine_core *core) {
    struct job_channel *jobs = &core->jobs;
    if (!core_serves(core, CHANNEL_JOBS) || jobs->lost)
        return;
    if (core_wait_quiet(core) != jobs->quiet) {
        jobs->quiet = !jobs->quiet;
        core_jobs_wake(core); /* what was put before the wish to be woken does not wake us */
    }
    core_lease_untold(core);
    if (jobs->call != JOBS_QUIET || core->now_ms < jobs->backoff_until_ms)
        return;
    int wanted = core->now_ms >= jobs->next_claim_ms ? claim_wanted(core) : 0;
    if (core_lease_renew_due(core, CHANNEL_JOBS))
        send_renewals(core);
    else if (jobs->resend || wanted > 0 || report_due(core))
        send_finish(core, wanted);
    else if (may_rest(core) && core->now_ms >= jobs->look_free_ms)
        (void)call(core, JOBS_FREE);
}

int64_t core_jobs_due_ms(struct engine_core *core) {
    const struct job_channel *jobs = &core->jobs;
    int64_t due_ms = INT64_MAX;
    if (!core_serves(core, CHANNEL_JOBS) || !core->registered || core->deregistering ||
        jobs->call != JOBS_QUIET || jobs->lost)
        return due_ms;
    int64_t times[] = {core_lease_renew_due_ms(core, CHANNEL_JOBS), jobs->resend ? core->now_ms : INT64_MAX,
                       claim_wanted(core) > 0 ? jobs->next_claim_ms : INT64_MAX,
                       jobs->pending.count > 0 ? jobs->pending_since_ms + ENGINE_JOB_LINGER_MS : INT64_MAX,
                       may_rest(core) ? jobs->look_free_ms : INT64_MAX};
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        due_ms = times[i] < due_ms ? times[i] : due_ms;
    return due_ms < jobs->backoff_until_ms ? jobs->backoff_until_ms : due_ms;
}

static void count_answer(struct engine_core *core, const struct entry *entry, enum store_answer answer,
                         enum job_result became) {
    struct engine_job_metrics *m = &core->metrics.jobs;
    enum job_end end = entry->extra->result.end;
    if (answer == ANSWER_STALE) {
        m->stale++;
        return;
    }
    /* A duplicate ended before: in the handler's own transaction, or in a call whose answer was lost. */
    m->completed += end == JOB_END_DONE;
    m->failed += end == JOB_END_RETRY || end == JOB_END_PERMANENT;
    m->released += end == JOB_END_NOT_RUN;
    m->retried += became == JOB_RESULT_RETRY;
    m->dead += became == JOB_RESULT_DEAD;
    m->cancelled += became == JOB_RESULT_CANCELLED;
}

/* The instance has expired, or was evicted: the next beat tells which, and until then nothing is asked. */
static void lose(struct engine_core *core) {
    core->jobs.lost = true;
    core_duty(core, DUTY_BEAT)->due_ms = core->now_ms;
}

static void finish_failed(struct engine_core *core, pawl_status status) {
    struct job_channel *jobs = &core->jobs;
    core->metrics.jobs.lost_calls++;
    if (status == PAWL_STALE) {
        core_list_drop(core, &jobs->sending);
        core_drop(core, CHANNEL_JOBS);
        lose(core);
        return;
    }
    /* The same call again, under the same key: whatever happened to it, it happens once. */
    jobs->resend = true;
    jobs->backoff_until_ms = core->now_ms + core_backoff_ms(core, ++jobs->failures);
}

static void finished(struct engine_core *core, const struct engine_event *event) {
    struct job_channel *jobs = &core->jobs;
    const struct finish_result *result = event->finish;
    if (event->status != PAWL_OK) {
        finish_failed(core, event->status);
        return;
    }
    if (jobs->failures > 0)
        core_known_doubt(core);
    jobs->failures = 0;
    for (size_t i = 0; i < jobs->sending.count; i++)
        count_answer(core, jobs->sending.items[i], result->answers[i], result->results[i]);
    core_list_drop(core, &jobs->sending);
    if (jobs->finish.claim.max > 0) {
        bool more = result->jobs.count * 2 >= (size_t)jobs->finish.claim.max;
        bool late = jobs->wakes != jobs->wakes_seen;
        jobs->empty = result->jobs.count == 0 && !late;
        jobs->next_claim_ms = more || late ? 0 : core->now_ms + core->config.poll_ms;
    }
    const struct grant *grant = core_grant_take_jobs(core, &result->jobs, event->grant, jobs->first_sent_ms);
    if (grant != NULL)
        core_run_learn(core, grant);
}

static void renewals_answered(struct engine_core *core, const struct engine_event *event, bool is_void) {
    core_lease_answers_jobs(core, event->status == PAWL_OK && !is_void ? event->renewed : NULL);
    if (event->status == PAWL_STALE && !is_void)
        lose(core); /* the fences will do the rest */
    else if (event->status != PAWL_OK)
        core->jobs.backoff_until_ms = core->now_ms + ENGINE_BACKOFF_MS_MAX / 2;
}

static void free_answered(struct engine_core *core, const struct engine_event *event) {
    struct job_channel *jobs = &core->jobs;
    int64_t free_ms = event->status == PAWL_OK ? event->free_ms : 0; /* else the next claim will tell */
    if (jobs->wakes != jobs->wakes_seen)
        return;
    jobs->look_free_ms = core->now_ms + (free_ms > 0 ? free_ms : core->config.rest_ms / 3);
    if (free_ms > core->config.poll_ms) {
        /* If nothing is due at that time it is asked again, before it is claimed in vain. */
        int64_t after_ms = free_ms < core->config.rest_ms ? 0 : core->config.poll_ms;
        jobs->next_claim_ms = core->now_ms + free_ms + after_ms;
        duties_rest(&core->duties, DUTY_SCHEDULES, jobs->next_claim_ms);
    }
}

void core_jobs_answered(struct engine_core *core, const struct engine_event *event) {
    struct job_channel *jobs = &core->jobs;
    bool is_void = jobs->is_void;
    jobs->call = JOBS_QUIET;
    jobs->is_void = false;
    switch (event->type) {
    case EVENT_JOBS_FINISHED:
        if (!is_void) {
            finished(core, event);
            break;
        }
        core_list_drop(core, &jobs->sending);
        if (event->status == PAWL_OK)
            (void)core_grant_take_jobs(core, &(struct job_list){0}, event->grant, 0);
        break;
    case EVENT_JOBS_RENEWED:
        renewals_answered(core, event, is_void);
        break;
    default:
        free_answered(core, event);
        break;
    }
}

/* Everything was dropped. What is on its way stays until its call has come back. */
void core_jobs_forget(struct engine_core *core) {
    struct job_channel *jobs = &core->jobs;
    core_list_drop(core, &jobs->pending);
    if (jobs->call != JOBS_FINISH)
        core_list_drop(core, &jobs->sending);
    jobs->is_void = jobs->call == JOBS_FINISH || jobs->call == JOBS_RENEW;
    jobs->resend = false;
    jobs->lost = false;
    struct grant *next = NULL;
    for (struct grant *grant = core->grants.next; grant != &core->grants; grant = next) {
        grant->pins++;
        for (size_t i = 0; i < grant->count; i++) {
            if (grant->entries[i].state == ENTRY_TELLING)
                core_entry_free(core, &grant->entries[i]);
        }
        next = grant->next;
        core_grant_unpin(core, grant);
    }
}

void core_jobs_free(struct engine_core *core) {
    struct job_channel *jobs = &core->jobs;
    for (size_t i = 0; i < jobs->renew.count; i++)
        free(jobs->renewals[i].progress);
    free(jobs->items);
    free(jobs->renew_items);
    free(jobs->renewals);
    free(jobs->pending.items);
    free(jobs->sending.items);
}
