/* Requests that wait, for work or for the end of a job or a run: each is a suspended connection, without a
 * thread or a database connection of its own, and is made again when something was put, and now and then. All
 * of it is the loop's. */
#ifndef SERVER_CLAIM_WAITS_H
#define SERVER_CLAIM_WAITS_H

#include "pawl.h"

struct exchange;
struct server;
struct claim_waits;

PAWL_MUSTCHECK pawl_status claim_waits_open(struct server *server, struct claim_waits **waits,
                                            pawl_error *err);
void claim_waits_free(struct claim_waits *waits); /* takes NULL; after claim_waits_end */

/* A handler has run. True: it found nothing and waits; its answer is not the exchange's yet. */
bool claim_waits_keep(struct claim_waits *waits, struct exchange *exchange);

/* Its connection is gone. */
void claim_waits_drop(struct claim_waits *waits, struct exchange *exchange); /* takes NULL */

/* What the loop must poll besides, -1 where there is nothing yet. */
struct claim_wait_fds {
    int wake, gone;
};
struct claim_wait_fds claim_waits_fds(const struct claim_waits *waits); /* takes NULL */

/* Tries again what is due, and answers what has waited long enough or whose client is gone; once per turn of
 * the loop. Returns in how many milliseconds it has something to do. */
int64_t claim_waits_turn(struct claim_waits *waits); /* takes NULL */

/* Answers all of them, and lets none wait from now on. */
void claim_waits_end(struct claim_waits *waits); /* takes NULL */

#endif
