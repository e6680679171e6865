/* A subscription: whoever holds its duty hands in what a broker delivers, until the broker hears that it is
 * stored. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/str.h"
#include "sim/world/world.h"

enum { DELIVERED_MAX = 3, DUTY_MS = 700 };

static const pawl_str duty = {"subscription", 12};

static pawl_status execute_take(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct sim_subscription *all = &world->kinds.subscription;
    struct duty_grant *out = arena_alloc(delivery->arena, sizeof(*out));
    struct duty_take in = {duty, wire->instance, DUTY_MS};
    if (out == NULL)
        abort();
    *out = (struct duty_grant){0};
    delivery->answer = out;
    pawl_status status = world->store->ops->relay->duty_take(world->store, &in, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    if (!out->held)
        return PAWL_OK;
    int instance = world_number(wire->instance);
    int64_t now_ms = world_db_ms(world);
    const struct history_instance *holder = &world->history.instances[all->instance];
    bool in_force = all->token > 0 && all->lease_until_ms > now_ms && holder->lease_until_ms > now_ms &&
                    !holder->evicted && !holder->left && holder->revived_ms == 0;
    world_note(world, "duty", instance, out->token, out->lease_until_ms - now_ms);
    if (in_force && all->instance != instance)
        history_violated(&world->history, "duty_shared", "instances %d and %d have one duty", all->instance,
                         instance);
    if (out->token < all->token || (out->token == all->token && all->instance != instance))
        history_violated(&world->history, "duty_token", "a duty goes from %" PRId64 " to %" PRId64,
                         all->token, out->token);
    all->token = out->token;
    all->lease_until_ms = out->lease_until_ms;
    all->instance = instance;
    return PAWL_OK;
}

struct receive_data {
    int64_t token;
    int messages[DELIVERED_MAX];
    size_t count;
};

static pawl_status execute_receive(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct receive_data *data = wire->data;
    struct message_new messages[DELIVERED_MAX] = {0};
    struct put_result *out = arena_alloc(delivery->arena, sizeof(*out));
    if (out == NULL)
        abort();
    *out = (struct put_result){0};
    delivery->answer = out;
    for (size_t i = 0; i < data->count; i++)
        messages[i] = (struct message_new){
            .id = world->messages[data->messages[i]].id, .type = STR("h0"), .payload = STR("{}")};
    struct messages_receive in = {.duty = duty,
                                  .instance = wire->instance,
                                  .token = data->token,
                                  .consumer = STR("subscriber"),
                                  .messages = messages,
                                  .count = data->count};
    mutant_before_receive(world, &in);
    pawl_status status =
        world->store->ops->relay->messages_receive(world->store, &in, delivery->arena, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    if (data->token != world->kinds.subscription.token)
        history_violated(&world->history, "duty_stale",
                         "what was delivered under %" PRId64 " was stored, the duty has %" PRId64,
                         data->token, world->kinds.subscription.token);
    for (size_t i = 0; i < data->count; i++)
        history_put(&world->history, data->messages[i], out->answers[i]);
    return PAWL_OK;
}

static void reply_receive(struct world *world, struct wire *wire) {
    const struct receive_data *data = wire->data;
    for (size_t i = 0; wire->status == PAWL_OK && i < data->count; i++)
        world->kinds.subscription.acknowledged[data->messages[i] - world->kinds.subscription.first] = true;
}

const struct wire_call receive_call = {"receive", execute_receive, reply_receive};

/* The broker delivers again what was not acknowledged. A holder that was stopped hands it in late, under the
 * token it had. */
static void reply_take(struct world *world, struct wire *wire) {
    const struct sim_subscription *all = &world->kinds.subscription;
    const struct duty_grant *grant = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    if (grant == NULL || !grant->held)
        return;
    struct wire *receive = wire_call_new(world, wire->worker, &receive_call, sizeof(struct receive_data));
    struct receive_data *data = receive->data;
    receive->instance = wire->instance;
    data->token = grant->token;
    for (int i = 0; i < all->count && data->count < DELIVERED_MAX; i++) {
        if (!all->acknowledged[i])
            data->messages[data->count++] = all->first + i;
    }
    bool late = world_strikes(world, FAULT_LATE_DUTY);
    if (late)
        world_fault(world, FAULT_LATE_DUTY);
    wire_call_send(world, receive, late ? rng_range(&world->rng, DUTY_MS, 4 * DUTY_MS) : 0);
}

const struct wire_call duty_take_call = {"duty take", execute_take, reply_take};

bool sim_subscription_drained(const struct world *world) {
    const struct sim_subscription *all = &world->kinds.subscription;
    for (int i = 0; i < all->count; i++) {
        if (!all->acknowledged[i])
            return false;
    }
    return true;
}

static void look(struct world *world, const struct occasion *occasion) {
    if (sim_subscription_drained(world))
        return;
    wire_call_send(world, wire_call_new(world, occasion->worker, &duty_take_call, 0), 0);
    world_push(world, world->swarm.poll_ms + rng_range(&world->rng, 0, 100), *occasion);
}

void sim_subscription_worker(struct world *world, int index) {
    if (world->kinds.subscription.count > 0)
        world_push(
            world, rng_range(&world->rng, 0, 500),
            (struct occasion){
                .what = HAPPENS_THEN, .worker = index, .life = world->workers[index].life, .then = look});
}

void sim_subscription_begin(struct world *world) {
    struct sim_subscription *all = &world->kinds.subscription;
    all->first = (int)world->message_count;
    all->count = world->swarm.kinds_on.received;
    for (int i = 0; i < all->count; i++)
        outside_deliver(world);
}
