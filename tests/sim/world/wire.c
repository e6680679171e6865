/* Requests: how they travel, and what can happen to them on the way. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

void delivery_free(struct delivery *delivery) {
    if (delivery == NULL)
        return;
    if (delivery->next != NULL) {
        delivery->next->prev = delivery->prev;
        delivery->prev->next = delivery->next;
    }
    arena_free(delivery->arena);
    free(delivery);
}

void wire_unref(struct world *world, struct wire *wire) {
    if (--wire->refs > 0)
        return;
    world->wires--;
    delivery_free(wire->delivery);
    arena_free(wire->arena);
    free(wire);
}

static struct wire *wire_new(struct world *world, enum wire_type type, int worker) {
    struct wire *wire = sim_alloc(sizeof(*wire));
    wire->type = type;
    wire->worker = worker;
    wire->arena = arena_create(0);
    if (wire->arena == NULL)
        abort();
    world->wires++;
    return wire;
}

static void wire_push(struct world *world, enum happening what, struct wire *wire, int64_t in_ms) {
    wire->refs++;
    world_push(world, in_ms, (struct occasion){.what = what, .worker = wire->worker, .wire = wire});
}

const void *wire_copy(struct wire *wire, const void *items, size_t count, size_t size) {
    if (count == 0)
        return NULL;
    const void *copy = arena_copy(wire->arena, items, count * size);
    if (copy == NULL)
        abort();
    return copy;
}

pawl_str wire_copy_text(struct wire *wire, pawl_str text) {
    return (pawl_str){wire_copy(wire, text.ptr, text.len, 1), text.len};
}

/* The request outlives the core that made it: all of it is copied. */
static void copy_batch(struct wire *wire, const struct work_batch *batch) {
    wire->batch = *batch;
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        wire->batch.completions[kind] = wire_copy(
            wire, batch->completions[kind], batch->completion_count[kind], sizeof(struct complete_item));
        wire->batch.releases[kind] =
            wire_copy(wire, batch->releases[kind], batch->release_count[kind], sizeof(struct release_item));
        wire->batch.renewals[kind] =
            wire_copy(wire, batch->renewals[kind], batch->renewal_count[kind], sizeof(struct item_ref));
        struct fail_item *failures = (struct fail_item *)wire_copy(
            wire, batch->failures[kind], batch->failure_count[kind], sizeof(struct fail_item));
        for (size_t i = 0; i < batch->failure_count[kind]; i++)
            failures[i].error = wire_copy_text(wire, failures[i].error);
        wire->batch.failures[kind] = failures;
    }
}

static enum wire_fate draw_fate(struct world *world) {
    static const struct {
        enum fault fault;
        enum wire_fate fate;
    } rows[] = {{FAULT_LOST, FATE_LOST}, {FAULT_UNKNOWN, FATE_UNKNOWN}, {FAULT_GHOST, FATE_GHOST}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (world_strikes(world, rows[i].fault)) {
            world_fault(world, rows[i].fault);
            return rows[i].fate;
        }
    }
    return FATE_FINE;
}

/* How long a client waits before it gives a request up. */
static int64_t patience_ms(struct world *world) {
    int64_t most_ms = world->swarm.calm ? 100 : rng_chance(&world->rng, 8000) ? 200 : world->swarm.lease_ms;
    return rng_range(&world->rng, 1, most_ms);
}

static void wire_launch(struct world *world, struct wire *wire, int64_t after_ms) {
    struct rng *rng = &world->rng;
    int64_t there_ms = after_ms + rng_range(rng, 0, world->swarm.latency_ms);
    int64_t back_ms = rng_range(rng, 0, world->swarm.latency_ms);
    world->requests++;
    wire->fate = draw_fate(world);
    wire->answered = false;
    world_note(world, wire->type == WIRE_CALL ? wire->call->name : "send", wire->worker, (int64_t)wire->type,
               (int64_t)wire->fate);
    if (wire->fate == FATE_LOST) {
        wire_push(world, HAPPENS_REPLY, wire, patience_ms(world));
        return;
    }
    if (wire->fate == FATE_GHOST) {
        wire_push(world, HAPPENS_REPLY, wire, patience_ms(world));
        wire_push(world, HAPPENS_EXECUTE, wire, rng_range(rng, 1, world->swarm.lease_ms * 2));
        return;
    }
    if (world_strikes(world, FAULT_DELAYED)) {
        world_fault(world, FAULT_DELAYED);
        back_ms += rng_range(rng, world->swarm.lease_ms, world->swarm.lease_ms * 2);
    }
    if (wire->fate == FATE_UNKNOWN)
        back_ms += patience_ms(world);
    wire_push(world, HAPPENS_EXECUTE, wire, there_ms);
    wire_push(world, HAPPENS_REPLY, wire, there_ms + back_ms);
    if (wire->type != WIRE_READY && world_strikes(world, FAULT_DUPLICATE)) {
        world_fault(world, FAULT_DUPLICATE);
        wire_push(world, HAPPENS_EXECUTE, wire, there_ms + rng_range(rng, 0, world->swarm.lease_ms));
    }
}

/* A living worker that is reached again and again keeps its leases; two failures in a row are an excuse. */
static void note_trouble(struct world *world, struct worker *worker, const struct wire *wire) {
    bool failed = wire->fate != FATE_FINE;
    if (failed && worker->troubled && worker->instance >= 0)
        world->history.instances[worker->instance].watched = false;
    worker->troubled = failed;
}

void wire_send(struct world *world, int index, enum wire_type type, const struct engine_action *action) {
    struct worker *worker = &world->workers[index];
    struct wire *wire = wire_new(world, type, index);
    wire->sent_ms = world->now_ms;
    wire->life = worker->life;
    wire->instance = engine_metrics(worker->core).instance;
    if (type == WIRE_BATCH || type == WIRE_CLAIM) {
        copy_batch(wire, action->batch);
        wire->instance = wire->batch.instance.id;
    }
    if (type == WIRE_BEAT) {
        wire->full = action->full;
        for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
            struct grants_settle *known = &wire->known[channel];
            if (action->known[channel] == NULL)
                continue;
            *known = *action->known[channel];
            known->held = wire_copy(wire, known->held, known->count, sizeof(*known->held));
        }
    }
    if (type == WIRE_REPORT) {
        wire->report = action->report;
        wire->report.fail.error = wire_copy_text(wire, wire->report.fail.error);
    }
    if (type == WIRE_REGISTER) {
        wire->registration = worker->config.instance;
        wire->registration.id = world_uuid(world, history_instance_new(&world->history));
    }
    wire_launch(world, wire, 0);
    note_trouble(world, worker, wire);
}

void wire_send_put(struct world *world, int first_message, int count) {
    struct wire *wire = wire_new(world, WIRE_PUT, -1);
    wire->first_message = first_message;
    wire->message_count = count;
    bool inbox = world->messages[first_message].kind == KIND_INBOX;
    if (inbox)
        wire->consumer = STR("consumer");
    /* The inbox deduplicates by itself; everywhere else the key tells a repetition. */
    if (!inbox || rng_chance(&world->rng, 5000))
        wire->request = world_uuid(world, first_message);
    world->puts_open++;
    wire_launch(world, wire, 0);
}

struct wire *wire_call_new(struct world *world, int index, const struct wire_call *call, size_t data_bytes) {
    struct wire *wire = wire_new(world, WIRE_CALL, index);
    wire->call = call;
    wire->data = arena_alloc(wire->arena, data_bytes > 0 ? data_bytes : 1);
    if (wire->data == NULL)
        abort();
    memset(wire->data, 0, data_bytes);
    if (index < 0)
        return wire;
    wire->life = world->workers[index].life;
    wire->instance = engine_metrics(world->workers[index].core).instance;
    return wire;
}

void wire_call_send(struct world *world, struct wire *wire, int64_t after_ms) {
    wire->sent_ms = world->now_ms;
    wire_launch(world, wire, after_ms);
}

/* Requests of a dead worker that have not arrived: some never do, some arrive after all. Replies find nobody.
 */
void wires_of_dead(struct world *world, int index, uint64_t life) {
    for (size_t i = 0; i < world->queue.count; i++) {
        struct occasion *occasion = &world->queue.items[i];
        struct wire *wire = occasion->wire;
        if (occasion->what != HAPPENS_EXECUTE || wire->worker != index || wire->life != life)
            continue;
        bool ghost = rng_chance(&world->rng, world->swarm.chance[FAULT_GHOST_DEAD]);
        wire->fate = ghost ? FATE_GHOST : FATE_LOST;
        if (ghost)
            world_fault(world, FAULT_GHOST_DEAD);
    }
}

static void execute(struct world *world, struct wire *wire, struct delivery *delivery) {
    switch (wire->type) {
    case WIRE_READY:
        wire->status = PAWL_OK;
        break;
    case WIRE_REGISTER:
        wire->status = execute_register(world, wire);
        break;
    case WIRE_BEAT:
        wire->status = execute_beat(world, wire);
        break;
    case WIRE_LOOK:
        wire->status =
            world->store->ops->core.peers_look(world->store, wire->instance, &wire->look, &wire->error);
        break;
    case WIRE_BATCH:
    case WIRE_CLAIM:
        wire->status = execute_batch(world, wire, delivery->arena, &delivery->result);
        break;
    case WIRE_REPORT:
        wire->status = execute_report(world, wire, delivery->arena);
        break;
    case WIRE_DEREGISTER:
        wire->status = execute_deregister(world, wire);
        break;
    case WIRE_WAIT_BEGIN:
        execute_wait_begin(world, wire);
        wire->status = PAWL_OK;
        break;
    case WIRE_WAIT_END:
        world->workers[wire->worker].wish_until_ms = 0;
        wire->status = PAWL_OK;
        break;
    case WIRE_PUT:
        wire->status = execute_put(world, wire, delivery->arena);
        break;
    case WIRE_CALL:
        mutant_before_call(world, wire);
        wire->status = wire->call->execute(world, wire, delivery);
        break;
    }
}

void wire_execute(struct world *world, struct wire *wire) {
    if (wire->worker >= 0 && wire->fate == FATE_LOST)
        return; /* it was on its way when its worker died */
    bool down = world->now_ms < world->down_until_ms;
    struct delivery *delivery = sim_alloc(sizeof(*delivery));
    delivery->arena = arena_create(0);
    if (delivery->arena == NULL)
        abort();
    const struct wire before = *wire;
    world_clock(world, mutant_clock_ms(world, wire->worker));
    if (down)
        wire->status = PAWL_UNAVAILABLE;
    else
        execute(world, wire, delivery);
    world->executed += !down;
    if (wire->status == PAWL_INTERNAL || wire->status == PAWL_DAMAGED)
        history_violated(&world->history, "store", "request %d: %s", (int)wire->type, wire->error.text);
    world_note(world, "execute", wire->worker, (int64_t)wire->type, (int64_t)wire->status);
    if (wire->answered) {
        *wire = before; /* the second time nobody listens */
        delivery_free(delivery);
        return;
    }
    wire->answered = true;
    delivery_free(wire->delivery);
    wire->delivery = delivery;
    /* The store has done it, and the caller dies before it gets the answer. */
    bool grants = wire->type == WIRE_BATCH || wire->type == WIRE_CLAIM || wire->type == WIRE_CALL;
    bool there = grants && wire->worker >= 0 && worker_alive(world, wire->worker) &&
                 world->workers[wire->worker].life == wire->life;
    if (there && rng_chance(&world->rng, 2000) && world_strikes(world, FAULT_KILL)) {
        world_fault(world, FAULT_KILL);
        worker_kill(world, wire->worker);
    }
}

static void reply_put(struct world *world, struct wire *wire) {
    if (wire->status == PAWL_OK) {
        world->puts_open--;
        return;
    }
    if (wire->status != PAWL_UNKNOWN && wire->status != PAWL_UNAVAILABLE)
        history_violated(&world->history, "put", "a put was answered with status %d: %s", (int)wire->status,
                         wire->error.text);
    wire_launch(world, wire, rng_range(&world->rng, 10, 200)); /* until the producer knows */
}

struct delivery *delivery_hold(struct world *world, struct wire *wire) {
    struct worker *worker = &world->workers[wire->worker];
    struct delivery *delivery = wire->delivery;
    wire->delivery = NULL;
    delivery->prev = worker->held.prev;
    delivery->next = &worker->held;
    delivery->prev->next = delivery;
    worker->held.prev = delivery;
    return delivery;
}

static void reply_batch(struct world *world, struct wire *wire, struct engine_event event) {
    event.type = wire->type == WIRE_BATCH ? EVENT_BATCH : EVENT_CLAIMED;
    if (event.status == PAWL_OK) {
        struct delivery *delivery = delivery_hold(world, wire);
        mutant_before_reply(world, wire, &delivery->result);
        event.result = &delivery->result;
        event.grant = delivery;
    }
    worker_event(world, wire->worker, event);
}

static void reply_register(struct world *world, struct wire *wire, struct engine_event event) {
    struct worker *worker = &world->workers[wire->worker];
    event.type = EVENT_REGISTERED;
    event.instance = wire->registration.id;
    event.beside = world->swarm.beside;
    event.instance_lease_ms = wire->beat.lease_until_ms - wire->beat.now_ms;
    if (event.status == PAWL_OK) {
        if (worker->instance >= 0)
            world->history.instances[worker->instance].watched = false;
        worker->instance = world_number(wire->registration.id);
        world->history.instances[worker->instance].watched = world->swarm.calm && !worker->stopping;
    }
    worker_event(world, wire->worker, event);
}

void wire_reply(struct world *world, struct wire *wire) {
    if (wire->fate == FATE_LOST)
        wire->status = PAWL_UNAVAILABLE;
    else if (wire->fate != FATE_FINE)
        wire->status = PAWL_UNKNOWN;
    world_note(world, "reply", wire->worker, (int64_t)wire->type, (int64_t)wire->status);
    if (wire->type == WIRE_PUT) {
        reply_put(world, wire);
        return;
    }
    if (wire->type == WIRE_CALL && wire->worker < 0) {
        wire->call->reply(world, wire);
        return;
    }
    struct worker *worker = &world->workers[wire->worker];
    if (worker->core == NULL || worker->life != wire->life)
        return;
    struct engine_event event = {.status = wire->status, .error = &wire->error};
    switch (wire->type) {
    case WIRE_READY:
        event.type = wire->status == PAWL_OK ? EVENT_READY : EVENT_NOT_READY;
        break;
    case WIRE_REGISTER:
        reply_register(world, wire, event);
        return;
    case WIRE_BEAT:
        event.type = EVENT_BEAT;
        event.beat = &wire->beat;
        for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++)
            event.settled[channel] = wire->has_settled[channel] ? &wire->settled[channel] : NULL;
        event.peers = wire->peers;
        break;
    case WIRE_LOOK:
        event.type = EVENT_LOOKED;
        event.look = &wire->look;
        break;
    case WIRE_BATCH:
    case WIRE_CLAIM:
        reply_batch(world, wire, event);
        return;
    case WIRE_REPORT:
        event.type = EVENT_REPORTED;
        event.report = wire->report.number;
        event.answers = &wire->answer;
        event.fails = &wire->fail;
        break;
    case WIRE_WAIT_BEGIN:
        event.type = EVENT_WAITING;
        event.wait_late = wire->late;
        break;
    case WIRE_CALL:
        wire->call->reply(world, wire);
        return;
    case WIRE_WAIT_END:
        return; /* nobody waits for it */
    default:
        event.type = EVENT_DEREGISTERED;
        break;
    }
    worker_event(world, wire->worker, event);
}
