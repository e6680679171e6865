/* Which duty has its turn. */
#include "engine/core/duties.h"

#include <stdlib.h>

#include "base/uuid.h"
#include "domain/failure/retry.h"

static uint64_t draw(struct duties *all) {
    all->random = all->random * 6364136223846793005u + 1442695040888963407u;
    return all->random >> 33;
}

/* Different in each process, so that a fleet does not do the same thing at the same moment. */
static int64_t jittered(struct duties *all, const struct duty_rule *rule, int64_t wait_ms) {
    return wait_ms + (int64_t)(draw(all) % (uint64_t)(rule->jitter_ms + 1));
}

bool duties_add(struct duties *all, const struct duty_rule *rule, int64_t now_ms) {
    struct duty_state *items = realloc(all->items, (all->count + 1) * sizeof(*items));
    if (items == NULL)
        return false;
    all->items = items;
    items[all->count++] =
        (struct duty_state){.rule = *rule, .due_ms = now_ms + jittered(all, rule, rule->first_ms)};
    return true;
}

void duties_free(struct duties *all) {
    free(all->items);
    all->items = NULL;
    all->count = 0;
}

static bool has_turns(const struct duties *all, const struct duty_state *duty) {
    return !duty->off && !all->ending && (!all->stopping || duty->rule.to_the_end);
}

/* Even while a turn is running: the caller leaves after it. */
static bool to_leave(const struct duties *all, const struct duty_state *duty) {
    return duty->begun && duty->rule.lease_ms > 0 && !duty->left &&
           (all->ending || (all->stopping && !duty->rule.to_the_end));
}

/* Whoever is not registered any more must not keep what it opened under its lease. */
static bool lost(const struct duty_state *duty) {
    return duty->off && duty->begun && duty->rule.lease_ms > 0 && !duty->left && !duty->running;
}

bool duties_next(struct duties *all, pawl_uuid instance, int64_t now_ms, struct duty_order *order) {
    struct duty_state *next = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct duty_state *duty = &all->items[i];
        if (to_leave(all, duty)) {
            duty->left = true;
            *order = (struct duty_order){.duty = i, .leave = true};
            return true;
        }
        if (lost(duty)) {
            duty->begun = false;
            duty->running = true;
            *order = (struct duty_order){.duty = i, .leave = true, .lost = true};
            return true;
        }
        bool due = has_turns(all, duty) && !duty->running && duty->due_ms <= now_ms;
        if (due && (next == NULL || duty->due_ms < next->due_ms))
            next = duty;
    }
    if (next == NULL)
        return false;
    bool keeps = next->held && uuid_equal(next->instance, instance) && now_ms < next->renew_ms;
    *order =
        (struct duty_order){.duty = (size_t)(next - all->items), .take = next->rule.lease_ms > 0 && !keeps};
    if (order->take)
        next->renew_ms = now_ms + next->rule.lease_ms / 3;
    next->instance = instance;
    next->running = next->begun = true;
    next->again = false;
    return true;
}

int64_t duties_due_ms(const struct duties *all) {
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; i < all->count; i++) {
        const struct duty_state *duty = &all->items[i];
        if (has_turns(all, duty) && !duty->running && duty->due_ms < due_ms)
            due_ms = duty->due_ms;
    }
    return due_ms;
}

void duties_ended(struct duties *all, size_t at, const struct duty_end *end, int64_t now_ms) {
    const struct retry_policy backoff = {DUTY_BACKOFF_MS, DUTY_BACKOFF_MS_MAX, true};
    struct duty_state *duty = &all->items[at];
    duty->running = false;
    duty->held = end->held;
    if (end->failed && !duty->rule.unhurried) {
        duty->due_ms = now_ms + retry_wait_ms(&backoff, ++duty->failures, draw(all));
        return;
    }
    duty->failures = 0;
    int64_t wait_ms = end->next_ms >= 0 && !end->failed ? end->next_ms : duty->rule.period_ms;
    if (duty->rule.lease_ms > 0 && !end->held)
        wait_ms = DUTY_LOOK_MS;
    duty->due_ms = duty->again || wait_ms == 0 ? now_ms : now_ms + jittered(all, &duty->rule, wait_ms);
    if (!duty->again && duty->due_ms < duty->rest_until_ms)
        duty->due_ms = duty->rest_until_ms;
}

void duties_forward(struct duties *all, size_t at, int64_t at_ms) {
    if (at_ms < all->items[at].due_ms)
        all->items[at].due_ms = at_ms;
}

void duties_wake(struct duties *all, size_t at, int64_t now_ms) {
    all->items[at].again = true;
    all->items[at].rest_until_ms = 0;
    duties_forward(all, at, now_ms);
}

void duties_wake_all(struct duties *all, int64_t now_ms) {
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].rule.woken)
            duties_wake(all, i, now_ms);
    }
}

void duties_rest(struct duties *all, size_t at, int64_t until_ms) {
    all->items[at].rest_until_ms = all->items[at].due_ms = until_ms;
}

void duties_stop(struct duties *all, bool end) {
    all->stopping = true;
    all->ending = all->ending || end;
}
