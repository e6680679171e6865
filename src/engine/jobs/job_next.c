/* The job side's core: what it wants done next. */
#include <stdlib.h>

#include "base/uuid.h"
#include "engine/jobs/job_core_int.h"
#include "engine/jobs/job_report.h"

static bool hand_back(struct list *list, struct job_action *action, enum job_action_type type) {
    if (list->count == 0)
        return false;
    *action = (struct job_action){.type = type, .owner = list->items[--list->count]};
    return true;
}

static bool cancel_slot(struct job_core *core, int slot, enum stop_reason reason, struct job_action *action) {
    core->slots[slot].cancelled = reason;
    *action = (struct job_action){.type = JOB_ACT_CANCEL, .slot = slot, .reason = reason};
    return true;
}

/* Slots that must be told to end. */
static bool next_cancel(struct job_core *core, int64_t now_ms, struct job_action *action, int64_t *due_ms) {
    for (int i = 0; i < core->config.slots; i++) {
        struct slot *slot = &core->slots[i];
        if (!slot->busy || slot->beginning || slot->cancelled != 0)
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
            return cancel_slot(core, i, STOP_FENCED, action);
        if (told && slot->count == 1)
            return cancel_slot(core, i, STOP_ASKED, action);
        if (slot->deadline_ms > 0 && now_ms >= slot->deadline_ms)
            return cancel_slot(core, i, STOP_TIMEOUT, action);
        if (core->stopping && now_ms >= core->drain_until_ms)
            return cancel_slot(core, i, STOP_LEAVING, action);
        if (fence_ms < *due_ms)
            *due_ms = fence_ms;
        if (slot->deadline_ms > 0 && slot->deadline_ms < *due_ms)
            *due_ms = slot->deadline_ms;
    }
    return false;
}

/* Whether a job is still worth its lease: a handler with no limit that shows no progress is given up in the
 * end. */
static bool worth_renewing(const struct job_core *core, const struct entry *entry, int64_t now_ms) {
    if (entry->dropped || entry->fence_ms <= now_ms)
        return false;
    if (entry->state == ENTRY_BEGINNING || entry->state == ENTRY_TELLING)
        return true;
    const struct slot *slot = &core->slots[entry->slot];
    if (slot->cancelled == STOP_FENCED)
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
            /* Not what waits: a job that is renewed has begun, and nothing waits for long. */
            bool held = entry->state == ENTRY_BEGINNING || entry->state == ENTRY_RUNNING ||
                        entry->state == ENTRY_TELLING;
            bool worth = held && worth_renewing(core, entry, now_ms);
            if (entry->state == ENTRY_TELLING && !worth) {
                core->telling--;
                job_core_pend(core, entry, now_ms);
            }
            if (!worth)
                continue;
            if (entry->renew_ms < *due_ms)
                *due_ms = entry->renew_ms;
            due = due || entry->renew_ms <= now_ms;
            if (entry->renew_ms > now_ms + JOB_CORE_RENEW_MS / 4)
                continue; /* what is due soon comes along */
            core->renewed[count] = entry;
            pawl_str progress = {entry->unsent ? entry->progress : NULL,
                                 entry->unsent ? entry->progress_len : 0};
            core->renew_items[count++] = (struct renew_item){{entry->job->token, entry->job->id}, progress};
        }
    }
    if (!due || count == 0)
        return false;
    core->renew = (struct jobs_renew){core->instance, core->renew_items, count, core->config.lease_ms};
    *action = (struct job_action){.type = JOB_ACT_RENEW, .renew = &core->renew};
    return true;
}

/* What is held, from time to time: the store takes back the rest. Not while a call may have granted something
 * of which no answer has come. */
static bool next_settle(struct job_core *core, int64_t now_ms, struct job_action *action, int64_t *due_ms) {
    size_t count = 0, kept = 0;
    if (core->config.settle_ms == 0 || core->resend || core->stopping)
        return false;
    if (now_ms < core->settle_at_ms) {
        /* With nothing in hand there is no hurry: an idle worker costs little. */
        int64_t at_ms = core->settle_at_ms + (core->grants == NULL ? 4 * core->config.settle_ms : 0);
        if (at_ms < *due_ms)
            *due_ms = at_ms;
        return false;
    }
    for (const struct grant *grant = core->grants; grant != NULL; grant = grant->next)
        count += grant->count;
    count += core->left_count;
    if (count > core->held_capacity) {
        struct grant_held *grown = realloc(core->held, count * sizeof(*grown));
        if (grown == NULL)
            return false; /* the next time, perhaps */
        core->held = grown;
        core->held_capacity = count;
    }
    count = 0;
    for (const struct grant *grant = core->grants; grant != NULL; grant = grant->next) {
        for (size_t i = 0; i < grant->count; i++) {
            if (grant->entries[i].state != ENTRY_GONE)
                core->held[count++] =
                    (struct grant_held){grant->entries[i].job->token, grant->entries[i].job->id};
        }
    }
    for (size_t i = 0; i < core->left_count; i++) {
        if (core->left[i].until_ms <= now_ms)
            continue;
        core->left[kept++] = core->left[i];
        core->held[count++] = core->left[i].grant;
    }
    core->left_count = kept;
    core->settle = (struct grants_settle){.instance = core->instance,
                                          .side = GRANTS_JOBS,
                                          .held = core->held,
                                          .count = count,
                                          .settled = core->newest_token,
                                          .seen = core->seen_token};
    *action = (struct job_action){.type = JOB_ACT_SETTLE, .settle = &core->settle};
    return true;
}

/* As many as can begin at once; more only while all that comes is quick. */
static int claim_wanted(const struct job_core *core, int64_t now_ms) {
    int64_t slots = core->config.slots, wanted = slots;
    if (core->stopping || now_ms < core->next_claim_ms)
        return 0;
    if (core->ahead_us > 0)
        wanted = slots + (int64_t)((double)slots * JOB_CORE_AHEAD_MS * 1000.0 / core->ahead_us);
    if (wanted > core->config.batch)
        wanted = core->config.batch;
    int64_t held = (int64_t)core->metrics.waiting + core->metrics.running;
    bool enough = core->ahead_us > 0 ? held * 2 > wanted : held >= wanted;
    return enough ? 0 : (int)(wanted - held);
}

static void give_back(struct job_core *core, struct entry *entry, int64_t now_ms) {
    entry->result = (struct job_result_in){.end = JOB_END_NOT_RUN,
                                           .delay_ms = job_core_free_slot(core) >= 0 ? JOB_CORE_FULL_MS : 0};
    job_core_pend(core, entry, now_ms);
}

/* Nothing more can begin now: what has waited long enough, and what must not wait, goes back. */
static void give_back_late(struct job_core *core, int64_t now_ms, int64_t *due_ms) {
    for (size_t i = 0; i < core->config.rule_count && core->metrics.waiting > 0; i++) {
        struct queue *queue = &core->queues[i];
        while (queue->head != NULL && queue->head->claimed_ms + JOB_CORE_WAIT_MS <= now_ms) {
            core->ahead_us = 0; /* not so quick after all */
            give_back(core, job_core_pop(core, queue), now_ms);
        }
        if (queue->head != NULL && queue->head->claimed_ms + JOB_CORE_WAIT_MS < *due_ms)
            *due_ms = queue->head->claimed_ms + JOB_CORE_WAIT_MS;
        if (core->careful_waiting == 0)
            continue;
        struct entry *rest = queue->head;
        queue->head = queue->tail = NULL;
        while (rest != NULL) {
            struct entry *entry = rest;
            rest = entry->next;
            entry->next = NULL;
            if (job_core_is_careful(entry)) {
                core->metrics.waiting--;
                core->careful_waiting--;
                give_back(core, entry, now_ms);
                continue;
            }
            if (queue->tail == NULL)
                queue->head = entry;
            else
                queue->tail->next = entry;
            queue->tail = entry;
        }
    }
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
                                                   job_core_random(core));
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
        core->finish.claim.request.b[i] = (uint8_t)(job_core_random(core) >> 24);
    *action = (struct job_action){.type = JOB_ACT_FINISH, .finish = &core->finish};
    return true;
}

/* A stop gives back what has not begun. */
static void give_back_waiting(struct job_core *core, int64_t now_ms) {
    for (size_t i = 0; i < core->config.rule_count; i++) {
        while (core->queues[i].head != NULL) {
            struct entry *entry = job_core_pop(core, &core->queues[i]);
            entry->result = (struct job_result_in){.end = JOB_END_NOT_RUN};
            job_core_pend(core, entry, now_ms);
        }
    }
}

static bool finished(struct job_core *core, int64_t now_ms) {
    if (!core->stopping)
        return false;
    if (core->leave_ms == 0 && now_ms >= core->drain_until_ms)
        core->leave_ms = core->drain_until_ms + JOB_CORE_LEAVE_MS;
    bool nothing = core->metrics.running == 0 && core->metrics.pending == 0 && core->telling == 0 &&
                   core->sent_count == 0;
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
        next_cancel(core, now_ms, action, &due_ms) || job_core_start(core, now_ms, action))
        return true;
    give_back_late(core, now_ms, &due_ms);
    if (finished(core, now_ms)) {
        *action = (struct job_action){.type = JOB_ACT_DONE};
        return true;
    }
    if (now_ms >= core->backoff_until_ms) {
        if (!uuid_is_nil(core->instance) &&
            (next_renew(core, now_ms, action, &due_ms) || next_settle(core, now_ms, action, &due_ms)))
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
