/* A store: the database that holds the work, opened by URL, used only through its operations. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/alerts.h"
#include "store/core.h"
#include "store/events.h"
#include "store/jobs.h"
#include "store/relay.h"
#include "store/runs.h"
#include "store/view.h"

struct store_caps {
    bool notify;       /* can wake a waiting worker */
    bool many_writers; /* several processes commit at the same time */
    bool sessions;     /* a liveness lock is possible on this connection */
    bool role;         /* it acts as store_config.role */
};

struct store_ops {
    struct store_core_ops core;
    struct store_view_ops view;
    const struct store_relay_ops *relay;
    struct store_events_ops events;
    const struct store_jobs_ops *jobs;
    const struct store_runs_ops *runs;
    const struct store_alerts_ops *alerts;
    void (*close)(struct store *store); /* takes NULL */
};

struct store {
    const struct store_ops *ops;
    struct store_caps caps;
    const char *dialect; /* "sqlite", "postgres" */
};

enum store_durability { DURABILITY_FULL = 0, DURABILITY_NORMAL };

struct store_config {
    const char
        *url; /* sqlite path or sqlite:PATH, postgres://…, postgresql://…, a libpq "key=value" string */
    const char
        *schema; /* NULL = "pawl" (SQLite: a table prefix is not used; another name than pawl is refused) */
    enum store_durability durability; /* SQLite only */
    int connect_timeout_ms;           /* 0 = default */
    int statement_timeout_ms;         /* 0 = default */
    const char *role; /* PostgreSQL: the role to act as, where there is one and the login may; NULL = the
                         login's own */
    bool small_cache; /* SQLite: fewer pages stay in memory */
    bool allow_version_mismatch; /* not looked at: also for who has looked already */
};

struct migrate_config {
    int partition_count; /* 0 = default; used only when the schema is made */
    int lane_count;
};

struct migrate_result {
    int applied;        /* migrations applied by this call */
    int version;        /* now */
    bool without_roles; /* PostgreSQL: the caller may not make them; everything belongs to the caller */
};

/* Opens a migrated store; a schema that is missing, older or newer than this program is refused
 * (PAWL_CONFLICT) with what to do. */
PAWL_MUSTCHECK pawl_status store_open(const struct store_config *config, struct store **store,
                                      pawl_error *err);
void store_close(struct store *store);

/* Creates or upgrades the schema; several processes may do it at once. */
PAWL_MUSTCHECK pawl_status store_migrate(const struct store_config *config,
                                         const struct migrate_config *migrate, struct migrate_result *out,
                                         pawl_error *err);

/* The file of an SQLite address, borrowed from url; NULL when url names another dialect or nothing. */
const char *store_sqlite_path(const char *url);

/* The versions of the database libraries in use, as text; the second writes into text and returns it. */
enum { STORE_VERSION_BYTES = 32 };
const char *store_sqlite_version(void);
const char *store_libpq_version(char text[static STORE_VERSION_BYTES]);

/* Receives wake-ups: fd becomes readable; drain empties it and returns whether it was a wake-up. */
struct store_waker {
    int fd;
    bool news;              /* the last drain found that something was paused or cancelled */
    struct lane_name place; /* the last drain found that all work went here */
    pawl_status (*drain)(struct store_waker *waker, bool *woken,
                         pawl_error *err); /* not PAWL_OK: it is broken */
    void (*close)(struct store_waker *waker);
};

/* PAWL_CONFLICT if wake-ups are not possible: poll. The store's files or schema must exist. */
PAWL_MUSTCHECK pawl_status store_waker_open(const struct store_config *config, struct store_waker **waker,
                                            pawl_error *err);
void store_waker_close(struct store_waker *waker); /* takes NULL */

/*
 * A batch as a worker sends it. A batch for one lane is only a claim: it neither registers nor beats, and its
 * result says nothing about the instance's lease. If its outcome is unknown, it is repeated as a whole batch
 * without a lane, because only that returns the store's time at which its claim was made.
 */
PAWL_MUSTCHECK pawl_status store_batch(struct store *store, const struct work_batch *in, struct arena *arena,
                                       struct work_batch_result *out, pawl_error *err);

/* due: messages that are waiting, running or may be retried now, and jobs that are running, in any worker;
 * later: messages aside, the first of which may run again in next_ms (0: none). */
struct work_left {
    int64_t due, later, next_ms;
};
/* What is left of these kinds (KIND_BITs, KIND_BIT_JOBS of a queue; absent = of all). */
PAWL_MUSTCHECK pawl_status store_left(struct store *store, int kinds, pawl_str queue, struct arena *arena,
                                      struct work_left *out, pawl_error *err);

/* The openers of each dialect; only store.c calls them. */
pawl_status sqlite_waker_open(const struct store_config *config, struct store_waker **waker, pawl_error *err);
pawl_status postgres_waker_open(const struct store_config *config, struct store_waker **waker,
                                pawl_error *err);
pawl_status sqlite_open(const struct store_config *config, struct store **store, pawl_error *err);
pawl_status sqlite_migrate(const struct store_config *config, const struct migrate_config *migrate,
                           struct migrate_result *out, pawl_error *err);
pawl_status postgres_open(const struct store_config *config, struct store **store, pawl_error *err);
pawl_status postgres_migrate(const struct store_config *config, const struct migrate_config *migrate,
                             struct migrate_result *out, pawl_error *err);

/* Input checks shared by all stores, so that a wrong call gets the same error everywhere. */
PAWL_MUSTCHECK pawl_status check_put(const struct messages_put *in, pawl_error *err);
/* Checks a token that a caller has seen against a store with this epoch and newest token. *raise: the epoch
 * the store must switch to because it never issued that token; 0 = it did. */
PAWL_MUSTCHECK pawl_status check_seen(int64_t seen, int64_t epoch, int64_t newest, int64_t *raise,
                                      pawl_error *err);
/* Whether the list, sorted by grants_sort, contains it. */
bool grants_has(const struct grant_held *held, size_t count, struct grant_held what);
void grants_sort(struct grant_held *held, size_t count);
PAWL_MUSTCHECK pawl_status check_settle(const struct grants_settle *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_claim(const struct messages_claim *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_instance(const struct instance_new *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_batch(const struct work_batch *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_complete(const struct messages_complete *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_fail(const struct messages_fail *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_release(const struct messages_release *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_renew(const struct messages_renew *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_receptors(const struct receptor_report *reports, size_t count,
                                           pawl_error *err);
PAWL_MUSTCHECK pawl_status check_checkpoints(const struct checkpoints_report *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_dead_refs(const char *op, const struct dead_ref *refs, size_t count,
                                           pawl_error *err);
PAWL_MUSTCHECK pawl_status check_dead_edit(const struct dead_ref *ref, pawl_str payload, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_maintain(const struct maintain_in *in, pawl_error *err);
/* Every cell is valid, none is repeated, no count or sum is negative. */
PAWL_MUSTCHECK pawl_status check_rollups(const struct rollups_new *in, pawl_error *err);
/* At most PAWL_SERIES_POINTS_MAX steps. */
PAWL_MUSTCHECK pawl_status check_series_ask(const struct series_ask *ask, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_settings(const struct settings_change *in, pawl_error *err);

/* The text that a failure stores: the error, a newline and the stack when there is one, cut to
 * PAWL_ERROR_BYTES_MAX; absent when both are. */
PAWL_MUSTCHECK pawl_status store_error_text(struct arena *arena, pawl_str error, pawl_str stack,
                                            pawl_str *text, pawl_error *err);

#endif
