/* The job side's core: what begins. */
#include "engine/jobs/job_core_int.h"

int job_core_free_slot(const struct job_core *core) {
    for (int i = 0; i < core->config.slots; i++) {
        if (!core->slots[i].busy)
            return i;
    }
    return -1;
}

struct entry *job_core_pop(struct job_core *core, struct queue *queue) {
    struct entry *entry = queue->head;
    queue->head = entry->next;
    if (queue->head == NULL)
        queue->tail = NULL;
    core->metrics.waiting--;
    core->careful_waiting -= job_core_is_careful(entry);
    return entry;
}

static int64_t timeout_of(const struct job_core *core, const struct entry *entry) {
    return entry->job->timeout_ms > 0 ? entry->job->timeout_ms : core->config.rules[entry->rule].timeout_ms;
}

static size_t bundle_size(const struct job_core *core, int rule) {
    if (!job_core_is_quick(core, rule))
        return 1;
    size_t slots = (size_t)core->config.slots, share = (core->metrics.waiting + slots - 1) / slots;
    return share > JOB_CORE_BUNDLE_MAX ? JOB_CORE_BUNDLE_MAX : share;
}

/* Jobs of one handler go to a free slot. What has a time limit runs alone, and so does what is started with
 * care. */
static void fill(struct job_core *core, int64_t now_ms, int at, int rule) {
    struct queue *queue = &core->queues[rule];
    struct slot *slot = &core->slots[at];
    size_t most = bundle_size(core, rule);
    *slot = (struct slot){.rule = rule};
    while (slot->count < most && queue->head != NULL && !slot->beginning) {
        bool careful = job_core_is_careful(queue->head);
        if (slot->count > 0 && careful)
            break;
        struct entry *entry = job_core_pop(core, queue);
        if (entry->fence_ms <= now_ms) {
            core->metrics.fenced++;
            job_core_forget(core, entry); /* it never began: the store may have it back */
            continue;
        }
        entry->state = careful ? ENTRY_BEGINNING : ENTRY_RUNNING;
        entry->slot = at;
        if (careful)
            entry->renew_ms = now_ms;
        slot->beginning = careful;
        slot->jobs[slot->count] = entry->job;
        slot->entries[slot->count++] = entry;
        if (timeout_of(core, entry) > 0)
            break;
    }
    if (slot->count == 0)
        return;
    slot->busy = true;
    queue->slots++;
    core->metrics.running++;
    core->turn = rule + 1;
}

static bool run(struct job_core *core, int64_t now_ms, int at, struct job_action *action) {
    struct slot *slot = &core->slots[at];
    int64_t fence_ms = INT64_MAX, timeout_ms = timeout_of(core, slot->entries[slot->count - 1]);
    slot->beginning = false;
    slot->deadline_ms = timeout_ms > 0 ? now_ms + timeout_ms : 0;
    for (size_t i = 0; i < slot->count; i++) {
        struct entry *entry = slot->entries[i];
        entry->state = ENTRY_RUNNING;
        entry->keep_until_ms = now_ms + JOB_CORE_LEASES_MAX * core->config.lease_ms;
        if (entry->renew_ms > now_ms + JOB_CORE_RENEW_MS)
            entry->renew_ms = now_ms + JOB_CORE_RENEW_MS;
        if (entry->fence_ms < fence_ms)
            fence_ms = entry->fence_ms;
    }
    *action = (struct job_action){.type = JOB_ACT_START,
                                  .slot = at,
                                  .rule = slot->rule,
                                  .jobs = slot->jobs,
                                  .count = slot->count,
                                  .claimed_ms = slot->entries[0]->claimed_ms,
                                  .fence_ms = fence_ms,
                                  .deadline_ms = slot->deadline_ms,
                                  .timeout_ms = timeout_ms};
    return true;
}

/* What was to begin, and whether it may: the store has noted it, or its lease has expired, or we stop. */
static bool begin(struct job_core *core, int64_t now_ms, struct job_action *action) {
    for (int i = 0; i < core->config.slots; i++) {
        struct slot *slot = &core->slots[i];
        struct entry *entry = slot->entries[0];
        if (!slot->beginning)
            continue;
        bool over = entry->fence_ms <= now_ms;
        if (!over && !core->stopping && slot->announced)
            return run(core, now_ms, i, action);
        if (!over && !core->stopping)
            continue;
        job_core_vacate(core, i);
        if (over) {
            core->metrics.fenced++;
            job_core_forget(core, entry);
            continue;
        }
        entry->result = (struct job_result_in){.end = JOB_END_NOT_RUN};
        job_core_pend(core, entry, now_ms);
    }
    return false;
}

/* Whose turn it is; -1 = nothing waits that its handler may run now. */
static int next_rule(const struct job_core *core) {
    for (size_t i = 0; i < core->config.rule_count; i++) {
        int rule = (int)(((size_t)core->turn + i) % core->config.rule_count);
        const struct queue *queue = &core->queues[rule];
        int most = core->config.rules[rule].concurrency;
        if (queue->head != NULL && (most == 0 || queue->slots < most))
            return rule;
    }
    return -1;
}

bool job_core_start(struct job_core *core, int64_t now_ms, struct job_action *action) {
    int at, rule;
    if (begin(core, now_ms, action))
        return true;
    while (!core->stopping && core->metrics.waiting > 0 && (at = job_core_free_slot(core)) >= 0 &&
           (rule = next_rule(core)) >= 0) {
        fill(core, now_ms, at, rule);
        if (core->slots[at].busy && !core->slots[at].beginning)
            return run(core, now_ms, at, action);
    }
    return false;
}
