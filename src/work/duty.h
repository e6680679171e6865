/* Something that one instance does at a time, by a thread beside the worker: reading a subscription, passing
 * on the spine. */
#ifndef WORK_DUTY_H
#define WORK_DUTY_H

#include <stdatomic.h>

#include "base/limits.h"
#include "base/log.h"
#include "store/store.h"
#include "transport/settings.h"

/* What such threads need of their worker; everything outlives them. */
struct duty_world {
    struct transport_settings *settings;
    pawl_str service;
    struct store_config store;
    pawl_uuid (*instance)(void *self); /* under which the worker is registered now; nil = not */
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

/* Whether the duty is this instance's (nil: of course not), with enough time left to do something under it.
 * A store that does not answer: it is not. */
bool duty_hold(struct duty *duty, struct store *store, pawl_uuid instance);

/* Waits, or until the thread is told to stop. */
void duty_wait(const atomic_bool *stopping, int64_t wait_ms);

/* After a failure: how long to wait the next time, and waiting so. Begin with DUTY_BACKOFF_MS. */
enum { DUTY_BACKOFF_MS = 250 };
int64_t duty_longer_ms(int64_t backoff_ms);
void duty_back_off(const atomic_bool *stopping, int64_t *backoff_ms);

/* Gives it up, when it is held. */
void duty_leave(struct duty *duty, struct store *store);

#endif
