/* Measuring workers over HTTP, from claim to report. The sums are added to the store's like those of other
 * workers. */
#ifndef SERVER_LEASE_WATCH_H
#define SERVER_LEASE_WATCH_H

#include "domain/rollup.h"
#include "pawl.h"

struct server;
struct lease_watch;

struct lease_watch *lease_watch_new(struct server *server); /* NULL: no memory */
void lease_watch_free(struct lease_watch *watch);           /* takes NULL */

/* In the loop: passes the sums on when it is time, and a last time before the pool of leases is closed. */
void lease_watch_tick(struct lease_watch *watch, int64_t now_ms);
void lease_watch_end(struct lease_watch *watch);

/* ---- From any thread. */

/* A claim was made. */
void lease_watch_asked(struct lease_watch *watch, enum rollup_kind kind, int64_t began_us, bool ok,
                       size_t count);

/* The identity of a claimed item: a job's number is put into a UUID. */
struct lease_ref {
    int64_t token;
    pawl_uuid id;
};
pawl_uuid lease_job_id(int64_t id);

struct lease_claimed {
    struct lease_ref ref;
    enum rollup_kind kind;
    int64_t now_ms;   /* the store's clock at the claim */
    int64_t since_ms; /* it has waited since then; 0: it was not waiting for a worker */
};
/* A repeated answer to a claim counts once. */
void lease_watch_claimed(struct lease_watch *watch, const struct lease_claimed *item);

/* The store has accepted the report. Items claimed elsewhere, or too long ago, are not counted. */
void lease_watch_reported(struct lease_watch *watch, struct lease_ref ref, enum rollup_result result);

#endif
