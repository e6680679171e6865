/* One broker as the outbox uses it. */
#include "work/broker/outlet.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time/clock.h"

enum { SESSIONS_MAX = 256 };

struct outlet {
    const struct transport_setting *setting;
    struct log log;
    pthread_mutex_t lock;
    struct transport *idle[SESSIONS_MAX];
    size_t idle_count;
    int failures;          /* in a row */
    int64_t rest_until_ms; /* boot time */
    int64_t rest_ms;       /* the last rest; 0 = none yet */
};

struct outlet *outlet_create(const struct transport_setting *setting, const struct log *log) {
    struct outlet *outlet = calloc(1, sizeof(*outlet));
    if (outlet == NULL)
        return NULL;
    outlet->setting = setting;
    outlet->log = log != NULL ? *log : (struct log){.level = LOG_LEVEL_OFF};
    pthread_mutex_init(&outlet->lock, NULL);
    return outlet;
}

void outlet_free(struct outlet *outlet) {
    if (outlet == NULL)
        return;
    for (size_t i = 0; i < outlet->idle_count; i++)
        outlet->setting->module->close(outlet->idle[i]);
    pthread_mutex_destroy(&outlet->lock);
    free(outlet);
}

bool outlet_keeps_order(const struct outlet *outlet) { return outlet->setting->module->keeps_order; }

const char *outlet_system(const struct outlet *outlet) {
    const char *name = outlet->setting->module->name;
    return strcmp(name, "amqp") == 0 ? "rabbitmq" : name;
}

int64_t outlet_rest_ms(struct outlet *outlet) {
    pthread_mutex_lock(&outlet->lock);
    int64_t left_ms = outlet->rest_until_ms - clock_boot_ms();
    pthread_mutex_unlock(&outlet->lock);
    return left_ms > 0 ? left_ms : 0;
}

/* The breaker: after so many failures in a row the broker is left alone, longer and longer. The first call
 * after a rest is the test. The log says it at the first failure and at every rest, not at each message. */
static void note_failure(struct outlet *outlet, const char *reason) {
    const struct transport_setting *setting = outlet->setting;
    pthread_mutex_lock(&outlet->lock);
    int64_t now_ms = clock_boot_ms();
    bool rests = ++outlet->failures >= setting->breaker_failures && outlet->rest_until_ms <= now_ms;
    if (rests) {
        outlet->rest_ms = outlet->rest_ms == 0 ? setting->breaker_ms : outlet->rest_ms * 2;
        int64_t most_ms = setting->breaker_ms > SETTINGS_BREAKER_MS_MAX ? setting->breaker_ms
                                                                        : SETTINGS_BREAKER_MS_MAX;
        outlet->rest_ms = outlet->rest_ms > most_ms ? most_ms : outlet->rest_ms;
        outlet->rest_until_ms = now_ms + outlet->rest_ms;
    }
    int failures = outlet->failures;
    int64_t rest_ms = rests ? outlet->rest_ms : 0;
    pthread_mutex_unlock(&outlet->lock);
    if (rests || failures == 1)
        log_event(&outlet->log, LOG_LEVEL_WARN, "broker_unavailable",
                  "transport=%s failures=%d rest_ms=%" PRId64 " reason=%s", setting->name, failures, rest_ms,
                  reason);
}

static void note_success(struct outlet *outlet) {
    pthread_mutex_lock(&outlet->lock);
    int failures = outlet->failures;
    outlet->failures = 0;
    outlet->rest_ms = 0;
    outlet->rest_until_ms = 0;
    pthread_mutex_unlock(&outlet->lock);
    if (failures > 0)
        log_event(&outlet->log, LOG_LEVEL_INFO, "broker_back", "transport=%s failures=%d",
                  outlet->setting->name, failures);
}

static struct transport *session_take(struct outlet *outlet) {
    pthread_mutex_lock(&outlet->lock);
    struct transport *session = outlet->idle_count > 0 ? outlet->idle[--outlet->idle_count] : NULL;
    pthread_mutex_unlock(&outlet->lock);
    return session;
}

/* A broker that went away took all its sessions along: none of those that lie idle is tried first. */
static void sessions_drop(struct outlet *outlet) {
    struct transport *session;
    while ((session = session_take(outlet)) != NULL)
        outlet->setting->module->close(session);
}

static void session_give(struct outlet *outlet, struct transport *session) {
    pthread_mutex_lock(&outlet->lock);
    bool kept = outlet->idle_count < SESSIONS_MAX;
    if (kept)
        outlet->idle[outlet->idle_count++] = session;
    pthread_mutex_unlock(&outlet->lock);
    if (!kept)
        outlet->setting->module->close(session);
}

void outlet_publish(struct outlet *outlet, const struct transport_message *messages, size_t count,
                    struct transport_result *results) {
    const struct transport_module *module = outlet->setting->module;
    pawl_error error = {0};
    struct transport *session = session_take(outlet);
    pawl_status status = session != NULL ? PAWL_OK : module->open(&outlet->setting->config, &session, &error);
    if (status != PAWL_OK) {
        transport_results_unknown(results, count, error.text);
        note_failure(outlet, error.text);
        return;
    }
    status = module->publish(session, messages, count, results, &error);
    if (status == PAWL_OK) {
        session_give(outlet, session);
        note_success(outlet);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (results[i].fate == FATE_UNAVAILABLE && error.text[0] != '\0')
            transport_result_set(&results[i], FATE_UNAVAILABLE, "%.200s", error.text);
    }
    module->close(session);
    sessions_drop(outlet);
    note_failure(outlet, error.text);
}
