/* A subscription: the holder of its duty stores what a broker delivers, until the broker hears that it is
 * stored. When it has a turn, and when it asks for the lease, is decided by the worker's core. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/str.h"
#include "sim/world/world.h"

enum { DELIVERED_MAX = 3, RECEIVE_MS = 500 };

static const pawl_str duty = {"subscription", 12};

static pawl_status execute_take(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct sim_subscription *all = &world->kinds.subscription;
    struct duty_grant *out = arena_alloc(delivery->arena, sizeof(*out));
    struct duty_take in = {duty, wire->instance, SIM_DUTY_LEASE_MS};
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
    pawl_outgoing messages[DELIVERED_MAX] = {0};
    struct put_result *out = arena_alloc(delivery->arena, sizeof(*out));
    if (out == NULL)
        abort();
    *out = (struct put_result){0};
    delivery->answer = out;
    for (size_t i = 0; i < data->count; i++)
        messages[i] = (pawl_outgoing){
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

static void ended(struct world *world, const struct wire *wire, bool held) {
    /* A token that is refused is a lease that has ended, not a failure. */
    pawl_status status = wire->status == PAWL_STALE ? PAWL_OK : wire->status;
    worker_event(world, wire->worker,
                 (struct engine_event){.type = EVENT_DUTY,
                                       .duty = kinds_duty(world, SIM_DUTY_SUBSCRIPTION),
                                       .status = status,
                                       .held = held && wire->status == PAWL_OK,
                                       .next_ms = -1});
}

/* The broker had nothing. */
static void waited(struct world *world, const struct occasion *occasion) {
    ended(world, &(struct wire){.worker = occasion->worker}, true);
}

/* The session is closed. */
static void left(struct world *world, const struct occasion *occasion) {
    ended(world, &(struct wire){.worker = occasion->worker}, false);
}

/* Ends a turn without a call of the store. */
static void end_after(struct world *world, int index, int64_t wait_ms,
                      void (*then)(struct world *world, const struct occasion *occasion)) {
    world_then(world, index, wait_ms, 0, then);
}

static void reply_receive(struct world *world, struct wire *wire) {
    const struct receive_data *data = wire->data;
    for (size_t i = 0; wire->status == PAWL_OK && i < data->count; i++)
        world->kinds.subscription.acknowledged[data->messages[i] - world->kinds.subscription.first] = true;
    ended(world, wire, true);
}

const struct wire_call receive_call = {"receive", execute_receive, reply_receive};

/* The broker delivers again what was not acknowledged. A holder that was stopped hands it in late, under the
 * token it had. */
static void receive(struct world *world, int index) {
    const struct sim_subscription *all = &world->kinds.subscription;
    if (sim_subscription_drained(world)) {
        end_after(world, index, RECEIVE_MS, waited);
        return;
    }
    struct wire *wire = wire_call_new(world, index, &receive_call, sizeof(struct receive_data));
    struct receive_data *data = wire->data;
    wire->instance = world->workers[index].subscription.instance;
    data->token = world->workers[index].subscription.token;
    for (int i = 0; i < all->count && data->count < DELIVERED_MAX; i++) {
        if (!all->acknowledged[i])
            data->messages[data->count++] = all->first + i;
    }
    bool late = world_strikes(world, FAULT_LATE_DUTY);
    if (late)
        world_fault(world, FAULT_LATE_DUTY);
    wire_call_send(world, wire, late ? rng_range(&world->rng, SIM_DUTY_LEASE_MS, 4 * SIM_DUTY_LEASE_MS) : 0);
}

static void reply_take(struct world *world, struct wire *wire) {
    const struct duty_grant *grant = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    if (grant == NULL || !grant->held) {
        ended(world, wire, false);
        return;
    }
    world->workers[wire->worker].subscription.instance = wire->instance;
    world->workers[wire->worker].subscription.token = grant->token;
    receive(world, wire->worker);
}

const struct wire_call duty_take_call = {"duty take", execute_take, reply_take};

static pawl_status execute_leave(struct world *world, struct wire *wire, struct delivery *delivery) {
    int64_t token = *(const int64_t *)wire->data;
    (void)delivery;
    pawl_status status = world->store->ops->relay->duty_leave(world->store, duty, token, &wire->error);
    if (status == PAWL_OK && token == world->kinds.subscription.token)
        world->kinds.subscription.lease_until_ms = 0;
    return status;
}

static void nothing(struct world *world, struct wire *wire) { (void)world, (void)wire; }

static const struct wire_call leave_call = {"duty leave", execute_leave, nothing};

void sim_subscription_turn(struct world *world, int index, const struct duty_order *order) {
    if (order->lost) {
        end_after(world, index, 1, left);
    } else if (order->leave) {
        struct wire *wire = wire_call_new(world, index, &leave_call, sizeof(int64_t));
        *(int64_t *)wire->data = world->workers[index].subscription.token;
        wire_call_send(world, wire, 0);
    } else if (order->take) {
        wire_call_send(world, wire_call_new(world, index, &duty_take_call, 0), 0);
    } else {
        receive(world, index);
    }
}

bool sim_subscription_drained(const struct world *world) {
    const struct sim_subscription *all = &world->kinds.subscription;
    for (int i = 0; i < all->count; i++) {
        if (!all->acknowledged[i])
            return false;
    }
    return true;
}

void sim_subscription_begin(struct world *world) {
    struct sim_subscription *all = &world->kinds.subscription;
    all->first = (int)world->message_count;
    all->count = world->swarm.kinds_on.received;
    for (int i = 0; i < all->count; i++)
        outside_deliver(world);
}
