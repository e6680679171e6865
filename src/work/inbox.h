/* The inbox filled from brokers: each subscription is read by one instance at a time, stored first, then
 * acknowledged. */
#ifndef WORK_INBOX_H
#define WORK_INBOX_H

#include "base/log.h"
#include "store/store.h"
#include "transport/settings.h"

struct inbox;

/* What the readers need of their worker; everything outlives the inbox. */
struct inbox_config {
    struct transport_settings *settings;
    pawl_str service;
    struct store_config store;
    pawl_uuid (*instance)(void *self); /* under which the worker is registered now; nil = not */
    void *self;
    struct log log; /* used by the readers' threads */
};

/* Starts a thread per subscription; *inbox is NULL when there are none. */
PAWL_MUSTCHECK pawl_status inbox_start(const struct inbox_config *config, struct inbox **inbox,
                                       pawl_error *err);

/* Ends the readers and gives their duties back; takes NULL. What was not acknowledged comes again. */
void inbox_stop(struct inbox *inbox);

#endif
