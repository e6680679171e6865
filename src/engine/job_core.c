/* The job side's decisions. */
#include "engine/job_core.h"

#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "domain/retry.h"
#include "engine/job_report.h"

enum entry_state { ENTRY_GONE = 0, ENTRY_WAITING, ENTRY_RUNNING, ENTRY_PENDING, ENTRY_SENDING };

struct entry {
    const struct job *job;
    struct grant *grant;
    struct entry *next; /* in its handler's queue, or among the pending */
    int rule, slot;
    enum entry_state state;
    bool dropped; /* its lease is over for us: whatever it does has no effect */
    bool told;    /* that somebody wants it to stop */
    int64_t claimed_ms, fence_ms, renew_ms, keep_until_ms;
    struct job_result_in result;
};

/* Everything that one call claimed. */
struct grant {
    void *cookie;
    struct entry *entries;
    size_t count, alive;
    struct grant *next;
};

struct slot {
    bool busy;
    enum job_cancel cancelled;
    int rule;
    int64_t deadline_ms;
    size_t count;
    struct entry *entries[JOB_CORE_BUNDLE_MAX];
    const struct job *jobs[JOB_CORE_BUNDLE_MAX];
    pawl_str progress;
};

struct queue {
    struct entry *head, *tail;
    int slots; /* in use */
    double item_us;
};

struct list {
    void **items;
    size_t count, capacity;
};

struct job_core {
    struct job_core_config config;
    struct job_core_metrics metrics;
    pawl_uuid instance;
    struct slot *slots;
    struct queue *queues; /* by rule */
    struct grant *grants;
    struct entry *pending_head, *pending_tail;
    int64_t pending_since_ms;
    struct list free_grants, free_results; /* to be handed back */
    struct jobs_finish finish;
    struct finish_item *items;
    struct entry **sent;
    size_t sent_count;
    bool resend; /* the call as it is goes out again */
    struct jobs_renew renew;
    struct renew_item *renew_items;
    struct entry **renewed;
    int64_t next_claim_ms, backoff_until_ms;
    int failures, turn;
    bool empty, stopping, at_once, out_of_memory;
    int64_t drain_until_ms, leave_ms;
    uint64_t random;
};

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

static uint64_t next_random(struct job_core *core) {
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
    free(core->free_grants.items);
    free(core->free_results.items);
    free(core);
}

struct job_core_metrics job_core_metrics(const struct job_core *core) {
    struct job_core_metrics metrics = core->metrics;
    metrics.idle = core->empty && metrics.running == 0 && metrics.waiting == 0 && metrics.pending == 0 &&
                   core->sent_count == 0;
    return metrics;
}

static void forget(struct job_core *core, struct entry *entry) {
    if (entry->result.owner != NULL)
        push(core, &core->free_results, entry->result.owner);
    entry->result.owner = NULL;
    entry->state = ENTRY_GONE;
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

static void make_pending(struct job_core *core, struct entry *entry, int64_t now_ms) {
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
}

/* Our leases are over, all of them: nothing of what we hold may have an effect any more. */
static void drop_all(struct job_core *core) {
    for (size_t i = 0; i < core->config.rule_count; i++)
        core->queues[i].head = core->queues[i].tail = NULL;
    core->pending_head = core->pending_tail = NULL;
    core->metrics.waiting = core->metrics.pending = 0;
    core->sent_count = 0;
    core->resend = false;
    for (struct grant *grant = core->grants, *next; grant != NULL; grant = next) {
        next = grant->next;
        size_t left = grant->count;
        for (size_t i = 0; i < left; i++) {
            struct entry *entry = &grant->entries[i];
            bool last = grant->alive == 1;
            if (entry->state == ENTRY_RUNNING)
                entry->dropped = true;
            else if (entry->state != ENTRY_GONE) {
                forget(core, entry);
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
        make_pending(core, entry, now_ms);
    }
    core->metrics.claimed += (int64_t)jobs->count;
}

static void count_answer(struct job_core *core, const struct entry *entry, enum store_answer answer,
                         enum job_result became) {
    struct job_core_metrics *m = &core->metrics;
    if (answer == ANSWER_STALE)
        m->stale++;
    if (answer != ANSWER_APPLIED)
        return;
    m->completed += entry->result.end == JOB_END_DONE;
    m->failed += entry->result.end == JOB_END_RETRY || entry->result.end == JOB_END_PERMANENT;
    m->released += entry->result.end == JOB_END_NOT_RUN;
    m->retried += became == JOB_RESULT_RETRY;
    m->dead += became == JOB_RESULT_DEAD;
    m->cancelled += became == JOB_RESULT_CANCELLED;
}

void job_core_finished_call(struct job_core *core, int64_t sent_ms, int64_t now_ms, pawl_status status,
                            const struct finish_result *result, void *grant) {
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
            core->backoff_until_ms = now_ms + retry_wait_ms(&policy, core->failures, next_random(core));
        }
        return;
    }
    core->failures = 0;
    for (size_t i = 0; i < core->sent_count; i++) {
        count_answer(core, core->sent[i], result->answers[i], result->results[i]);
        forget(core, core->sent[i]);
    }
    core->sent_count = 0;
    if (core->finish.claim.max > 0) {
        core->empty = result->jobs.count == 0;
        bool more = result->jobs.count * 2 >= (size_t)core->finish.claim.max;
        core->next_claim_ms = more ? 0 : now_ms + core->config.poll_ms;
    }
    if (result->jobs.count > 0)
        take_grant(core, sent_ms, now_ms, &result->jobs, grant);
    else if (grant != NULL)
        push(core, &core->free_grants, grant);
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
        if (entry->state != ENTRY_WAITING && entry->state != ENTRY_RUNNING)
            continue;
        if (result->answers[i] == ANSWER_STALE) {
            entry->fence_ms = now_ms; /* somebody else has it */
            continue;
        }
        core->metrics.renewed++;
        int64_t third_ms = core->config.lease_ms / 3;
        entry->fence_ms = fence_of(core, sent_ms);
        entry->renew_ms = sent_ms + (entry->state == ENTRY_RUNNING && third_ms > JOB_CORE_RENEW_MS
                                         ? JOB_CORE_RENEW_MS
                                         : third_ms);
        if (result->cancel[i])
            entry->told = true;
    }
}

void job_core_progress(struct job_core *core, int64_t now_ms, int slot, pawl_str progress) {
    struct slot *at = &core->slots[slot];
    for (size_t i = 0; i < at->count; i++)
        at->entries[i]->keep_until_ms = now_ms + JOB_CORE_LEASES_MAX * core->config.lease_ms;
    if (progress.ptr != NULL)
        at->progress = progress;
}

void job_core_slot_ended(struct job_core *core, int64_t now_ms, int slot, const struct job_result_in *results,
                         int64_t elapsed_us) {
    struct slot *at = &core->slots[slot];
    struct queue *queue = &core->queues[at->rule];
    double item_us = (double)elapsed_us / (double)at->count;
    queue->item_us = queue->item_us > 0 ? queue->item_us * 0.8 + item_us * 0.2 : item_us;
    core->metrics.processing_ms += elapsed_us / 1000;
    for (size_t i = 0; i < at->count; i++) {
        struct entry *entry = at->entries[i];
        entry->result = results[i];
        if (entry->dropped || entry->fence_ms <= now_ms) {
            core->metrics.fenced++;
            forget(core, entry);
            continue;
        }
        if (entry->result.end == JOB_END_SETTLED) {
            core->metrics.completed++;
            core->empty = false; /* what it enqueued is there now */
            core->next_claim_ms = 0;
            forget(core, entry);
            continue;
        }
        if (entry->result.end == JOB_END_CANCELLED && at->cancelled == JOB_CANCEL_STOP) {
            entry->result.end = JOB_END_NOT_RUN;
            core->metrics.cut_off++;
        }
        make_pending(core, entry, now_ms);
    }
    *at = (struct slot){0};
    queue->slots--;
    core->metrics.running--;
}

/* ---- what to do next ---- */

static bool hand_back(struct list *list, struct job_action *action, enum job_action_type type) {
    if (list->count == 0)
        return false;
    *action = (struct job_action){.type = type, .owner = list->items[--list->count]};
    return true;
}

static bool cancel_slot(struct job_core *core, int slot, enum job_cancel reason, struct job_action *action) {
    core->slots[slot].cancelled = reason;
    *action = (struct job_action){.type = JOB_ACT_CANCEL, .slot = slot, .reason = reason};
    return true;
}

/* Slots that must be told to end. */
static bool next_cancel(struct job_core *core, int64_t now_ms, struct job_action *action, int64_t *due_ms) {
    for (int i = 0; i < core->config.slots; i++) {
        struct slot *slot = &core->slots[i];
        if (!slot->busy || slot->cancelled != 0)
            continue;
        bool fenced = true, told = false;
        int64_t fence_ms = 0;
        for (size_t k = 0; k < slot->count; k++) {
            fenced = fenced && (slot->entries[k]->dropped || slot->entries[k]->fence_ms <= now_ms);
            told = told || slot->entries[k]->told;
            if (slot->entries[k]->fence_ms > fence_ms)
                fence_ms = slot->entries[k]->fence_ms;
        }
        if (fenced)
            return cancel_slot(core, i, JOB_CANCEL_FENCE, action);
        if (told && slot->count == 1)
            return cancel_slot(core, i, JOB_CANCEL_ASKED, action);
        if (slot->deadline_ms > 0 && now_ms >= slot->deadline_ms)
            return cancel_slot(core, i, JOB_CANCEL_TIMEOUT, action);
        if (core->stopping && now_ms >= core->drain_until_ms)
            return cancel_slot(core, i, JOB_CANCEL_STOP, action);
        if (fence_ms < *due_ms)
            *due_ms = fence_ms;
        if (slot->deadline_ms > 0 && slot->deadline_ms < *due_ms)
            *due_ms = slot->deadline_ms;
    }
    return false;
}

static int free_slot(const struct job_core *core) {
    for (int i = 0; i < core->config.slots; i++) {
        if (!core->slots[i].busy)
            return i;
    }
    return -1;
}

static int64_t timeout_of(const struct job_core *core, const struct entry *entry) {
    return entry->job->timeout_ms > 0 ? entry->job->timeout_ms : core->config.rules[entry->rule].timeout_ms;
}

static struct entry *pop(struct job_core *core, struct queue *queue) {
    struct entry *entry = queue->head;
    queue->head = entry->next;
    if (queue->head == NULL)
        queue->tail = NULL;
    core->metrics.waiting--;
    return entry;
}

static size_t bundle_size(const struct job_core *core, int rule) {
    const struct queue *queue = &core->queues[rule];
    if (!core->config.rules[rule].bundled || queue->item_us > 1000 || queue->item_us <= 0)
        return 1;
    size_t share = core->metrics.waiting / (size_t)core->config.slots + 1;
    return share > JOB_CORE_BUNDLE_MAX ? JOB_CORE_BUNDLE_MAX : share;
}

static bool next_start(struct job_core *core, int64_t now_ms, struct job_action *action) {
    int at = core->stopping || core->metrics.waiting == 0 ? -1 : free_slot(core);
    if (at < 0)
        return false;
    for (size_t i = 0; i < core->config.rule_count; i++) {
        int rule = (int)(((size_t)core->turn + i) % core->config.rule_count);
        struct queue *queue = &core->queues[rule];
        const struct job_rule *rules = &core->config.rules[rule];
        if (queue->head == NULL || (rules->concurrency > 0 && queue->slots >= rules->concurrency))
            continue;
        struct slot *slot = &core->slots[at];
        size_t most = bundle_size(core, rule);
        *slot = (struct slot){.rule = rule};
        int64_t fence_ms = INT64_MAX, timeout_ms = 0;
        while (slot->count < most && queue->head != NULL) {
            struct entry *entry = pop(core, queue);
            if (entry->fence_ms <= now_ms) {
                core->metrics.fenced++;
                forget(core, entry);
                continue;
            }
            entry->state = ENTRY_RUNNING;
            entry->slot = at;
            entry->keep_until_ms = now_ms + JOB_CORE_LEASES_MAX * core->config.lease_ms;
            if (entry->renew_ms > now_ms + JOB_CORE_RENEW_MS)
                entry->renew_ms = now_ms + JOB_CORE_RENEW_MS;
            timeout_ms = timeout_of(core, entry);
            if (entry->fence_ms < fence_ms)
                fence_ms = entry->fence_ms;
            slot->jobs[slot->count] = entry->job;
            slot->entries[slot->count++] = entry;
            if (timeout_ms > 0)
                break; /* what has a time limit runs alone */
        }
        if (slot->count == 0)
            continue;
        slot->busy = true;
        slot->deadline_ms = timeout_ms > 0 ? now_ms + timeout_ms : 0;
        queue->slots++;
        core->metrics.running++;
        core->turn = rule + 1;
        *action = (struct job_action){.type = JOB_ACT_START,
                                      .slot = at,
                                      .rule = rule,
                                      .jobs = slot->jobs,
                                      .count = slot->count,
                                      .claimed_ms = slot->entries[0]->claimed_ms,
                                      .fence_ms = fence_ms,
                                      .deadline_ms = slot->deadline_ms};
        return true;
    }
    return false;
}

/* Whether a job is still worth its lease: a handler with no limit that shows no progress is given up in the
 * end. */
static bool worth_renewing(const struct job_core *core, const struct entry *entry, int64_t now_ms) {
    if (entry->dropped || entry->fence_ms <= now_ms)
        return false;
    if (entry->state == ENTRY_WAITING)
        return true;
    const struct slot *slot = &core->slots[entry->slot];
    if (slot->cancelled == JOB_CANCEL_FENCE)
        return false;
    if (slot->deadline_ms > 0)
        return now_ms < slot->deadline_ms + JOB_CORE_LEAVE_MS;
    return now_ms < entry->keep_until_ms;
}

static bool next_renew(struct job_core *core, int64_t now_ms, struct job_action *action, int64_t *due_ms) {
    size_t count = 0;
    bool due = false;
    for (const struct grant *grant = core->grants; grant != NULL; grant = grant->next) {
        for (size_t i = 0; i < grant->count && count < (size_t)core->config.batch; i++) {
            struct entry *entry = &grant->entries[i];
            if ((entry->state != ENTRY_WAITING && entry->state != ENTRY_RUNNING) ||
                !worth_renewing(core, entry, now_ms))
                continue;
            if (entry->renew_ms < *due_ms)
                *due_ms = entry->renew_ms;
            due = due || entry->renew_ms <= now_ms;
            if (entry->renew_ms > now_ms + JOB_CORE_RENEW_MS / 4)
                continue; /* what is due soon comes along */
            core->renewed[count] = entry;
            core->renew_items[count++] = (struct renew_item){
                {entry->job->token, entry->job->id},
                entry->state == ENTRY_RUNNING ? core->slots[entry->slot].progress : (pawl_str){NULL, 0}};
        }
    }
    if (!due || count == 0)
        return false;
    core->renew = (struct jobs_renew){core->instance, core->renew_items, count, core->config.lease_ms};
    *action = (struct job_action){.type = JOB_ACT_RENEW, .renew = &core->renew};
    return true;
}

static int claim_wanted(const struct job_core *core, int64_t now_ms) {
    int64_t wanted = (int64_t)core->config.slots * 2;
    double item_us = 0;
    if (core->stopping || now_ms < core->next_claim_ms)
        return 0;
    for (size_t i = 0; i < core->config.rule_count; i++) {
        if (core->queues[i].item_us > item_us)
            item_us = core->queues[i].item_us;
    }
    if (item_us > 0)
        wanted = core->config.slots + (int64_t)(core->config.slots * JOB_CORE_AHEAD_MS * 1000.0 / item_us);
    if (wanted > core->config.batch)
        wanted = core->config.batch;
    int64_t held = (int64_t)core->metrics.waiting + core->metrics.running;
    return held * 2 > wanted ? 0 : (int)(wanted - held);
}

static bool next_finish(struct job_core *core, int64_t now_ms, struct job_action *action, int64_t *due_ms) {
    if (uuid_is_nil(core->instance))
        return false;
    if (core->resend) {
        *action = (struct job_action){.type = JOB_ACT_FINISH, .finish = &core->finish};
        return true;
    }
    int wanted = claim_wanted(core, now_ms);
    bool report = core->metrics.pending > 0 &&
                  (core->metrics.running == 0 || core->metrics.pending * 2 >= (size_t)core->config.batch ||
                   now_ms >= core->pending_since_ms + JOB_CORE_LINGER_MS);
    if (core->metrics.pending > 0 && core->pending_since_ms + JOB_CORE_LINGER_MS < *due_ms)
        *due_ms = core->pending_since_ms + JOB_CORE_LINGER_MS;
    if (wanted == 0 && !report) {
        if (!core->stopping && core->next_claim_ms > now_ms && core->next_claim_ms < *due_ms)
            *due_ms = core->next_claim_ms;
        return false;
    }
    core->sent_count = 0;
    while (core->pending_head != NULL && core->sent_count < (size_t)core->config.batch) {
        struct entry *entry = core->pending_head;
        core->pending_head = entry->next;
        entry->state = ENTRY_SENDING;
        core->items[core->sent_count] = job_report(entry->job, &entry->result,
                                                   entry->rule >= 0 ? &core->config.rules[entry->rule] : NULL,
                                                   next_random(core));
        core->sent[core->sent_count++] = entry;
        core->metrics.pending--;
    }
    if (core->pending_head == NULL)
        core->pending_tail = NULL;
    core->finish =
        (struct jobs_finish){core->instance,
                             core->items,
                             core->sent_count,
                             {core->instance, core->config.queue, wanted, core->config.lease_ms, uuid_nil()}};
    for (size_t i = 0; wanted > 0 && i < sizeof(core->finish.claim.request.b); i++)
        core->finish.claim.request.b[i] = (uint8_t)(next_random(core) >> 24);
    *action = (struct job_action){.type = JOB_ACT_FINISH, .finish = &core->finish};
    return true;
}

/* A stop gives back what has not begun. */
static void give_back_waiting(struct job_core *core, int64_t now_ms) {
    for (size_t i = 0; i < core->config.rule_count; i++) {
        while (core->queues[i].head != NULL) {
            struct entry *entry = pop(core, &core->queues[i]);
            entry->result = (struct job_result_in){.end = JOB_END_NOT_RUN};
            make_pending(core, entry, now_ms);
        }
    }
}

static bool finished(struct job_core *core, int64_t now_ms) {
    if (!core->stopping)
        return false;
    if (core->leave_ms == 0 && now_ms >= core->drain_until_ms)
        core->leave_ms = core->drain_until_ms + JOB_CORE_LEAVE_MS;
    bool nothing = core->metrics.running == 0 && core->metrics.pending == 0 && core->sent_count == 0;
    if (core->metrics.running > 0 && core->leave_ms > 0 && now_ms >= core->leave_ms)
        core->metrics.cut_off++;
    return nothing || (core->leave_ms > 0 && now_ms >= core->leave_ms) ||
           (core->metrics.running == 0 && uuid_is_nil(core->instance));
}

bool job_core_next(struct job_core *core, int64_t now_ms, struct job_action *action) {
    bool rests = core->next_claim_ms > now_ms + core->config.poll_ms && core->metrics.running == 0;
    int64_t due_ms = rests ? core->next_claim_ms : now_ms + core->config.poll_ms;
    if (core->out_of_memory)
        return false;
    if (core->stopping && core->metrics.waiting > 0)
        give_back_waiting(core, now_ms);
    if (hand_back(&core->free_results, action, JOB_ACT_FREE_RESULT) ||
        hand_back(&core->free_grants, action, JOB_ACT_FREE_GRANT) ||
        next_cancel(core, now_ms, action, &due_ms) || next_start(core, now_ms, action))
        return true;
    if (finished(core, now_ms)) {
        *action = (struct job_action){.type = JOB_ACT_DONE};
        return true;
    }
    if (now_ms >= core->backoff_until_ms) {
        if (!uuid_is_nil(core->instance) && next_renew(core, now_ms, action, &due_ms))
            return true;
        if (next_finish(core, now_ms, action, &due_ms))
            return true;
    } else if (core->backoff_until_ms < due_ms) {
        due_ms = core->backoff_until_ms;
    }
    if (core->stopping && due_ms > now_ms + 100)
        due_ms = now_ms + 100;
    *action = (struct job_action){.type = JOB_ACT_WAIT, .at_ms = due_ms > now_ms ? due_ms : now_ms + 1};
    return true;
}
