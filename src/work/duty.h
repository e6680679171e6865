/* A duty: something that one instance at a time does in a background thread, such as reading a subscription
 * or passing on the spine. */
#ifndef WORK_DUTY_H
#define WORK_DUTY_H

#include <stdatomic.h>

#include "base/limits.h"
#include "base/log.h"
#include "store/store.h"
#include "transport/settings.h"

/* What such threads need from their worker; everything outlives them. */
struct duty_world {
    struct transport_settings *settings;
    pawl_str service;
    struct store_config store;
    pawl_uuid (*instance)(void *self); /* the worker's current instance id; nil = not registered */
    void *self;
    struct log log; /* used by the threads */
};

/* The duty as one thread holds it; zero it, then set the name. */
struct duty {
    char name[PAWL_TOPIC_BYTES_MAX + 1];
    struct duty_grant grant;
    pawl_uuid instance; /* under which it is held */
    int64_t renew_ms;   /* boot time */
};

/* Whether this instance (nil: never) holds the duty, with enough time left to act under it. False if the
 * store does not answer. */
bool duty_hold(struct duty *duty, struct store *store, pawl_uuid instance);

/* Waits, or returns early if the thread is told to stop. */
void duty_wait(const atomic_bool *stopping, int64_t wait_ms);

/* Waits after a failure, and doubles the next wait. Start with DUTY_BACKOFF_MS. */
enum { DUTY_BACKOFF_MS = 250 };
int64_t duty_longer_ms(int64_t backoff_ms);
void duty_back_off(const atomic_bool *stopping, int64_t *backoff_ms);

/* Gives it up, when it is held. */
void duty_leave(struct duty *duty, struct store *store);

#endif
