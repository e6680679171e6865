/* Bulk operations on everything that matches a filter: in the background, in small steps, with progress. */
#ifndef SERVER_OPERATION_H
#define SERVER_OPERATION_H

#include "server/http/call.h"
#include "store/store.h"

struct operations;
struct server;

enum operation_verb {
    OPERATION_REDRIVE_DEAD = 1,
    OPERATION_DISCARD_DEAD,
    OPERATION_RETRY_JOBS,
    OPERATION_DISCARD_JOBS,
    OPERATION_CANCEL_JOBS
};

/* The request. Texts are copied. */
struct operation_new {
    enum operation_verb verb;
    struct message_filter messages; /* of the first two */
    struct job_filter jobs;         /* of the others */
    int64_t max;                    /* at most this many; 0 = all */
    int64_t per_second;             /* maximum rate; 0 = unlimited */
    bool dry_run;                   /* only count */
    int64_t total;                  /* how many there are, if known without counting; -1 = unknown */
};

struct operations *operations_new(struct server *server); /* NULL: no memory */
void operations_free(struct operations *operations);
/* Stops running and waiting operations; what was done stays done. */
void operations_stop(struct operations *operations);

/* Starts it and writes its record as the response. PAWL_BUSY if too many are waiting. */
PAWL_MUSTCHECK pawl_status operation_start(struct call *call, const struct operation_new *in,
                                           pawl_error *err);

enum { OPERATION_COLUMNS = 14 };
extern const struct column operation_columns[OPERATION_COLUMNS];

#endif
