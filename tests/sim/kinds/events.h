/* Events of a simulated world: perspectives that apply them, and receptors that are given them. */
#ifndef SIM_KINDS_EVENTS_H
#define SIM_KINDS_EVENTS_H

#include "base/stop.h"
#include "sim/history/events.h"

struct world;
struct wire;
struct wire_call;

enum { SIM_APPEND_MAX = 3, SIM_RECEPTORS = 2, SIM_PARTS_MAX = 3 /* handlers of one message */ };

/* The perspectives: two versions of one whose model is in the store, and one whose handler is outside. */
enum { SIM_OLD, SIM_NEW, SIM_OUTSIDE };

struct sim_events {
    struct history_events history;
    bool registered[HISTORY_PERSPECTIVES_MAX], backfilled[HISTORY_PERSPECTIVES_MAX];
    bool switched;
    int64_t stopped[HISTORY_PERSPECTIVES_MAX][HISTORY_STREAMS_MAX]; /* the event it cannot get past */
    int *order; /* the receptor's message of each event by position, -1 = none; grows */
    size_t order_count, order_capacity;
    int64_t fed[SIM_RECEPTORS]; /* positions */
    unsigned *noted;            /* by message: bits of its handlers whose completion was written down */
    size_t noted_capacity;
};

extern const struct wire_call advance_call, feed_call, checkpoint_report_call, exchange_call, note_call,
    recall_call;

/* events.c */
void sim_events_begin(struct world *world);
void sim_events_free(struct world *world);
void sim_events_operate(struct world *world);
bool sim_events_drained(struct world *world);
void sim_events_end(struct world *world);
/* Appends what a message of a producer stands for. */
pawl_status sim_append(struct world *world, struct wire *wire, int message, struct arena *arena);
/* The handler of a wake-up: applies the stream to every perspective that the worker knows, then calls back
 * with slot_called. */
void sim_events_wake(struct world *world, int index, int slot, uint64_t number, int message);

/* receptors.c */
void sim_receptors_begin(struct world *world);
void sim_receptors_turn(struct world *world, int index); /* of the duty that feeds them */
void sim_receptors_appended(struct world *world, int message, size_t events);
bool sim_receptors_drained(const struct world *world);
/* The handlers of an event or an inbox message: ask which were done before, and write down that one is. */
void sim_receptor_recall(struct world *world, int index, int slot, uint64_t number, int message);
void sim_receptor_note(struct world *world, int index, int slot, uint64_t number, int message, int part);

/* A turn of a perspective whose model is in the store; calls back with stream_slot_advanced. */
void sim_events_turn(struct world *world, int index, int slot, uint64_t number, const char *perspective);

/* perspective_slot.c */
struct stream_slot;
struct engine_action;
struct perspectives_exchange;
struct stream_slot *stream_slots_new(int count);
void perspective_call(struct world *world, int index, const struct perspectives_exchange *in);
void stream_slot_start(struct world *world, int index, const struct engine_action *action);
bool stream_slot_busy(struct world *world, int index, int slot);
void stream_slot_cancel(struct world *world, int index, int slot, enum stop_reason reason);
void stream_slot_advanced(struct world *world, int index, int slot, uint64_t number, bool answered,
                          bool found);
void stream_slots_die(struct world *world, int index);

#endif
