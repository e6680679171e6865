/* The job side's core: what it holds, and what the world tells it. */
#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "domain/failure/retry.h"
#include "engine/jobs/job_core_int.h"

static bool push(struct job_core *core, struct list *list, void *item) {
    if (list->count == list->capacity) {
        size_t wanted = list->capacity > 0 ? list->capacity * 2 : 64;
        void **grown = realloc(list->items, wanted * sizeof(*grown));
        if (grown == NULL) {
            core->out_of_memory = true;
            return false;
        }
        list->items = grown;
        list->capacity = wanted;
    }
    list->items[list->count++] = item;
    return true;
}

uint64_t job_core_random(struct job_core *core) {
    core->random ^= core->random << 13;
    core->random ^= core->random >> 7;
    core->random ^= core->random << 17;
    return core->random;
}

struct job_core *job_core_create(const struct job_core_config *config) {
    struct job_core *core = calloc(1, sizeof(*core));
    if (core == NULL)
        return NULL;
    core->config = *config;
    core->random = config->seed | 1;
    core->slots = calloc((size_t)config->slots, sizeof(*core->slots));
    core->queues = calloc(config->rule_count + 1, sizeof(*core->queues));
    core->items = calloc((size_t)config->batch, sizeof(*core->items));
    core->sent = calloc((size_t)config->batch, sizeof(struct entry *));
    core->renew_items = calloc((size_t)config->batch, sizeof(*core->renew_items));
    core->renewed = calloc((size_t)config->batch, sizeof(struct entry *));
    if (core->slots == NULL || core->queues == NULL || core->items == NULL || core->sent == NULL ||
        core->renew_items == NULL || core->renewed == NULL) {
        job_core_free(core);
        return NULL;
    }
    return core;
}

void job_core_free(struct job_core *core) {
    if (core == NULL)
        return;
    while (core->grants != NULL) {
        struct grant *next = core->grants->next;
        for (size_t i = 0; i < core->grants->count; i++)
            free(core->grants->entries[i].progress);
        free(core->grants->entries);
        free(core->grants);
        core->grants = next;
    }
    free(core->slots);
    free(core->queues);
    free(core->items);
    free(core->sent);
    free(core->renew_items);
    free(core->renewed);
    free(core->held);
    free(core->left);
    free(core->free_grants.items);
    free(core->free_results.items);
    free(core);
}

struct job_core_metrics job_core_metrics(const struct job_core *core) {
    struct job_core_metrics metrics = core->metrics;
    metrics.idle = core->empty && metrics.running == 0 && metrics.waiting == 0 && metrics.pending == 0 &&
                   core->telling == 0 && core->sent_count == 0;
    return metrics;
}

void job_core_forget(struct job_core *core, struct entry *entry) {
    if (entry->result.owner != NULL)
        push(core, &core->free_results, entry->result.owner);
    entry->result.owner = NULL;
    core->telling -= entry->state == ENTRY_TELLING;
    entry->state = ENTRY_GONE;
    free(entry->progress);
    entry->progress = NULL;
    struct grant *grant = entry->grant;
    if (--grant->alive > 0)
        return;
    for (struct grant **at = &core->grants; *at != NULL; at = &(*at)->next) {
        if (*at == grant) {
            *at = grant->next;
            break;
        }
    }
    push(core, &core->free_grants, grant->cookie);
    free(grant->entries);
    free(grant);
}

void job_core_pend(struct job_core *core, struct entry *entry, int64_t now_ms) {
    entry->state = ENTRY_PENDING;
    entry->next = NULL;
    if (core->pending_tail == NULL) {
        core->pending_head = entry;
        core->pending_since_ms = now_ms;
    } else {
        core->pending_tail->next = entry;
    }
    core->pending_tail = entry;
    core->metrics.pending++;
}

static void enqueue(struct job_core *core, struct entry *entry) {
    struct queue *queue = &core->queues[entry->rule];
    entry->state = ENTRY_WAITING;
    entry->next = NULL;
    if (queue->tail == NULL)
        queue->head = entry;
    else
        queue->tail->next = entry;
    queue->tail = entry;
    core->metrics.waiting++;
    core->careful_waiting += job_core_is_careful(entry);
}

bool job_core_is_quick(const struct job_core *core, int rule) {
    double item_us = core->queues[rule].item_us;
    return core->config.rules[rule].bundled && item_us > 0 && item_us <= JOB_CORE_QUICK_US;
}

/* Whether the next claim may ask for more than can begin at once: only while all that comes is quick, and not
 * for what is started with care. */
static void plan_ahead(struct job_core *core, const struct grant *grant) {
    core->ahead_us = 0;
    for (size_t i = 0; i < grant->count; i++) {
        const struct entry *entry = &grant->entries[i];
        bool quick = entry->rule >= 0 && job_core_is_quick(core, entry->rule) && !job_core_is_careful(entry);
        if (!quick) {
            core->ahead_us = 0;
            return;
        }
        if (core->queues[entry->rule].item_us > core->ahead_us)
            core->ahead_us = core->queues[entry->rule].item_us;
    }
}

/* Our leases are over, all of them: nothing of what we hold may have an effect any more. */
static void drop_all(struct job_core *core) {
    for (size_t i = 0; i < core->config.rule_count; i++)
        core->queues[i].head = core->queues[i].tail = NULL;
    core->pending_head = core->pending_tail = NULL;
    core->metrics.waiting = core->metrics.pending = core->careful_waiting = 0;
    core->sent_count = 0;
    core->resend = false;
    for (struct grant *grant = core->grants, *next; grant != NULL; grant = next) {
        next = grant->next;
        size_t left = grant->count;
        for (size_t i = 0; i < left; i++) {
            struct entry *entry = &grant->entries[i];
            bool last = grant->alive == 1;
            if (entry->state == ENTRY_BEGINNING)
                job_core_vacate(core, entry->slot);
            if (entry->state == ENTRY_RUNNING)
                entry->dropped = true;
            else if (entry->state != ENTRY_GONE) {
                job_core_forget(core, entry);
                if (last)
                    break;
            }
        }
    }
}

void job_core_instance(struct job_core *core, pawl_uuid instance) {
    if (uuid_equal(core->instance, instance))
        return;
    if (!uuid_is_nil(core->instance))
        drop_all(core);
    core->instance = instance;
    core->next_claim_ms = 0;
}

void job_core_claim_at(struct job_core *core, int64_t at_ms) { core->next_claim_ms = at_ms; }

void job_core_stop(struct job_core *core, int64_t now_ms, bool at_once) {
    if (!core->stopping)
        core->drain_until_ms = now_ms + core->config.drain_ms;
    core->stopping = true;
    if (at_once)
        core->drain_until_ms = now_ms;
}

static int64_t fence_of(const struct job_core *core, int64_t sent_ms) {
    int64_t grace_ms = core->config.lease_ms / 10;
    return sent_ms + core->config.lease_ms - (grace_ms > 2000 ? 2000 : grace_ms);
}

static void take_grant(struct job_core *core, int64_t sent_ms, int64_t now_ms, const struct job_list *jobs,
                       void *cookie) {
    struct grant *grant = calloc(1, sizeof(*grant));
    struct entry *entries = calloc(jobs->count + 1, sizeof(*entries));
    if (grant == NULL || entries == NULL) {
        free(grant);
        free(entries);
        core->out_of_memory = true;
        return;
    }
    *grant = (struct grant){cookie, entries, jobs->count, jobs->count, core->grants};
    core->grants = grant;
    for (size_t i = 0; i < jobs->count; i++) {
        struct entry *entry = &entries[i];
        if (jobs->jobs[i].token > core->seen_token)
            core->seen_token = jobs->jobs[i].token;
        *entry = (struct entry){.job = &jobs->jobs[i],
                                .grant = grant,
                                .claimed_ms = sent_ms,
                                .rule = core->config.match(core->config.match_self, &jobs->jobs[i]),
                                .fence_ms = fence_of(core, sent_ms),
                                .renew_ms = sent_ms + core->config.lease_ms / 3};
        if (entry->rule >= 0) {
            enqueue(core, entry);
            continue;
        }
        entry->result = (struct job_result_in){.end = JOB_END_NOT_RUN, .delay_ms = JOB_CORE_NO_HANDLER_MS};
        job_core_pend(core, entry, now_ms);
    }
    core->metrics.claimed += (int64_t)jobs->count;
    if (core->seen_token > core->newest_token)
        core->newest_token = core->seen_token;
    plan_ahead(core, grant);
}

static void count_answer(struct job_core *core, const struct entry *entry, enum store_answer answer,
                         enum job_result became) {
    struct job_core_metrics *m = &core->metrics;
    if (answer == ANSWER_STALE) {
        m->stale++;
        return;
    }
    /* A duplicate ended before: in the handler's own transaction, or in a call whose answer was lost. */
    m->completed += entry->result.end == JOB_END_DONE;
    m->failed += entry->result.end == JOB_END_RETRY || entry->result.end == JOB_END_PERMANENT;
    m->released += entry->result.end == JOB_END_NOT_RUN;
    m->retried += became == JOB_RESULT_RETRY;
    m->dead += became == JOB_RESULT_DEAD;
    m->cancelled += became == JOB_RESULT_CANCELLED;
}

void job_core_finished_call(struct job_core *core, int64_t sent_ms, int64_t now_ms, pawl_status status,
                            const struct finish_result *result, void *grant) {
    if (!core->resend)
        core->first_sent_ms = sent_ms;
    core->resend = false;
    if (status != PAWL_OK) {
        core->metrics.lost_calls++;
        core->failures++;
        if (status == PAWL_STALE) { /* evicted: a new instance will come */
            drop_all(core);
            core->instance = uuid_nil();
        } else {
            /* The same call again, under the same key: whatever happened to it, it happens once. */
            struct retry_policy policy = {50, JOB_CORE_BACKOFF_MS_MAX, true};
            core->resend = core->finish.count > 0 || core->finish.claim.max > 0;
            core->backoff_until_ms = now_ms + retry_wait_ms(&policy, core->failures, job_core_random(core));
        }
        return;
    }
    if (core->failures > 0)
        core->settle_at_ms = now_ms; /* what got lost meanwhile is found out now */
    core->failures = 0;
    for (size_t i = 0; i < core->sent_count; i++) {
        count_answer(core, core->sent[i], result->answers[i], result->results[i]);
        job_core_forget(core, core->sent[i]);
    }
    core->sent_count = 0;
    if (core->finish.claim.max > 0) {
        core->empty = result->jobs.count == 0;
        bool more = result->jobs.count * 2 >= (size_t)core->finish.claim.max;
        core->next_claim_ms = more ? 0 : now_ms + core->config.poll_ms;
    }
    if (result->jobs.count > 0)
        take_grant(core, core->first_sent_ms, now_ms, &result->jobs, grant);
    else if (grant != NULL)
        push(core, &core->free_grants, grant);
}

/* A grant that the holder does not know is taken back by the next call, now that its token is known. */
void job_core_settled(struct job_core *core, int64_t now_ms, pawl_status status,
                      const struct grants_settled *result) {
    core->settle_at_ms = now_ms + core->config.settle_ms;
    if (status != PAWL_OK || result->newest <= core->newest_token)
        return;
    core->newest_token = result->newest;
    core->settle_at_ms = now_ms;
}

/* A job that ran into the end of its lease: that costs an attempt, and the store counts it when the lease
 * ends. Until then it is listed as held, so that it is not given back. */
static void leave(struct job_core *core, const struct job *job, int64_t until_ms) {
    if (core->config.settle_ms == 0)
        return;
    if (core->left_count == core->left_capacity) {
        size_t wanted = core->left_capacity > 0 ? core->left_capacity * 2 : 16;
        struct left_job *grown = realloc(core->left, wanted * sizeof(*grown));
        if (grown == NULL) {
            core->out_of_memory = true;
            return;
        }
        core->left = grown;
        core->left_capacity = wanted;
    }
    core->left[core->left_count++] = (struct left_job){{job->token, job->id}, until_ms};
}

void job_core_fenced(struct job_core *core, struct entry *entry, int64_t now_ms) {
    core->metrics.fenced++;
    leave(core, entry->job, now_ms + core->config.lease_ms);
    job_core_forget(core, entry);
}

void job_core_renewed(struct job_core *core, int64_t sent_ms, int64_t now_ms, pawl_status status,
                      const struct renew_result *result) {
    if (status == PAWL_STALE)
        core->instance = uuid_nil(); /* the fences will do the rest */
    if (status != PAWL_OK) {
        core->backoff_until_ms = now_ms + JOB_CORE_BACKOFF_MS_MAX / 2;
        return;
    }
    for (size_t i = 0; i < core->renew.count; i++) {
        struct entry *entry = core->renewed[i];
        if (entry->state == ENTRY_TELLING) { /* whatever the answer: the report comes next */
            core->telling--;
            job_core_pend(core, entry, now_ms);
            continue;
        }
        if (entry->state != ENTRY_BEGINNING && entry->state != ENTRY_RUNNING)
            continue;
        entry->unsent = false;
        if (result->answers[i] == ANSWER_STALE) {
            entry->fence_ms = now_ms; /* another worker has it */
            continue;
        }
        core->metrics.renewed++;
        if (entry->state == ENTRY_BEGINNING)
            core->slots[entry->slot].announced = true;
        int64_t third_ms = core->config.lease_ms / 3;
        entry->fence_ms = fence_of(core, sent_ms);
        entry->renew_ms = sent_ms + (third_ms > JOB_CORE_RENEW_MS ? JOB_CORE_RENEW_MS : third_ms);
        if (result->cancel[i])
            entry->told = true;
    }
}

void job_core_vacate(struct job_core *core, int slot) {
    core->queues[core->slots[slot].rule].slots--;
    core->slots[slot] = (struct slot){0};
    core->metrics.running--;
}

void job_core_gets_on(struct job_core *core, int64_t now_ms, int slot) {
    struct slot *at = &core->slots[slot];
    for (size_t i = 0; i < at->count; i++)
        at->entries[i]->keep_until_ms = now_ms + JOB_CORE_LEASES_MAX * core->config.lease_ms;
}

void job_core_progress(struct job_core *core, int slot, size_t at, char *text, size_t len) {
    struct entry *entry = core->slots[slot].entries[at];
    free(entry->progress);
    entry->progress = text;
    entry->progress_len = len;
    entry->unsent = true;
}

void job_core_slot_ended(struct job_core *core, int64_t now_ms, int slot, const struct job_result_in *results,
                         int64_t elapsed_us) {
    struct slot *at = &core->slots[slot];
    struct queue *queue = &core->queues[at->rule];
    double item_us = (double)elapsed_us / (double)at->count;
    queue->item_us = queue->item_us > 0 ? queue->item_us * 0.8 + item_us * 0.2 : item_us;
    core->metrics.processing_us += elapsed_us;
    core->empty = false; /* what ran may have enqueued more: only the next claim knows */
    for (size_t i = 0; i < at->count; i++) {
        struct entry *entry = at->entries[i];
        entry->result = results[i];
        if (entry->dropped || entry->fence_ms <= now_ms) {
            job_core_fenced(core, entry, now_ms);
            continue;
        }
        if (entry->result.end == JOB_END_SETTLED) {
            core->metrics.completed++;
            core->next_claim_ms = 0; /* what it enqueued is there now */
            job_core_forget(core, entry);
            continue;
        }
        if (entry->result.end == JOB_END_CANCELLED && at->cancelled == STOP_LEAVING) {
            entry->result.end = JOB_END_NOT_RUN;
            core->metrics.cut_off++;
        }
        if (entry->unsent && entry->result.end != JOB_END_DONE) {
            entry->state = ENTRY_TELLING;
            entry->renew_ms = now_ms;
            core->telling++;
            continue;
        }
        job_core_pend(core, entry, now_ms);
    }
    job_core_vacate(core, slot);
}
