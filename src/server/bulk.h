/* Bulk operations on everything that matches a filter: in the background, in small steps, with progress. */
#ifndef SERVER_BULK_H
#define SERVER_BULK_H

#include "operations/front/request.h"
#include "store/store.h"

struct bulks;
struct server;

enum bulk_verb {
    BULK_REDRIVE_DEAD = 1,
    BULK_DISCARD_DEAD,
    BULK_RETRY_JOBS,
    BULK_DISCARD_JOBS,
    BULK_CANCEL_JOBS
};

/* The request. Texts are copied. */
struct bulk_new {
    enum bulk_verb verb;
    struct message_filter messages; /* of the first two */
    struct job_filter jobs;         /* of the others */
    int64_t max;                    /* at most this many; 0 = all */
    int64_t per_second;             /* maximum rate; 0 = unlimited */
    bool dry_run;                   /* only count */
    int64_t total;                  /* how many there are, if known without counting; -1 = unknown */
};

struct bulks *bulks_new(struct server *server); /* NULL: no memory */
void bulks_free(struct bulks *bulks);
/* Stops those that run or wait; what was done stays done. */
void bulks_stop(struct bulks *bulks);

/* Starts it and writes its record as the response. PAWL_BUSY if too many are waiting. */
PAWL_MUSTCHECK pawl_status bulk_start(struct request *request, const struct bulk_new *in, pawl_error *err);

enum { BULK_COLUMNS = 14 };
extern const struct column bulk_columns[BULK_COLUMNS];

#endif
