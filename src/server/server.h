/* The HTTP server: one epoll loop, a few threads that talk to the database, and their shared state. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <pthread.h>

#include "base/log.h"
#include "server/access/auth.h"
#include "server/access/redact.h"
#include "server/store_pool.h"
#include "store/store.h"

struct MHD_Daemon;

/* Texts are borrowed while the server runs. */
struct server_config {
    struct store_config store;
    const char *listen;     /* "127.0.0.1:7295", "[::1]:0" */
    const char *token_file; /* NULL: the default place */
    const char *tls_cert;   /* PEM files; NULL: no TLS */
    const char *tls_key;
    const char *public_url; /* address of a proxy in front: "https://pawl.example.org"; NULL: none */
    pawl_str redact;        /* absent: nothing is hidden */
    const char *tools;      /* a file of tools for checking pipelines; NULL: none */
    int64_t tools_ms;       /* how long MCP servers may take to list their tools; 0: the default */
    bool lease_api;
    int64_t alert_interval_ms; /* 0: it does not evaluate alerts */
    const char *alert_targets; /* a file; NULL: none */
    struct log log;
};

struct server {
    struct server_config config;
    struct arena *arena; /* lives as long as the server */
    struct tokens tokens;
    struct sessions *sessions; /* the loop's own */
    bool tokens_made;
    const char *token_file;
    struct origins origins;
    struct redact redact;
    bool tls;
    char address[80]; /* "127.0.0.1:7295", with the port that was taken */
    int listen_fd;
    int event_fd; /* wakes the loop: pool tasks are done, or it is needed otherwise */
    int signal_fd;
    bool stopping;
    int64_t started_ms; /* boot clock */
    struct MHD_Daemon *daemon;
    struct store_pool query_pool; /* for queries and actions */
    struct store_pool lease_pool; /* the worker's role; no threads unless the lease API is on */
    struct store_pool bulk_pool;  /* operations over many things, one after the other */
    struct store_pool doctor_pool;
    pthread_mutex_t lock;   /* of done */
    struct pool_task *done; /* the latest first */
    struct links *links;    /* open connections; the loop's own */
    struct keys *keys;      /* answers to requests with an Idempotency-Key; the loop's own */
    struct sampler *sampler;
    struct streams *streams; /* who listens; the loop's own */
    struct stats *stats;
    struct bulks *bulks;
    struct server_alerts *alerts; /* NULL: it does not watch */
    struct checkup *checkup;
    struct lease_watch *leases;      /* NULL: the lease API is off */
    struct claim_waits *claim_waits; /* the same */
    struct tracer *tracer;           /* NULL: nothing is traced */
};

/* Checks the configuration, opens the database, listens. The caller closes it even if this fails. */
PAWL_MUSTCHECK pawl_status server_open(struct server *server, const struct server_config *config,
                                       pawl_error *err);

/* Serves until SIGTERM, SIGINT or SIGHUP. */
PAWL_MUSTCHECK pawl_status server_run(struct server *server, pawl_error *err);

void server_close(struct server *server);

/* Gives a finished pool_task back to the loop; from any thread. */
void server_hand_back(struct server *server, struct pool_task *pool_task);

/* ---- Parts of the server. */

/* address.c: the socket, and the names under which it is reached. */
PAWL_MUSTCHECK pawl_status server_listen(struct server *server, pawl_error *err);

/* http.c: what libmicrohttpd calls. */
PAWL_MUSTCHECK pawl_status http_start(struct server *server, pawl_error *err);
void http_stop(struct server *server);
/* Ends what takes too long; once a second or so. */
void http_tick(struct server *server, int64_t now_ms);

#endif
