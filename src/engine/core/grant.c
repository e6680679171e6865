/* What was claimed: entries, their tokens, and the memory after them. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/core/int.h"

static void free_cookie(struct engine_core *core, void *cookie) {
    struct engine_action *action = core_act(core, ACTION_FREE_GRANT);
    if (action != NULL)
        action->grant = cookie;
}

static void grant_free(struct grant *grant) {
    if (grant == NULL)
        return;
    free(grant->entries);
    free(grant->claims);
    free(grant->jobs);
    free(grant);
}

static void grant_release(struct engine_core *core, struct grant *grant) {
    if (grant->alive > 0 || grant->pins > 0)
        return;
    grant->prev->next = grant->next;
    grant->next->prev = grant->prev;
    core->grant_count[grant->channel]--;
    free_cookie(core, grant->cookie);
    grant_free(grant);
}

/* Every change of an entry's state goes through here: a claim knows how many of its entries are not finished.
 */
void core_entry_state(struct entry *entry, enum entry_state state) {
    bool was_open = entry->state >= ENTRY_WAITING && entry->state <= ENTRY_RUNNING;
    bool is_open = state >= ENTRY_WAITING && state <= ENTRY_RUNNING;
    if (was_open != is_open)
        entry->claim->open = is_open ? entry->claim->open + 1 : entry->claim->open - 1;
    entry->state = state;
}

static void job_extra_free(struct engine_core *core, struct job_extra *job) {
    struct engine_action *action = job->result.owner != NULL ? core_act(core, ACTION_FREE_RESULT) : NULL;
    if (action != NULL)
        action->owner = job->result.owner;
    free(job->progress);
    *job = (struct job_extra){0};
}

void core_entry_free(struct engine_core *core, struct entry *entry) {
    core->jobs.telling -= entry->state == ENTRY_TELLING;
    core_entry_state(entry, ENTRY_GONE);
    if (entry->extra != NULL)
        job_extra_free(core, entry->extra);
    free(entry->error);
    entry->error = NULL;
    struct grant *grant = entry->claim->grant;
    grant->alive--;
    grant_release(core, grant);
}

void core_grant_unpin(struct engine_core *core, struct grant *grant) {
    grant->pins--;
    grant_release(core, grant);
}

struct granted {
    enum engine_channel channel;
    size_t count, claim_count;
    void *cookie;
    int64_t sent_ms;
};

static struct grant *grant_new(struct engine_core *core, const struct granted *of) {
    struct grant *grant = of->count > 0 ? calloc(1, sizeof(*grant)) : NULL;
    bool jobs = of->channel == CHANNEL_JOBS;
    if (grant != NULL) {
        grant->entries = calloc(of->count, sizeof(*grant->entries));
        grant->claims = calloc(of->claim_count, sizeof(*grant->claims));
        grant->jobs = jobs ? calloc(of->count, sizeof(*grant->jobs)) : NULL;
    }
    if (grant == NULL || grant->entries == NULL || grant->claims == NULL || (jobs && grant->jobs == NULL)) {
        grant_free(grant);
        core->out_of_memory = core->out_of_memory || of->count > 0;
        if (of->cookie != NULL)
            free_cookie(core, of->cookie);
        return NULL;
    }
    grant->channel = of->channel;
    grant->alive = of->count;
    grant->cookie = of->cookie;
    grant->claimed_ms = of->sent_ms;
    grant->taken_ms = core->now_ms;
    grant->fence_ms = grant->renew_at_ms = INT64_MAX;
    grant->prev = core->grants.prev;
    grant->next = &core->grants;
    grant->prev->next = grant;
    core->grants.prev = grant;
    core->grant_count[of->channel]++;
    return grant;
}

static void count_claims(const struct work_batch_result *result, struct granted *of) {
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        const struct item_list *list = &result->claimed[kind];
        of->count += list->count;
        for (size_t i = 0; i < list->count; i++) {
            if (i == 0 || list->items[i].token != list->items[i - 1].token)
                of->claim_count++;
        }
    }
}

static void queue_free_entry(struct engine_core *core, struct entry *entry) {
    struct handler_queue *queue = core_queue(core, entry);
    entry->next = NULL;
    if (queue->free_tail == NULL)
        queue->free_head = entry;
    else
        queue->free_tail->next = entry;
    queue->free_tail = entry;
    core_queue_count(core, entry, 1);
}

static int find_handler(struct engine_core *core, struct entry *entry) {
    const struct engine_config *config = &core->config;
    int handler = entry->job != NULL    ? config->match_job(config->match_self, entry->job)
                  : entry->item != NULL ? config->match(config->match_self, entry->item, &entry->paused)
                                        : config->advance_handler;
    entry->asked = handler == -3;
    entry->delay_ms = handler == -2 ? ENGINE_PAUSED_MS : handler < 0 ? ENGINE_NO_HANDLER_MS : 0;
    /* A grant that expired before it arrived goes straight back, like one without a handler here. */
    return handler < 0 || entry->fence_ms <= core->now_ms ? (int)config->handler_count : handler;
}

/* Puts one entry where it will be found: into its stream, or among the free ones of its handler. */
static bool entry_place(struct engine_core *core, struct entry *entry) {
    const struct item *item = entry->item;
    entry->handler = find_handler(core, entry);
    core_entry_state(entry, ENTRY_WAITING);
    if (item != NULL && item->attempt > 1)
        core->retry_watch_until_ms = core->now_ms + PAWL_RETRY_MAX_MS_DEFAULT + core->config.poll_ms;
    if (item == NULL || str_absent(item->stream)) {
        queue_free_entry(core, entry);
        return true;
    }
    entry->stream = core_stream_get(core, item->kind, item->stream);
    if (entry->stream == NULL)
        return false;
    core_stream_append(core, entry->stream, entry);
    core_stream_ready(core, entry->stream);
    return true;
}

/* left_ms: how much of the lease was left when it was granted. */
static struct claim *claim_begin(struct engine_core *core, struct grant *grant, int64_t token,
                                 int64_t left_ms) {
    struct claim *claim = &grant->claims[grant->claim_count++];
    int64_t lease_ms = core_lease_ms(core, grant->channel);
    core_known_granted(core, grant->channel, token);
    claim->token = token;
    claim->grant = grant;
    claim->entries = &grant->entries[grant->count];
    claim->fence_ms = grant->claimed_ms + left_ms - core_grace_ms(lease_ms);
    core_lease_renew_at(claim, grant->claimed_ms + lease_ms / 3);
    if (claim->fence_ms < grant->fence_ms)
        grant->fence_ms = claim->fence_ms;
    return claim;
}

static struct entry *entry_begin(struct claim *claim) {
    struct entry *entry = &claim->grant->entries[claim->grant->count++];
    claim->count++;
    entry->claim = claim;
    entry->fence_ms = claim->fence_ms;
    return entry;
}

void core_grant_take(struct engine_core *core, const struct engine_event *event, int64_t sent_ms) {
    const struct work_batch_result *result = event->result;
    struct granted of = {.channel = CHANNEL_MESSAGES, .cookie = event->grant, .sent_ms = sent_ms};
    count_claims(result, &of);
    struct grant *grant = grant_new(core, &of);
    if (grant == NULL)
        return;
    for (size_t i = 0; i <= core->config.handler_count; i++)
        core->queues[CHANNEL_MESSAGES][i].granted = core->queues[CHANNEL_PERSPECTIVES][i].granted = 0;
    struct claim *claim = NULL;
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < result->claimed[kind].count; i++) {
            const struct item *item = &result->claimed[kind].items[i];
            if (claim == NULL || i == 0 || claim->token != item->token)
                claim = claim_begin(core, grant, item->token, item->lease_until_ms - result->now_ms);
            struct entry *entry = entry_begin(claim);
            entry->item = item;
            if (!entry_place(core, entry))
                return;
            core_queue(core, entry)->granted++;
        }
    }
    core->metrics.claimed += (int64_t)of.count;
}

/* Jobs are renewed and fenced one by one, also when one call granted them. */
struct grant *core_grant_take_jobs(struct engine_core *core, const struct job_list *jobs, void *cookie,
                                   int64_t sent_ms) {
    struct granted of = {CHANNEL_JOBS, jobs->count, jobs->count, cookie, sent_ms};
    struct grant *grant = grant_new(core, &of);
    if (grant == NULL)
        return NULL;
    for (size_t i = 0; i < jobs->count; i++) {
        struct claim *claim = claim_begin(core, grant, jobs->jobs[i].token, core->config.job_lease_ms);
        struct entry *entry = entry_begin(claim);
        entry->job = &jobs->jobs[i];
        entry->extra = &grant->jobs[i];
        (void)entry_place(core, entry);
    }
    core->metrics.jobs.claimed += (int64_t)jobs->count;
    return grant;
}

/* Streams are renewed and fenced one by one, as jobs are; one without a token is as good as the instance. */
void core_grant_take_streams(struct engine_core *core, const struct perspectives_answer *answer, void *cookie,
                             int64_t sent_ms) {
    struct granted of = {CHANNEL_PERSPECTIVES, answer->count, answer->count, cookie, sent_ms};
    struct grant *grant = grant_new(core, &of);
    for (size_t i = 0; grant != NULL && i < answer->count; i++) {
        struct claim *claim = claim_begin(core, grant, answer->granted[i].token, core->config.lease_ms);
        if (claim->token == 0) {
            claim->fence_ms = CORE_UNLEASED_MS;
            claim->renew_at_ms = INT64_MAX;
        }
        struct entry *entry = entry_begin(claim);
        entry->checkpoint = &answer->granted[i];
        entry->reached.version = entry->checkpoint->version;
        (void)entry_place(core, entry);
        core->perspectives.round_found = core->perspectives.round_found || claim->token != 0;
    }
}

/* Whether we hold something, or work on it. That perspectives look whether something is due is not work. */
bool core_in_hand(const struct engine_core *core) {
    return core->grant_count[CHANNEL_MESSAGES] > 0 || core->grant_count[CHANNEL_JOBS] > 0 ||
           core->busy_messages > 0 || core->busy[CHANNEL_JOBS] > 0 || !core_perspectives_idle(core);
}

static void drop_free_entries(struct engine_core *core, struct handler_queue *queue) {
    while (queue->free_head != NULL)
        core_entry_free(core, core_queue_pop(core, queue));
}

/* The store has taken everything back: nothing that the channel holds counts any more. */
void core_drop(struct engine_core *core, enum engine_channel channel) {
    for (int i = 0; i < core->config.slots; i++) {
        struct slot *slot = &core->slots[i];
        if (!slot->busy || core_channel(slot->entries[0]) != channel)
            continue;
        for (size_t j = 0; !slot->beginning && j < slot->count; j++)
            slot->entries[j]->dropped = true;
        core_slot_cancel(core, i, STOP_FENCED);
    }
    if (channel == CHANNEL_MESSAGES)
        core_streams_drop(core);
    for (enum engine_channel share = 0; share < CHANNEL_COUNT; share++) {
        for (size_t i = 0; i <= core->config.handler_count; i++) {
            if (core_route(core, share, i) == channel)
                drop_free_entries(core, &core->queues[share][i]);
        }
    }
    if (channel == CHANNEL_JOBS) {
        core_jobs_forget(core);
        return;
    }
    if (channel == CHANNEL_PERSPECTIVES) {
        core_perspectives_forget(core);
        return;
    }
    core_report_forget(core);
    core_side_forget(core);
}

void core_grants_free(struct engine_core *core) {
    struct grant *grant = core->grants.next;
    while (grant != &core->grants) {
        struct grant *next = grant->next;
        for (size_t i = 0; i < grant->count; i++) {
            free(grant->entries[i].error);
            if (grant->jobs != NULL)
                free(grant->jobs[i].progress);
        }
        grant_free(grant);
        grant = next;
    }
}
