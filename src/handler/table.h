/* The table of handlers: which messages go to which handler, and under which rules. */
#ifndef HANDLER_TABLE_H
#define HANDLER_TABLE_H

#include "base/arena.h"
#include "base/stop.h"
#include "domain/event_pattern.h"
#include "pawl.h"
#include "store/relay.h"

enum handler_kind { HANDLER_FUNCTION = 1, HANDLER_PROCESS, HANDLER_BATCH, HANDLER_HTTP };

/* The outcome of one message of a batch; the same as engine_outcome, which is above this layer. */
enum handler_outcome { HANDLED_NOT_RUN = 0, HANDLED_DONE, HANDLED_RETRY, HANDLED_PERMANENT, HANDLED_SNOOZE };

struct handler_verdict {
    enum handler_outcome outcome;
    int64_t delay_ms; /* retry: -1 = by policy; snooze: how long */
    char error[512];
};

struct observer;

/* Messages that are handled together. Consecutive equal groups are one stream: after one that is not done,
 * the rest of its group must not be done. */
struct handler_batch {
    const struct item *const *items;
    const int *groups;
    size_t count;
    int64_t fence_ms;          /* nothing may start at or after this boot time */
    const stop_flag *cancel;   /* the results no longer count */
    const void *run;           /* what pawl_message.run points to */
    struct observer *observer; /* NULL: nothing is noted */
    struct handler_verdict *verdicts;
};

typedef void (*handler_batch_fn)(const struct handler_batch *batch, void *self);

enum { HANDLER_COUNT_MAX = 256 };

struct handler {
    pawl_str pattern;
    enum handler_kind kind;
    pawl_handler_fn function;
    handler_batch_fn batch; /* set: messages go to it, with batch_self, whatever the kind */
    void *batch_self;
    const char *receptor;    /* its name: one of several handlers of a message; NULL = not a receptor */
    bool event;              /* the receptor gets messages that carry events, and no others */
    struct event_pattern on; /* event: of these types; no text = as it is registered */
    bool from_start;         /* event: if it is new, include existing events */
    const char *url;         /* http */
    const char *secret;      /* http: signs; NULL = not signed */
    bool allow_private;      /* http: loopback and private addresses may be called */
    bool by_topic;     /* for outbox messages only, found by their topic (the type when there is none) */
    bool perspectives; /* for the messages of appends only, all of them */
    void *self;
    char **argv;                   /* process: words, NULL at the end; argv[0] is a path */
    bool kept;                     /* process: it stays, and gets its work in lines */
    int recycle_after, recycle_mb; /* kept: when a process is replaced; 0 = never */
    struct pipe *pipe;             /* kept: its processes; set before the worker runs */
    const char *name;              /* for logs: the pattern */
    int64_t timeout_ms;
    int concurrency;
    int64_t retry_base_ms, retry_max_ms;
    bool retry_exact; /* no jitter */
    int max_attempts;
    pawl_on_dead on_dead;
};

enum { HANDLER_CACHE_CELLS = 256 };

struct handler_table {
    struct arena *arena; /* owns texts */
    struct handler *handlers;
    size_t count;
    size_t routes;             /* of them, by topic */
    size_t receptors;          /* of them, one of several per message */
    size_t event_receptors;    /* of these, on events */
    struct arena *pause_arena; /* owns the texts of pauses */
    struct pause_row *pauses;
    size_t pause_count;
    struct {
        int64_t timeout_ms, retry_base_ms, retry_max_ms; /* 0 = none */
        bool retry_exact;                                /* delays without jitter */
    } defaults;
    /* The last answers by type: a worker sees few types many times. */
    struct {
        char type[64];
        size_t len;
        int handler;
    } cache[HANDLER_CACHE_CELLS];
};

/* The backoff for handlers without their own. base_ms 0: the store's. */
struct handler_backoff {
    int64_t base_ms, max_ms;
};
struct handler_backoff handler_table_backoff(const struct handler_table *table);

PAWL_MUSTCHECK pawl_status handler_table_create(struct handler_table **table, pawl_error *err);
void handler_table_free(struct handler_table *table); /* takes NULL */

/* Adds a handler; everything is copied. PAWL_INVALID, PAWL_NOT_FOUND (the program) say what is wrong. */
PAWL_MUSTCHECK pawl_status handler_table_add(struct handler_table *table, pawl_str pattern,
                                             const pawl_handler *handler, pawl_error *err);

/* "order.*=exec:./handle.sh --fast", "order.*=https://…", "billing@order.*=…" (a receptor) */
PAWL_MUSTCHECK pawl_status handler_table_add_spec(struct handler_table *table, pawl_str spec,
                                                  pawl_error *err);

/* A handlers file; errors are "PATH:LINE: reason". */
PAWL_MUSTCHECK pawl_status handler_table_add_file(struct handler_table *table, const char *path,
                                                  pawl_error *err);

/* Adds a handler of whole batches for outbox messages, found by topic; before handlers by type. Only the
 * limits of rules are used, not the function. */
PAWL_MUSTCHECK pawl_status handler_table_add_route(struct handler_table *table, pawl_str pattern,
                                                   handler_batch_fn batch, void *self,
                                                   const pawl_handler *rules, pawl_error *err);

/* Adds the handler of whole batches for the messages of appends. */
PAWL_MUSTCHECK pawl_status handler_table_add_perspectives(struct handler_table *table, handler_batch_fn batch,
                                                          void *self, pawl_error *err);

enum { HANDLER_NONE = -1, HANDLER_PAUSED = -2, HANDLER_CANCELLED = -3 };

/* Index of the first handler that matches the type and is not a receptor, -1 = none. Not thread-safe. */
int handler_table_match(struct handler_table *table, pawl_str type);

enum { HANDLER_RECEPTORS_MAX = 32 };

/* The handlers of an inbox message that receptors match: all those receptors, and the first handler that is
 * not a receptor, if any; for a message that carries an event, its receptor. Returns how many; reads only
 * what does not change while the worker runs. */
size_t handler_table_receptors(const struct handler_table *table, const struct item *item,
                               const struct handler *found[static HANDLER_RECEPTORS_MAX]);

/* Sets the batch function for receptors and endpoints, whose messages the worker's own threads handle. */
void handler_table_attach(struct handler_table *table, handler_batch_fn batch, void *self);

/* How often a message of this handler is tried; 0 = the worker's default. With receptors: the highest limit
 * of them, if all of them have one. */
int handler_table_attempts(const struct handler_table *table, const struct handler *handler);

/* Whether any handler needs that. */
bool handler_table_attaches(const struct handler_table *table);

/* "billing@order.*" as a name (absent when there is none) and a pattern. */
void handler_name_split(pawl_str text, pawl_str *name, pawl_str *pattern);

/* What is paused from now on; copied. If memory runs out, the previous pauses stay in force. */
void handler_table_pause(struct handler_table *table, const struct pause_rows *rows);

/* The message has ended: forget that it was cancelled. */
void handler_table_uncancel(struct handler_table *table, pawl_uuid id);

/* The same for a message: outbox messages go by their topic first. HANDLER_PAUSED: its handler is paused,
 * under the name that is written to *pause; topics and streams are handled by the store. HANDLER_CANCELLED:
 * it must end. */
int handler_table_match_item(struct handler_table *table, const struct item *item, pawl_str *pause);

#endif
