/* The transports file: brokers, routes to publish, subscriptions to read, and the spine. */
#ifndef TRANSPORT_SETTINGS_H
#define TRANSPORT_SETTINGS_H

#include "transport/module.h"

enum {
    SETTINGS_TRANSPORTS_MAX = 32,
    SETTINGS_ROUTES_MAX = 128,
    SETTINGS_SUBSCRIPTIONS_MAX = 64,
    SETTINGS_BREAKER_FAILURES_DEFAULT = 3,
    SETTINGS_BREAKER_MS_DEFAULT = 1000,
    SETTINGS_BREAKER_MS_MAX = 30000,
    SETTINGS_RATE_MAX = 1000000,
    SETTINGS_SPINE_LENGTH_DEFAULT = 10000,
    SETTINGS_SPINE_LENGTH_MAX = 100000000
};

/* One [transport NAME]. */
struct transport_setting {
    const char *name;
    struct transport_config config;
    const struct transport_module *module;
    struct transport_option options[TRANSPORT_OPTIONS_MAX];
    int breaker_failures; /* after this many in a row the breaker opens */
    int64_t breaker_ms;   /* the first pause; doubled while the broker stays unavailable */
};

/* One [route PATTERN]: outbox messages whose topic matches go there. */
struct route_setting {
    pawl_str pattern;
    size_t transport;
    pawl_str to; /* {topic}, {type} and {stream} are replaced by the message's */
    int rate;    /* most messages per second; 0 = no limit */
    pawl_handler rules;
};

/* One [subscribe FROM]. */
struct subscription_setting {
    pawl_str from;
    size_t transport;
    pawl_str group;    /* absent = the service */
    pawl_str consumer; /* absent = the service */
    pawl_str topic;    /* what the messages' topic will be; absent = from */
};

/* [spine TO]: what happened to jobs goes there; docs/jobs.md. */
struct spine_setting {
    pawl_str to; /* absent = there is none */
    size_t transport;
    int64_t max_length;
};

#define SETTINGS_SPINE_TO "orchestrator:events"

struct transport_settings {
    struct arena *arena;
    struct transport_setting transports[SETTINGS_TRANSPORTS_MAX];
    size_t transport_count;
    struct route_setting routes[SETTINGS_ROUTES_MAX];
    size_t route_count;
    struct subscription_setting subscriptions[SETTINGS_SUBSCRIPTIONS_MAX];
    size_t subscription_count;
    struct spine_setting spine;
};

/*
 * Reads the file and loads the modules that it names. Errors are "PATH:LINE: reason" and never contain a
 * secret. Free with transport_settings_free.
 */
PAWL_MUSTCHECK pawl_status transport_settings_read(const char *path, struct transport_settings **settings,
                                                   pawl_error *err);
void transport_settings_free(struct transport_settings *settings); /* takes NULL */

#endif
