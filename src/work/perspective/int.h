/* Shared by the files that apply perspectives only. */
#ifndef WORK_PERSPECTIVE_INT_H
#define WORK_PERSPECTIVE_INT_H

#include <pthread.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/stop.h"
#include "http/http.h"
#include "process/launcher.h"
#include "work/observe.h"
#include "work/perspective/perspective.h"

enum {
    PERSPECTIVE_FUNCTIONS_MAX = 64,
    PERSPECTIVE_NOTES_MAX = 16,    /* logged per tick; more are only counted */
    PERSPECTIVE_OWED_MAX = 1024,   /* grants to give back when the store answers again */
    PERSPECTIVE_DUE_MAX = 1000,    /* checkpoints that the thread takes at a time */
    PERSPECTIVE_CLAIM_MAX = 1000,  /* checkpoints of the streams of one bundle */
    PERSPECTIVE_SLICE_MS = 2000,   /* how long one bundle may keep its slot; the rest is due later */
    PERSPECTIVE_REFRESH_MS = 1000, /* how old the list of perspectives may be */
    PERSPECTIVE_BUSY_MS = 100,     /* how long the messages of a busy stream are delayed */
    PERSPECTIVE_TURNS_MAX = 16,    /* batches of one perspective before the next has its turn */
    PERSPECTIVE_HELPERS_MAX = 3,   /* threads that help with a backlog of many streams */
    PERSPECTIVE_HELP_MS = 1000,    /* a batch that took longer may have waited for the other thread's rows */
    PERSPECTIVE_ALONE_MS = 60000,  /* how long no other thread helps after that */
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
    int64_t read_ms; /* when rows were read; 0 = never */
    pawl_str *mine;  /* keys to apply or claim when a message arrives */
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

struct owed {
    char *text; /* stream and key, concatenated; owned */
    size_t stream_len, key_len;
    pawl_uuid instance;
    int64_t version, token;
};

/* One claim of checkpoints, from before it is sent until everything is given back. */
struct holding {
    int64_t mark;  /* the newest token when it was sent */
    int64_t token; /* 0: not answered yet */
    struct holding *next;
};

struct perspectives {
    struct perspectives_config config;
    struct arena *arena; /* names */
    struct function functions[PERSPECTIVE_FUNCTIONS_MAX];
    size_t function_count;
    struct launcher *launcher; /* of programs; NULL without */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct projector *free_projectors;
    pawl_uuid instance; /* nil: nothing may start */
    bool ending, started;
    struct {
        char key[PAWL_NAME_BYTES_MAX + 16];
        int64_t until_ms;           /* boot time */
    } holds[PERSPECTIVE_HOLDS_MAX]; /* perspectives whose programs cannot be started: nothing is claimed for
                                       them */
    stop_flag stop;                 /* for programs and calls that no message waits for */
    bool looked;                    /* the first search for due checkpoints is over */
    char backlog[PAWL_PERSPECTIVES_MAX]
                [PAWL_NAME_BYTES_MAX + 16]; /* keys with more due checkpoints than one search takes */
    size_t backlog_count;
    int64_t all_behind_ms; /* since when every live or filling perspective has a backlog; 0: not all have */
    bool look;             /* something has just become due */
    bool settling;         /* asked whether anything is left, here or in other workers */
    int working;           /* pieces of work under way */
    bool due_left;         /* the last search found something, or there was none yet */
    pthread_t thread;
    pthread_t helpers[PERSPECTIVE_HELPERS_MAX];
    int helper_count;
    char help[PAWL_NAME_BYTES_MAX + 16]; /* the key with a backlog that others may help with; empty: none */
    int64_t alone_until_ms;
    struct sums sums;
    struct note notes[PERSPECTIVE_NOTES_MAX];
    size_t note_count, notes_lost;
    char told[PAWL_PERSPECTIVES_MAX / 8][PAWL_NAME_BYTES_MAX + 16]; /* keys without a runner */
    size_t told_count;
    struct holding *holdings;
    int64_t newest_token, seen_token; /* highest token granted by the store; highest token received */
    int64_t settle_ms;                /* when to tell the store again what is held; used by the thread only */
    struct owed owed[PERSPECTIVE_OWED_MAX];
    size_t owed_count;
    int64_t logged_ms;
};

/* One piece of work: what was granted in one call. */
struct work {
    struct perspectives *all;
    struct projector *projector;
    pawl_uuid instance;
    int64_t until_ms;        /* nothing starts at or after this boot time */
    const stop_flag *cancel; /* may be NULL */
};

/* One stream's share of it. */
struct share {
    pawl_str stream;
    int64_t version, head, token, replay_to; /* head: of the stream, when it was granted */
    bool done;                               /* released, or no longer ours */
};

/* A free projector or a new one; projector_give puts it back for the next. */
struct projector *projector_take(struct perspectives *all, pawl_error *err);
void projector_give(struct perspectives *all, struct projector *projector);
void projector_free(struct projector *projector); /* takes NULL */
/* Which perspectives there are, looked up now and then. */
PAWL_MUSTCHECK pawl_status projector_refresh(struct perspectives *all, struct projector *projector,
                                             pawl_error *err);
/* The perspectives that can be applied here and do not run inside the store; in the projector's arena. */
PAWL_MUSTCHECK pawl_status projector_outside(struct perspectives *all, struct projector *projector,
                                             pawl_str **keys, size_t *count, pawl_error *err);
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
/* The thread that looks for what is due; self: the perspectives. */
void *perspectives_due(void *self);

/* Wakes the thread that looks for due checkpoints. */
void perspectives_look(struct perspectives *all);

/* Whether the thread is working on a backlog of this perspective, or has not looked yet. */
bool perspectives_backlog(struct perspectives *all, pawl_str key);
void perspectives_backlog_set(struct perspectives *all, pawl_str key, bool backlog);
/* Called after checking all of them; see perspectives_all_behind. */
void perspectives_backlog_sum(struct perspectives *all, const struct perspective_rows *rows);

/* A thread that helps the first one; self: the perspectives. */
void *perspectives_helper(void *self);
/* The backlog of this perspective has many streams: let idle threads take some of them. */
void perspectives_help_ask(struct perspectives *all, pawl_str key);
/* The backlog is done; alone: no help is wanted for a while. */
void perspectives_help_end(struct perspectives *all, pawl_str key, bool alone);

/* Streams. */
struct names {
    pawl_str *list;
    size_t count, max;
};

/* Whether it runs in the store's own transactions. */
bool perspective_inside(const struct perspective_row *row);
/* Applies a few batches of due checkpoints of a perspective inside the store. *found: there was something. */
PAWL_MUSTCHECK pawl_status perspective_advance_due(const struct work *work, const struct perspective_row *row,
                                                   bool *found, pawl_error *err);
/* One batch of due checkpoints, without retries. *found: there was something. */
PAWL_MUSTCHECK pawl_status perspective_advance_some(const struct work *work,
                                                    const struct perspective_row *row, bool *found,
                                                    pawl_error *err);
/* Applies what the perspectives inside the store lack in these streams, except those with a backlog.
 * *written: the wake-ups of all perspectives outside the projector's `mine` are recorded. Streams locked by a
 * transaction are added to busy. PAWL_STALE: there was not enough time to record everything. */
PAWL_MUSTCHECK pawl_status perspectives_advance_named(const struct work *work, const pawl_str *streams,
                                                      size_t count, struct names *busy, bool *written,
                                                      pawl_error *err);

/* Transient: the same call may succeed soon. */
bool perspective_passing(pawl_status status);
/* Waits, and makes the next wait longer. */
void perspective_pause(int64_t *wait_ms);
void perspective_note_trouble(const struct work *work, const struct perspective_row *row,
                              const pawl_error *err);

/* Claims checkpoints. If grants->count > 0 they are held until perspectives_let_go; otherwise nothing is. */
PAWL_MUSTCHECK pawl_status perspectives_claim(const struct work *work, const struct checkpoints_claim *in,
                                              struct holding *holding, struct checkpoint_grants *grants,
                                              pawl_error *err);
void perspectives_let_go(struct perspectives *all, struct holding *holding);
/* Now and then: gives back what the store has granted but no thread here holds. */
PAWL_MUSTCHECK pawl_status perspectives_settle(const struct work *work, pawl_error *err);

/* Applies what was granted, perspective by perspective. */
void perspectives_run_grants(const struct work *work, const struct checkpoint_grants *grants);
/* Applies the grants of one perspective outside the store; the caller owns the arena of the projector. Never
 * fails: what could not be done is due again. */
void perspective_run(const struct work *work, const struct perspective_row *row, struct share *shares,
                     size_t count);
/* One stream of it: a program or an endpoint. Not PAWL_OK: the store does not answer. */
PAWL_MUSTCHECK pawl_status perspective_run_outside(const struct work *work, const struct perspective_row *row,
                                                   struct share *share, pawl_error *err);

#endif
