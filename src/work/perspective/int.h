/* Shared by the files that apply perspectives only. */
#ifndef WORK_PERSPECTIVE_INT_H
#define WORK_PERSPECTIVE_INT_H

#include <pthread.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/stop.h"
#include "http/http.h"
#include "process/pipe.h"
#include "work/observe.h"
#include "work/perspective/perspective.h"

enum {
    PERSPECTIVE_FUNCTIONS_MAX = 64,
    PERSPECTIVE_NOTES_MAX = 16,    /* logged per tick; more are only counted */
    PERSPECTIVE_CLAIM_MAX = 1000,  /* checkpoints of the streams of one bundle */
    PERSPECTIVE_SLICE_MS = 2000,   /* how long a bundle or a turn may keep its slot; the rest is due later */
    PERSPECTIVE_REFRESH_MS = 1000, /* how old the list of perspectives may be */
    PERSPECTIVE_BUSY_MS = 100,     /* how long the messages of a busy stream are delayed */
    PERSPECTIVE_TURNS_MAX = 16,    /* batches of one perspective before the next has its turn */
    PERSPECTIVE_HELPERS_MAX = 3,   /* slots that help with a backlog of many streams */
    PERSPECTIVE_HELP_MS = 1000,    /* a batch that took longer may have waited for another slot's rows */
    PERSPECTIVE_ALONE_MS = 60000,  /* how long no other slot helps after that */
    PERSPECTIVE_LEAVE_MS = 60000,  /* how long a backlog keeps messages waiting */
    PERSPECTIVE_HOLDS_MAX = 16,
    PERSPECTIVE_RETRY_MS_FIRST = 20,
    PERSPECTIVE_RETRY_MS_LAST = 640,
    PERSPECTIVE_BACKFILL_STREAMS = 1000
};

struct function {
    pawl_str name;
    int version;
    pawl_perspective_fn function;
    void *self;
};

/* A projector: one thread's store handle and its cached list of perspectives. */
struct projector {
    struct store *store;
    struct arena *arena;    /* of one piece of work */
    struct arena *registry; /* of rows and keys */
    struct perspective_rows rows;
    pawl_str *keys; /* those that can be applied here */
    size_t key_count;
    int64_t read_ms;  /* when rows were read; 0 = never */
    uint64_t listing; /* of what rows say: another when a perspective comes, goes or changes its state */
    pawl_str *mine;   /* keys to apply or claim when a message arrives */
    size_t mine_count;
    struct http_client *client;
    struct projector *next;
};

enum note_type { NOTE_FAILED = 1, NOTE_NO_RUNNER, NOTE_TROUBLE };

struct note {
    enum note_type type;
    char perspective[PAWL_NAME_BYTES_MAX + 16];
    char stream[PAWL_STREAM_BYTES_MAX + 1];
    int64_t version;
    bool stopped;
    char error[256];
};

struct sums {
    int64_t claimed, completed, failed, events, stale;
};

/* How a perspective inside the store gets on. */
struct pace {
    char key[PAWL_NAME_BYTES_MAX + 16];
    bool behind; /* more is due than its last turn could apply, or none has ended yet */
    bool wide;   /* of many streams: several slots may work on it */
    int turns;   /* under way */
    int64_t given_ms, alone_until_ms;
};

struct perspectives {
    struct perspectives_config config;
    struct arena *arena; /* names */
    struct function functions[PERSPECTIVE_FUNCTIONS_MAX];
    size_t function_count;
    struct launcher *launcher; /* of programs; NULL without */
    struct pipes *pipes;       /* of programs that are kept; NULL without */
    pthread_mutex_t lock;
    struct projector *free_projectors;
    struct projector claimer; /* the list of perspectives of perspectives_tell, which lends it its store */
    uint64_t listing;         /* of the claimer, when it last claimed */
    pawl_uuid instance;       /* nil: nothing may start */
    struct {
        char key[PAWL_NAME_BYTES_MAX + 16];
        int64_t until_ms;           /* boot time */
    } holds[PERSPECTIVE_HOLDS_MAX]; /* perspectives whose programs cannot be started: nothing is claimed for
                                       them */
    struct pace paces[PAWL_PERSPECTIVES_MAX];
    size_t pace_count;
    int64_t all_behind_ms; /* since when every live or filling perspective has a backlog; 0: not all have */
    bool look;             /* something has just become due */
    struct sums sums;
    struct note notes[PERSPECTIVE_NOTES_MAX];
    size_t note_count, notes_lost;
    char told[PAWL_PERSPECTIVES_MAX / 8][PAWL_NAME_BYTES_MAX + 16]; /* keys without a runner */
    size_t told_count;
    int64_t logged_ms;
};

/* What a slot works on. */
struct work {
    struct perspectives *all;
    struct projector *projector;
    pawl_uuid instance;
    int64_t until_ms;        /* nothing starts at or after this boot time */
    const stop_flag *cancel; /* may be NULL */
};

/* A free projector or a new one; projector_give puts it back for the next. */
struct projector *projector_take(struct perspectives *all, pawl_error *err);
void projector_give(struct perspectives *all, struct projector *projector);
void projector_free(struct projector *projector); /* takes NULL */
/* Which perspectives there are, looked up now and then. */
PAWL_MUSTCHECK pawl_status projector_refresh(struct perspectives *all, struct projector *projector,
                                             pawl_error *err);
/* The same, only if the claimer has seen another list since. */
PAWL_MUSTCHECK pawl_status projector_follow(struct perspectives *all, struct projector *projector,
                                            pawl_error *err);
/* Its program cannot be started here: leave it alone for this long. */
void perspective_hold(struct perspectives *all, pawl_str key, int64_t wait_ms);
bool perspective_held(struct perspectives *all, pawl_str key);
bool row_fed(const struct perspective_row *row); /* live, or being filled */
const struct perspective_row *projector_row(const struct projector *projector,
                                            pawl_str key); /* NULL: unknown */

bool work_over(const struct work *work);
void perspectives_note(struct perspectives *all, const struct note *note);
void perspectives_add(struct perspectives *all, struct sums sums);
const struct function *perspectives_find(const struct perspectives *all, const struct perspective_row *row);

/* The handler of the messages that appends put; self: the perspectives. */
void perspectives_wake(const struct handler_batch *batch, void *self);

/* Has the worker look for what is due. */
void perspectives_look(struct perspectives *all);
/* How many turns a perspective inside the store is to have now. */
int perspectives_turns(struct perspectives *all, pawl_str key);
/* False: as many as may are working on it. */
bool perspectives_turn_begin(struct perspectives *all, pawl_str key);
void perspectives_turn_end(struct perspectives *all, pawl_str key, bool behind,
                           const struct perspective_rows *rows);
/* Whether other slots should help; true: they have not been asked before. Not wanted: for a while. */
bool perspectives_help(struct perspectives *all, pawl_str key, bool wanted);
/* Whether the perspective has a backlog, or has not been looked at yet: messages leave it to its turns. */
bool perspectives_backlog(struct perspectives *all, pawl_str key);
void perspectives_backlog_set(struct perspectives *all, pawl_str key, bool behind);

/* Streams. */
struct names {
    pawl_str *list;
    size_t count, max;
};

/* Whether it runs in the store's own transactions. */
bool perspective_inside(const struct perspective_row *row);
bool perspective_can_run(const struct perspectives *all, const struct perspective_row *row); /* here */
/* Applies a few batches of due checkpoints of a perspective inside the store. *more: there is more. */
PAWL_MUSTCHECK pawl_status perspective_advance_due(const struct work *work, const struct perspective_row *row,
                                                   bool *more, pawl_error *err);
/* Applies what the perspectives inside the store lack in these streams, except those with a backlog.
 * *written: the wake-ups of all perspectives outside the projector's `mine` are recorded. Streams locked by a
 * transaction are added to busy. PAWL_STALE: there was not enough time to record everything. */
PAWL_MUSTCHECK pawl_status perspectives_advance_named(const struct work *work, const pawl_str *streams,
                                                      size_t count, struct names *busy, bool *written,
                                                      pawl_error *err);

/* Transient: the same call may succeed soon. */
bool perspective_passing(pawl_status status);
void perspective_note_failure(struct perspectives *all, const struct checkpoint_ref *of, int64_t version,
                              bool stopped, pawl_str error);
void perspective_note_trouble(struct perspectives *all, pawl_str key, const pawl_error *err);

/* Applies one stream of a perspective outside the store: a program or an endpoint. Not PAWL_OK: the store
 * does not answer, or its program cannot be started. */
PAWL_MUSTCHECK pawl_status perspective_run_outside(const struct work *work, const struct perspective_row *row,
                                                   const struct checkpoint_grant *grant,
                                                   struct handler_verdict *verdict, int64_t *version,
                                                   pawl_error *err);

#endif
