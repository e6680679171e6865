/* The history checker: what the store answered and what handlers did, held against the promises. It has its
 * own records and is fed by the simulator; it never looks into the engine. */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include "store/store.h"

enum { HISTORY_TEXT_BYTES = 512 };

/* One run of one message by one handler. */
struct history_run {
    int message;
    int64_t token;
    int next; /* older run of the same message; -1 = none */
    bool running, effect;
    bool reported; /* its end was told and applied; such a record may be of a message that never ran */
};

/* A message, from its acknowledged put to its end. */
struct history_message {
    enum store_kind kind;
    int stream; /* -1 = none */
    int position;
    bool applied, done, dead, parked, discarded;
    bool innocent; /* its handler never fails */
    bool loose;    /* redriven while its stream went on without it */
    bool granted;  /* the store has given it out and has not heard of it since */
    int64_t token, lease_until_ms;
    int64_t seq; /* as the last grant said */
    /* Its holder may not know of it: granted by a claim of one lane, which does not remember its key while
     * the lane is another's, or behind a failure of which the holder does not know what became. */
    bool excused;
    int instance;
    int fails;   /* applied failures since the last redrive */
    int deaths;  /* as the last grant said */
    int losses;  /* grants that ended without a report since the last redrive */
    bool begins; /* granted as a suspect, and renewed: its worker says that it begins */
    bool suspect;
    int charges; /* of the losses, those of a suspect that had begun */
    int kills;   /* workers that it killed since the last redrive, in a world where nothing else does */
    int runs;    /* newest; -1 = none */
};

struct history_stream {
    int *messages; /* in the order of their puts */
    size_t count, capacity;
    size_t first_open; /* everything before it has ended for good */
    int64_t granted_token, accepted_token;
    int token_instance;
};

struct history_instance {
    int64_t lease_until_ms;
    int64_t revived_ms; /* when a beat came after its lease was over; 0 = never */
    bool left, evicted; /* deregistered; evicted by an operator while it lived */
    bool watched;       /* calm world, worker alive under this id: a grant may not get lost */
};

struct history_rules {
    enum dead_policy policy;
    int max_attempts;
    int64_t lease_ms, instance_lease_ms;
};

struct history {
    struct history_rules rules;
    struct history_message *messages;
    size_t message_count, message_capacity;
    struct history_stream *streams; /* by stream number, the kinds apart */
    size_t stream_count;
    struct history_instance *instances;
    size_t instance_count, instance_capacity;
    struct history_run *runs;
    size_t run_count, run_capacity;
    int64_t token_max;        /* of all grants so far */
    int64_t token_max_before; /* the call that is being answered */
    uint64_t effects, accepted, zombie_effects, stale_refused, duplicates, conflicts, losses, redriven;
    size_t open; /* applied and not ended */
    /* Asks the store whether a message is a dead letter now. */
    bool (*is_dead)(void *self, int message);
    void *self;
    bool violated;
    const char *rule; /* what was violated first */
    char text[HISTORY_TEXT_BYTES];
};

void history_init(struct history *history, const struct history_rules *rules, size_t stream_count);
void history_free(struct history *history);

/* Only the first violation is kept. */
void history_violated(struct history *history, const char *rule, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Numbers are given out in order, from 0. */
int history_message_new(struct history *history, enum store_kind kind, int stream, bool innocent);
int history_instance_new(struct history *history);

/* What the store answered, at the moment it did. */
void history_put(struct history *history, int message, enum store_answer answer);
void history_instance_lease(struct history *history, int instance, int64_t lease_until_ms);
/* It is heard of: when its lease was over, what it held may have been taken meanwhile. */
void history_instance_heard(struct history *history, int instance, int64_t now_ms);
void history_instance_left(struct history *history, int instance, int64_t now_ms);
void history_call_begins(struct history *history);
void history_granted(struct history *history, int message, const struct item *item, int instance,
                     int64_t now_ms);
/* message -1: the whole token. */
void history_renewed(struct history *history, int instance, int64_t token, int message,
                     enum store_answer answer, int64_t now_ms);
void history_completed(struct history *history, int message, int64_t token, enum store_answer answer,
                       int64_t now_ms);
void history_failed(struct history *history, int message, int64_t token, enum store_answer answer,
                    enum fail_outcome outcome, bool permanent, int64_t now_ms);
void history_released(struct history *history, int message, int64_t token, enum store_answer answer,
                      int64_t now_ms);

/* What the instance did not say it holds, up to the token that it has settled, is not with it. */
void history_settled(struct history *history, int instance, const struct grants_settle *known,
                     int64_t now_ms);

/* What handlers did. history_began returns the number of the run. */
int history_began(struct history *history, int message, int64_t token, int instance, int64_t now_ms);
void history_effect(struct history *history, int run);
void history_ended(struct history *history, int run);
/* Its handler wants it later: its worker forgets what is behind it before the store has heard of it. */
void history_snoozed(struct history *history, int message);
void history_killed(struct history *history, int message);

/* The dead letters as the store shows them now: the whole list. */
void history_dead_seen(struct history *history, const struct message_rows *rows, int (*number)(pawl_uuid id));
void history_redriven(struct history *history, int message, int64_t now_ms);
void history_discarded(struct history *history, int message);

/* After everything: `rows` is all that the store still holds. */
void history_end(struct history *history, const struct message_rows *rows, int (*number)(pawl_uuid id),
                 bool innocents_live);

#endif
