/* The SQL functions as texts to send: a claim answers "1@TOKEN 2@TOKEN", reports answer "{1}" and so on. */
#ifndef INTERLEAVE_CALLS_H
#define INTERLEAVE_CALLS_H

#include "interleave/driver.h"

#define APPLIED "{1}"
#define DUPLICATE "{2}"
#define STALE "{3}"
#define CONFLICT "{4}"

enum { LEASE_MS = 300000 };

/* Instance n, registered for the outbox and beaten for a day. */
void join(struct scene *scene, int n);
void join_lease(struct scene *scene, int n, int lease_ms);
const char *sql_beat(struct scene *scene, int n); /* gives "taken/given/evicted" */
const char *sql_evict(struct scene *scene, int n);

/* Message n of a stream. */
const char *sql_send(struct scene *scene, int n, const char *stream);
const char *sql_send_request(struct scene *scene, int n, const char *stream, int request);
void send_now(struct scene *scene, int n, const char *stream); /* committed at once */

const char *sql_claim(struct scene *scene, int instance, int max);
const char *sql_claim_request(struct scene *scene, int instance, int max, int request);

/* "1 2" of "1@77 2@77"; and the token of message n in it. */
const char *numbers(struct scene *scene, const char *grant);
long long token_of(struct scene *scene, const char *grant, int n);

/* Reports of message n under the token of the grant. */
const char *sql_complete(struct scene *scene, int instance, const char *grant, int n);
const char *sql_finish(struct scene *scene, long long token, int n);
const char *sql_fail(struct scene *scene, int instance, const char *grant, int n, bool for_good, int policy);
const char *sql_release(struct scene *scene, int instance, const char *grant, int n);
const char *sql_renew(struct scene *scene, int instance, const char *grant, int n);
const char *sql_redrive(struct scene *scene, int n);

/* Every report with this grant must now be answered stale: the grant is over. */
void refused(struct scene *scene, int instance, const char *grant, int n);

/* Where a message is, as committed: "message", "aside a0 d1", "dead a1 d0", "gone". */
const char *where_is(struct scene *scene, int n);

/* Owner and state of lane 0: "free", "1", "1 draining". */
const char *lane_owner(struct scene *scene);

#endif
