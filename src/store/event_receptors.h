/* Receptors on events: each gets its own inbox message for each event of its types (docs/events.md). */
#ifndef STORE_EVENT_RECEPTORS_H
#define STORE_EVENT_RECEPTORS_H

#include "domain/event_pattern.h"
#include "pawl_events.h"
#include "store/types.h"

/* The prefix of a receptor's consumer, its topic, and the name its results are recorded under. */
#define EVENT_RECEPTOR_PREFIX "event:"

struct receptor_new {
    pawl_str name; /* letters, digits, _ - . ; 1 … PAWL_RECEPTOR_NAME_BYTES_MAX */
    const struct event_pattern *patterns;
    size_t pattern_count; /* 1 … PAWL_PATTERNS_MAX */
    bool from_start;      /* for a new one: include existing events; otherwise only new ones */
    bool replace;         /* for an existing one: replace its patterns, from its position on */
};

struct event_receptor {
    pawl_str name;
    struct event_pattern *patterns;
    size_t pattern_count;
    int64_t position; /* every event up to here was examined */
    int64_t fed;      /* messages that were put for it */
    int64_t registered_ms;
};

struct event_receptors {
    struct event_receptor *rows; /* by name */
    size_t count;
    int64_t head; /* the last position given */
};

struct receptors_feed {
    const pawl_str *names; /* those that the caller handles */
    size_t count;          /* 1 … PAWL_RECEPTORS_MAX */
    int limit;             /* events per receptor, 1 … PAWL_LIST_MAX */
};

struct feed_result {
    size_t known;   /* of the names, how many are registered */
    int64_t events; /* looked at */
    int64_t fed;    /* messages put */
    bool more;      /* a receptor reached its limit: call again */
};

/* Input checks shared by all stores. */
PAWL_MUSTCHECK pawl_status check_receptor_name(const char *op, pawl_str name, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_receptor(const struct receptor_new *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_feed(const struct receptors_feed *in, pawl_error *err);

/* "event:NAME", in the arena. */
PAWL_MUSTCHECK pawl_status receptor_consumer(struct arena *arena, pawl_str name, pawl_str *consumer,
                                             pawl_error *err);

/* Whether a message of this consumer carries an event, and for which receptor. */
bool receptor_of_consumer(pawl_str consumer, pawl_str *name);

/* The message that a receptor gets for an event; new texts are in the arena, the rest is the event's. Its id
 * is that of pawl.receptor_message_id in SQL. */
PAWL_MUSTCHECK pawl_status receptor_message(struct arena *arena, const pawl_stored_event *event,
                                            pawl_str name, pawl_outgoing *message, pawl_error *err);

/* Whether any of the patterns matches. */
PAWL_MUSTCHECK pawl_status receptor_wants(const struct event_pattern *patterns, size_t count, pawl_str type,
                                          bool *wants, pawl_error *err);

#endif
