/* An exchange: one request from its first header to the last byte of its response. */
#ifndef SERVER_HTTP_EXCHANGE_H
#define SERVER_HTTP_EXCHANGE_H

#include "server/access/auth.h"
#include "server/http/call.h"
#include "server/store_pool.h"

struct MHD_Connection;
struct asset;
struct key;
struct outgoing;

/* What an open connection is doing, and since when. */
enum link_state { LINK_READING, LINK_WORKING, LINK_WRITING, LINK_STREAMING };

struct link {
    struct link *next, **before;
    int fd;
    enum link_state state;
    int64_t since_ms;
    bool headers; /* of the request that is being read have come */
};

struct links {
    struct link *first;
    size_t count;
};

enum exchange_state {
    EXCHANGE_NEW,
    EXCHANGE_BODY,
    EXCHANGE_WORKING,
    EXCHANGE_ANSWER,
    EXCHANGE_FLOW,
    EXCHANGE_ANSWERED
};

/* Of a request that waits; claim_waits.c. */
struct exchange_wait {
    struct exchange *next;
    int64_t since_ms, until_ms, tried_ms;
    bool kept, trying;
    bool due;  /* there may be something for it */
    bool gone; /* its client */
};

struct exchange {
    struct pool_task pool_task; /* first, so that a pool_task is its exchange */
    struct server *server;
    struct MHD_Connection *connection;
    struct link *link;
    enum exchange_state state;
    struct route_match match;
    struct call call; /* its arena is the exchange's */
    struct buf body;
    const char *path, *query;  /* as they were sent */
    const struct asset *asset; /* the answer, when it is a file */
    bool reads;                /* GET or HEAD */
    bool too_big;
    bool close;      /* nothing more is read from the connection */
    struct key *key; /* held while the request with an Idempotency-Key runs */
    bool replayed;
    const char *retry_after;
    const char *allow;
    int64_t began_us;
    struct exchange_wait wait;
    struct outgoing *flow; /* its answer is sent while it waits; NULL: not so */
    bool orphan;           /* its connection is gone, a thread still works on it */
};

/* exchange.c: the answer as a problem (RFC 9457). */
void exchange_problem(struct exchange *exchange, int status, const char *detail);
/* The same for what a handler returned. */
void exchange_failure(struct exchange *exchange, const pawl_error *err);
/* Reads the values and runs the handler; the response is in exchange->call. */
void exchange_run(struct exchange *exchange, struct store *store, const pawl_error *opened);
/* Forgets the answer, so that the handler can run again. */
void exchange_again(struct exchange *exchange);
/* http.c: the pool whose threads run it. */
struct store_pool *exchange_pool(const struct exchange *exchange);
/* http.c: what runs in no thread any more is answered. */
void http_answer(struct exchange *exchange);
/* The same in a thread of a pool: the loop gets it back. */
void exchange_work(struct pool_task *pool_task, struct store *store, const pawl_error *err);

#endif
