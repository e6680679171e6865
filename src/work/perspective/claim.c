/* Claiming checkpoints: which projector holds which, and giving back grants that no projector knows of. */
#include "base/time/clock.h"
#include "work/perspective/int.h"

enum { SETTLE_MS = 5000, TOKENS_MAX = 64 /* of threads that claim at the same time */ };

static void hold(struct perspectives *all, struct holding *holding) {
    pthread_mutex_lock(&all->lock);
    *holding = (struct holding){.mark = all->newest_token, .next = all->holdings};
    all->holdings = holding;
    pthread_mutex_unlock(&all->lock);
}

void perspectives_let_go(struct perspectives *all, struct holding *holding) {
    pthread_mutex_lock(&all->lock);
    for (struct holding **at = &all->holdings; *at != NULL; at = &(*at)->next) {
        if (*at == holding) {
            *at = holding->next;
            break;
        }
    }
    pthread_mutex_unlock(&all->lock);
}

pawl_status perspectives_claim(const struct work *work, const struct checkpoints_claim *in,
                               struct holding *holding, struct checkpoint_grants *grants, pawl_error *err) {
    struct perspectives *all = work->all;
    struct projector *projector = work->projector;
    hold(all, holding);
    pawl_status status =
        projector->store->ops->events.checkpoints_claim(projector->store, in, projector->arena, grants, err);
    if (status != PAWL_OK || grants->count == 0) {
        perspectives_let_go(all, holding);
        return status;
    }
    pthread_mutex_lock(&all->lock);
    holding->token = grants->grants[0].token; /* one call, one token */
    if (holding->token > all->newest_token)
        all->newest_token = holding->token;
    all->seen_token = all->newest_token;
    pthread_mutex_unlock(&all->lock);
    return PAWL_OK;
}

/* The highest token up to which everything is known; the engine's core does the same for messages. */
static struct grants_settle known(struct perspectives *all, pawl_uuid instance, struct grant_held *held) {
    struct grants_settle in = {.instance = instance, .side = GRANTS_CHECKPOINTS, .held = held};
    pthread_mutex_lock(&all->lock);
    in.settled = all->newest_token;
    in.seen = all->seen_token;
    for (const struct holding *at = all->holdings; at != NULL; at = at->next) {
        if (at->token == 0 || in.count == TOKENS_MAX)
            in.settled = at->mark < in.settled ? at->mark : in.settled;
        else
            held[in.count++] = (struct grant_held){at->token, 0};
    }
    pthread_mutex_unlock(&all->lock);
    return in;
}

pawl_status perspectives_settle(const struct work *work, pawl_error *err) {
    struct perspectives *all = work->all;
    struct store *store = work->projector->store;
    struct grant_held held[TOKENS_MAX];
    struct grants_settled out = {0};
    int64_t now_ms = clock_boot_ms();
    if (now_ms < all->settle_ms)
        return PAWL_OK;
    struct grants_settle in = known(all, work->instance, held);
    pawl_status status = store->ops->core.grants_settle(store, &in, &out, err);
    if (status != PAWL_OK)
        return status;
    pthread_mutex_lock(&all->lock);
    bool unknown = out.newest > all->newest_token;
    if (unknown)
        all->newest_token = out.newest;
    pthread_mutex_unlock(&all->lock);
    all->settle_ms = unknown ? now_ms : now_ms + SETTLE_MS;
    return PAWL_OK;
}
