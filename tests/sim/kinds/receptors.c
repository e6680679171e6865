/* Receptors on events: any worker may feed them, and each runs once per event. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "domain/workstatus.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

enum { FEED_LIMIT = 3, NOTE_TRIES = 4, NOTE_WAIT_MS = 100 };

static const pawl_str names[SIM_RECEPTORS] = {{"r0", 2}, {"r1", 2}};

void sim_receptors_begin(struct world *world) {
    static const struct event_pattern patterns[SIM_RECEPTORS] = {{PATTERN_GLOB, {"e0*", 3}},
                                                                 {PATTERN_GLOB, {"e1*", 3}}};
    pawl_error error;
    enum store_answer answer;
    for (int i = 0; world->swarm.kinds_on.receptors && i < SIM_RECEPTORS; i++) {
        struct receptor_new in = {
            .name = names[i], .patterns = &patterns[i], .pattern_count = 1, .from_start = true};
        world_must(world, world->store->ops->events.receptor_register(world->store, &in, &answer, &error),
                   &error, "receptor");
    }
}

/* The last event of an append is a receptor's; its message has the next number. */
void sim_receptors_appended(struct world *world, int message, size_t events) {
    struct sim_events *all = &world->kinds.events;
    for (size_t i = 0; i < events; i++) {
        all->order = sim_grow(all->order, &all->order_capacity, all->order_count + 1, sizeof(*all->order));
        all->order[all->order_count++] = i + 1 == events ? message + 1 : -1;
    }
}

/* ---- Feeding */

static void tell_fed(struct world *world, int receptor, int64_t position, int64_t *fed) {
    struct sim_events *all = &world->kinds.events;
    if (position < all->fed[receptor] || position > (int64_t)all->order_count)
        history_violated(&world->history, "feed_back", "receptor %d went from %lld to %lld", receptor,
                         (long long)all->fed[receptor], (long long)position);
    for (int64_t i = all->fed[receptor]; i < position && !world->history.violated; i++) {
        int message = all->order[i];
        if (message < 0 || (world->messages[message].handler > 0) != (receptor == 1))
            continue;
        history_put(&world->history, message, ANSWER_APPLIED);
        (*fed)++;
    }
    all->fed[receptor] = position;
}

static pawl_status execute_feed(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct receptors_feed in = {.names = names, .count = SIM_RECEPTORS, .limit = FEED_LIMIT};
    struct feed_result *out = arena_alloc(delivery->arena, sizeof(*out));
    struct event_receptors list = {0};
    struct stamp_result stamped;
    int64_t fed = 0;
    if (out == NULL)
        abort();
    *out = (struct feed_result){0};
    delivery->answer = out;
    pawl_status status = world->store->ops->events.events_stamp(world->store, 100, &stamped, &wire->error);
    if (status == PAWL_OK)
        status = world->store->ops->events.receptors_feed(world->store, &in, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    world_must(world,
               world->store->ops->events.receptor_list(world->store, delivery->arena, &list, &wire->error),
               &wire->error, "receptors");
    for (size_t i = 0; i < list.count; i++)
        tell_fed(world, list.rows[i].name.ptr[1] - '0', list.rows[i].position, &fed);
    if (fed != out->fed)
        history_violated(&world->history, "feed", "%lld messages were fed, %lld events are theirs",
                         (long long)out->fed, (long long)fed);
    return PAWL_OK;
}

static void reply_feed(struct world *world, struct wire *wire) {
    worker_event(world, wire->worker,
                 (struct engine_event){.type = EVENT_DUTY,
                                       .duty = kinds_duty(world, SIM_DUTY_FEED),
                                       .status = wire->status,
                                       .next_ms = -1});
}

const struct wire_call feed_call = {"feed", execute_feed, reply_feed};

void sim_receptors_turn(struct world *world, int index) {
    wire_call_send(world, wire_call_new(world, index, &feed_call, 0), 0);
}

bool sim_receptors_drained(const struct world *world) {
    const struct sim_events *all = &world->kinds.events;
    return !world->swarm.kinds_on.receptors ||
           (all->fed[0] == (int64_t)all->order_count && all->fed[1] == (int64_t)all->order_count);
}

/* ---- What was done */

struct note_data {
    int slot, message, part, tries;
    uint64_t number;
    struct receptor_report report;
};

static unsigned *noted(struct world *world, int message) {
    struct sim_events *all = &world->kinds.events;
    size_t before = all->noted_capacity;
    all->noted = sim_grow(all->noted, &all->noted_capacity, (size_t)message + 1, sizeof(*all->noted));
    if (all->noted_capacity > before)
        memset(all->noted + before, 0, (all->noted_capacity - before) * sizeof(*all->noted));
    return &all->noted[message];
}

static pawl_str part_name(const struct sim_message *message, int part) {
    static const pawl_str parts[SIM_PARTS_MAX] = {{"part-0", 6}, {"part-1", 6}, {"part-2", 6}};
    if (message->role == ROLE_SEVERAL)
        return parts[part];
    return message->handler > 0 ? STR("event:r1") : STR("event:r0");
}

static struct wire *note_wire(struct world *world, int index, const struct wire_call *call, int number,
                              int part) {
    const struct sim_message *message = &world->messages[number];
    struct wire *wire = wire_call_new(world, index, call, sizeof(struct note_data));
    struct note_data *data = wire->data;
    data->message = number;
    data->part = part;
    data->report =
        (struct receptor_report){.event_id = message->role == ROLE_SEVERAL ? message->id : (message - 1)->id,
                                 .receptor = part_name(message, part),
                                 .status = WORK_COMPLETED};
    return wire;
}

static pawl_status execute_recall(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct note_data *data = wire->data;
    const struct sim_message *message = &world->messages[data->message];
    struct receptor_row *rows = NULL;
    size_t count = 0;
    unsigned *done = arena_alloc(delivery->arena, sizeof(*done));
    if (done == NULL)
        abort();
    *done = 0;
    delivery->answer = done;
    pawl_status status = world->store->ops->view.receptors(world->store, data->report.event_id,
                                                           delivery->arena, &rows, &count, &wire->error);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        for (int part = 0; part < message->parts; part++) {
            if (str_equal(rows[i].receptor, part_name(message, part)) &&
                (rows[i].status & WORK_COMPLETED) != 0)
                *done |= 1u << part;
        }
    }
    if (*done != *noted(world, data->message))
        history_violated(&world->history, "receptor_once",
                         "of the handlers of message %d, %x are done, and the store says %x", data->message,
                         *noted(world, data->message), *done);
    mutant_after_call(world, wire, delivery);
    return PAWL_OK;
}

static void reply_recall(struct world *world, struct wire *wire) {
    const struct note_data *data = wire->data;
    bool answered = wire->status == PAWL_OK;
    slot_recalled(world, wire->worker, data->slot, data->number, answered,
                  answered ? *(const unsigned *)wire->delivery->answer : 0);
}

static pawl_status execute_note(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct note_data *data = wire->data;
    struct answer_list *out = arena_alloc(delivery->arena, sizeof(*out));
    if (out == NULL)
        abort();
    *out = (struct answer_list){0};
    delivery->answer = out;
    pawl_status status = world->store->ops->core.receptors_report(world->store, &data->report, 1,
                                                                  delivery->arena, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    bool before = (*noted(world, data->message) >> data->part & 1) != 0;
    if ((out->answers[0] == ANSWER_DUPLICATE) != before)
        history_violated(&world->history, "receptor_once", "a note of message %d was answered %d",
                         data->message, (int)out->answers[0]);
    *noted(world, data->message) |= 1u << data->part;
    return PAWL_OK;
}

/* When it cannot be written down, it may be done again: at least once. */
static void reply_note(struct world *world, struct wire *wire) {
    struct note_data *data = wire->data;
    if (wire->status != PAWL_OK && ++data->tries < NOTE_TRIES) {
        wire_call_send(world, wire, NOTE_WAIT_MS << data->tries);
        return;
    }
    slot_noted(world, wire->worker, data->slot, data->number, data->part);
}

const struct wire_call recall_call = {"recall", execute_recall, reply_recall};
const struct wire_call note_call = {"note", execute_note, reply_note};

static void send(struct world *world, struct wire *wire, int slot, uint64_t number) {
    struct note_data *data = wire->data;
    data->slot = slot;
    data->number = number;
    wire_call_send(world, wire, 0);
}

void sim_receptor_recall(struct world *world, int index, int slot, uint64_t number, int message) {
    send(world, note_wire(world, index, &recall_call, message, 0), slot, number);
}

void sim_receptor_note(struct world *world, int index, int slot, uint64_t number, int message, int part) {
    send(world, note_wire(world, index, &note_call, message, part), slot, number);
}
