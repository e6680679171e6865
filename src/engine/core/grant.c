/* What was claimed: entries, their tokens, and the memory after them. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/core/int.h"

static void grant_release(struct engine_core *core, struct grant *grant) {
    if (grant->alive > 0 || grant->pins > 0)
        return;
    grant->prev->next = grant->next;
    grant->next->prev = grant->prev;
    struct engine_action *action = core_act(core, ACTION_FREE_GRANT);
    if (action != NULL)
        action->grant = grant->cookie;
    free(grant->entries);
    free(grant->claims);
    free(grant);
}

/* Every change of an entry's state goes through here: a claim knows how many of its entries are not finished.
 */
void core_entry_state(struct entry *entry, enum entry_state state) {
    bool was_open = entry->state == ENTRY_WAITING || entry->state == ENTRY_RUNNING;
    bool is_open = state == ENTRY_WAITING || state == ENTRY_RUNNING;
    if (was_open != is_open)
        entry->claim->open = is_open ? entry->claim->open + 1 : entry->claim->open - 1;
    entry->state = state;
}

void core_entry_free(struct engine_core *core, struct entry *entry) {
    core_entry_state(entry, ENTRY_GONE);
    if (core->begins == entry)
        core->begins = NULL;
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

static struct grant *grant_new(struct engine_core *core, const struct engine_event *event, size_t count,
                               size_t claim_count) {
    struct grant *grant = calloc(1, sizeof(*grant));
    if (grant != NULL) {
        grant->entries = calloc(count, sizeof(*grant->entries));
        grant->claims = calloc(claim_count, sizeof(*grant->claims));
    }
    if (grant == NULL || grant->entries == NULL || grant->claims == NULL) {
        if (grant != NULL) {
            free(grant->entries);
            free(grant->claims);
        }
        free(grant);
        core->out_of_memory = true;
        return NULL;
    }
    grant->cookie = event->grant;
    grant->prev = core->grants.prev;
    grant->next = &core->grants;
    grant->prev->next = grant;
    core->grants.prev = grant;
    return grant;
}

static void count_claims(const struct work_batch_result *result, size_t *count, size_t *claim_count) {
    *count = 0;
    *claim_count = 0;
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        const struct item_list *list = &result->claimed[kind];
        *count += list->count;
        for (size_t i = 0; i < list->count; i++) {
            if (i == 0 || list->items[i].token != list->items[i - 1].token)
                (*claim_count)++;
        }
    }
}

static void queue_free_entry(struct engine_core *core, struct entry *entry) {
    struct handler_queue *queue = &core->queues[entry->handler];
    entry->next = NULL;
    if (queue->free_tail == NULL)
        queue->free_head = entry;
    else
        queue->free_tail->next = entry;
    queue->free_tail = entry;
    queue->waiting++;
}

/* Puts one entry where it will be found: into its stream, or among the free ones of its handler. */
static bool entry_place(struct engine_core *core, struct entry *entry) {
    const struct item *item = entry->item;
    int handler = core->config.match(core->config.match_self, item, &entry->paused);
    entry->asked = handler == -3;
    entry->delay_ms = handler == -2 ? ENGINE_PAUSED_MS : handler < 0 ? ENGINE_NO_HANDLER_MS : 0;
    /* A grant that expired before it arrived goes straight back, like one without a handler here. */
    if (handler < 0 || entry->fence_ms <= core->now_ms)
        handler = (int)core->config.handler_count;
    entry->handler = handler;
    core_entry_state(entry, ENTRY_WAITING);
    if (item->attempt > 1)
        core->retry_watch_until_ms = core->now_ms + PAWL_RETRY_MAX_MS_DEFAULT + core->config.poll_ms;
    if (str_absent(item->stream)) {
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

/* times_ms: when the call was sent, and how much of the lease was left when it was granted. */
static void claim_begin(struct engine_core *core, struct claim *claim, struct grant *grant,
                        const struct item *item, const int64_t times_ms[2]) {
    claim->token = item->token;
    claim->grant = grant;
    claim->entries = &grant->entries[grant->count];
    claim->fence_ms = times_ms[0] + times_ms[1] - core_grace_ms(core->config.lease_ms);
    claim->renew_at_ms = times_ms[0] + core->config.lease_ms / 3;
}

void core_grant_take(struct engine_core *core, const struct engine_event *event, int64_t sent_ms) {
    const struct work_batch_result *result = event->result;
    size_t count = 0, claim_count = 0;
    count_claims(result, &count, &claim_count);
    if (count == 0) {
        struct engine_action *action = core_act(core, ACTION_FREE_GRANT);
        if (action != NULL)
            action->grant = event->grant;
        return;
    }
    struct grant *grant = grant_new(core, event, count, claim_count);
    if (grant == NULL)
        return;
    grant->alive = count;
    struct claim *claim = NULL;
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < result->claimed[kind].count; i++) {
            const struct item *item = &result->claimed[kind].items[i];
            if (claim == NULL || i == 0 || claim->token != item->token) {
                claim = &grant->claims[grant->claim_count++];
                core_known_granted(core, item->token);
                claim_begin(core, claim, grant, item,
                            (int64_t[2]){sent_ms, item->lease_until_ms - result->now_ms});
            }
            struct entry *entry = &grant->entries[grant->count++];
            claim->count++;
            entry->item = item;
            entry->claim = claim;
            entry->fence_ms = claim->fence_ms;
            if (!entry_place(core, entry))
                return;
        }
    }
    core->metrics.claimed += (int64_t)count;
}

static void drop_free_entries(struct engine_core *core) {
    for (size_t i = 0; i <= core->config.handler_count; i++) {
        struct handler_queue *queue = &core->queues[i];
        struct entry *entry = queue->free_head;
        queue->free_head = NULL;
        queue->free_tail = NULL;
        while (entry != NULL) {
            struct entry *next = entry->next;
            queue->waiting--;
            core_entry_free(core, entry);
            entry = next;
        }
    }
}

/* The store has taken everything back: nothing that we hold counts any more. */
void core_drop_everything(struct engine_core *core) {
    for (int i = 0; i < core->config.slots; i++) {
        struct slot *slot = &core->slots[i];
        if (!slot->busy)
            continue;
        for (size_t j = 0; j < slot->count; j++)
            slot->entries[j]->dropped = true;
        core_slot_cancel(core, i, STOP_FENCED);
    }
    core_streams_drop(core);
    drop_free_entries(core);
    core_report_forget(core);
    core_side_forget(core);
}

void core_grants_free(struct engine_core *core) {
    struct grant *grant = core->grants.next;
    while (grant != &core->grants) {
        struct grant *next = grant->next;
        for (size_t i = 0; i < grant->count; i++)
            free(grant->entries[i].error);
        free(grant->entries);
        free(grant->claims);
        free(grant);
        grant = next;
    }
}
