/* What a holder knows of its grants, compared with what was granted to it. */
#include "store/model/grants.h"

#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "store/model/event_state.h"
#include "store/model/instance.h"
#include "store/model/jobs.h"
#include "store/model/report.h"

/* One call while it runs; held is a sorted copy. */
struct settling {
    struct model *model;
    const struct grants_settle *in;
    struct grant_held *held;
    struct grants_settled out;
};

/* Whether a grant of the side is one that nobody knows. */
static bool is_lost(struct settling *s, int64_t token, int64_t number) {
    return token <= s->in->settled && !grants_has(s->held, s->in->count, (struct grant_held){token, number});
}

static void keep(struct settling *s, int64_t token) {
    if (token > s->out.newest)
        s->out.newest = token;
}

/* Whether to release the id could hit one that is held: the outbox takes an id twice. */
static bool twin_is_held(struct settling *s, enum store_kind kind, int64_t token, pawl_uuid id) {
    for (int i = 0; i < s->model->settings.lane_count; i++)
        for (struct part *part = s->model->lanes[kind][i].parts; part != NULL; part = part->next)
            for (struct link *link = part->items.first; link != NULL && part->token == token;
                 link = link->next)
                if (uuid_equal(link->record->id, id) && !is_lost(s, token, link->record->seq))
                    return true;
    return false;
}

static void settle_messages(struct settling *s, enum store_kind kind) {
    struct model *model = s->model;
    struct release_item *items = NULL;
    size_t count = 0, cap = 0;
    for (int i = 0; i < model->settings.lane_count; i++) {
        for (struct part *part = model->lanes[kind][i].parts; part != NULL; part = part->next) {
            for (struct link *link = part->items.first;
                 link != NULL && uuid_equal(part->instance, s->in->instance); link = link->next) {
                if (!is_lost(s, part->token, link->record->seq) ||
                    twin_is_held(s, kind, part->token, link->record->id))
                    continue;
                items = model_grow(items, &cap, count + 1, sizeof *items);
                items[count++] = (struct release_item){{part->token, link->record->id}, 0};
            }
        }
    }
    struct answer_list answers = {.answers = model_alloc((count + 1) * sizeof *answers.answers),
                                  .count = count};
    model_report_release(model, &(struct messages_release){s->in->instance, kind, items, count}, &answers);
    for (size_t i = 0; i < count; i++)
        s->out.released += answers.answers[i] == ANSWER_APPLIED;
    for (int i = 0; i < model->settings.lane_count; i++) {
        for (struct part *part = model->lanes[kind][i].parts; part != NULL; part = part->next) {
            if (uuid_equal(part->instance, s->in->instance))
                keep(s, part->token);
        }
    }
    free(answers.answers);
    free(items);
}

static void settle_jobs(struct settling *s) {
    struct model_jobs *jobs = s->model->jobs;
    for (size_t i = 0; i < jobs->claims.count; i++) {
        int64_t token = PILE(jobs->claims, struct mclaim, i)->token;
        if (!uuid_equal(PILE(jobs->claims, struct mclaim, i)->instance, s->in->instance))
            continue;
        size_t at = 0;
        while (at < PILE(jobs->claims, struct mclaim, i)->ids.count) {
            int64_t id = *PILE(PILE(jobs->claims, struct mclaim, i)->ids, int64_t, at);
            at++;
            if (!is_lost(s, token, id))
                continue;
            struct finish_item item = {.ref = {token, id}, .outcome = JOB_RELEASE};
            if (model_finish_one(s->model, s->in->instance, &item) == ANSWER_APPLIED) {
                s->out.released++;
                at = 0; /* it has left the list */
            }
        }
        if (PILE(jobs->claims, struct mclaim, i)->active)
            keep(s, token);
    }
}

static void settle_checkpoints(struct settling *s) {
    for (struct node *node = model_table_each(&s->model->checkpoints, NULL); node != NULL;
         node = model_table_each(&s->model->checkpoints, node)) {
        struct checkpoint *c = node->thing;
        if (!uuid_equal(c->instance, s->in->instance))
            continue;
        if (!is_lost(s, c->token, 0)) {
            keep(s, c->token);
            continue;
        }
        c->status = CHECKPOINT_PENDING;
        c->due_ms = c->updated_ms = s->model->now_ms;
        model_checkpoint_free_lease(c);
        s->out.released++;
    }
}

pawl_status model_grants_settle(struct store *store, const struct grants_settle *in,
                                struct grants_settled *out, pawl_error *err) {
    pawl_status status = check_settle(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct instance *instance = NULL;
    int64_t raise = 0;
    status = model_instance_active(model, in->instance, "grants_settle", &instance, err);
    if (status == PAWL_OK)
        status = check_seen(in->seen, model->settings.epoch, model->settings.epoch << 40 | model->counter,
                            &raise, err);
    if (status != PAWL_OK)
        return model_leave(model, status);
    if (raise > 0)
        model_epoch_set(model, raise, EPOCH_WENT_BACK);
    struct settling s = {.model = model, .in = in, .held = model_alloc((in->count + 1) * sizeof *s.held)};
    for (size_t i = 0; i < in->count; i++)
        s.held[i] =
            (struct grant_held){in->held[i].token, in->side == GRANTS_CHECKPOINTS ? 0 : in->held[i].number};
    grants_sort(s.held, in->count);
    if (in->side == GRANTS_CHECKPOINTS)
        settle_checkpoints(&s);
    else if (in->side == GRANTS_JOBS)
        settle_jobs(&s);
    for (int kind = KIND_OUTBOX; in->side == GRANTS_MESSAGES && kind <= KIND_COUNT; kind++)
        settle_messages(&s, (enum store_kind)kind);
    free(s.held);
    s.out.epoch = model->settings.epoch;
    *out = s.out;
    return model_leave(model, PAWL_OK);
}
