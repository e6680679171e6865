/* Calling one handler for one message and waiting for it: a function, a program or an endpoint. */
#ifndef WORK_RECEPTORS_CALL_H
#define WORK_RECEPTORS_CALL_H

#include <pthread.h>

#include "handler/table.h"
#include "http/http.h"
#include "process/launcher.h"

enum { RECEPTOR_CLIENTS_MAX = 64 };

struct receptor_world {
    struct launcher *launcher;
    const char *source; /* of CloudEvents: "/pawl/<service>" */
    pthread_mutex_t lock;
    struct http_client *clients[RECEPTOR_CLIENTS_MAX]; /* that are not in use */
    size_t client_count;
};

struct receptor_call {
    const struct handler *handler;
    const struct item *item;
    const char *name;        /* of the receptor; NULL = not a receptor */
    int64_t deadline_ms;     /* boot time; 0 = none */
    const stop_flag *cancel; /* the result no longer counts */
    const void *run;         /* for functions */
};

/* HANDLED_NOT_RUN: it was cancelled. */
void receptor_call(struct receptor_world *world, const struct receptor_call *call,
                   struct handler_verdict *verdict);

/* The event that a receptor's message carries, read from its headers as receptor_message
 * (store/event_receptors.h) wrote them. */
struct event_origin {
    pawl_str stream; /* in the arena; absent = not known */
    int64_t version; /* 0 = not known */
};
struct event_origin event_origin(const struct item *item, struct arena *arena);

#endif
