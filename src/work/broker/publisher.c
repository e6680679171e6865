/* The outbox's side of one broker: pooled sessions and a circuit breaker. */
#include "work/broker/publisher.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "domain/failure/retry.h"

/* A session that was idle for longer is not used again: brokers end those that say nothing (RabbitMQ after a
 * minute), and a message should not be the one to find out. */
enum { SESSIONS_MAX = 256, IDLE_MS_MAX = 30000 };

struct publisher {
    const struct transport_setting *setting;
    struct log log;
    pthread_mutex_t lock;
    struct {
        struct transport *session;
        int64_t since_ms; /* boot time */
    } idle[SESSIONS_MAX]; /* the last is the latest */
    size_t idle_count;
    struct breaker breaker; /* boot time */
};

struct publisher *publisher_create(const struct transport_setting *setting, const struct log *log) {
    struct publisher *publisher = calloc(1, sizeof(*publisher));
    if (publisher == NULL)
        return NULL;
    publisher->setting = setting;
    publisher->log = log != NULL ? *log : (struct log){.level = LOG_LEVEL_OFF};
    pthread_mutex_init(&publisher->lock, NULL);
    return publisher;
}

void publisher_free(struct publisher *publisher) {
    if (publisher == NULL)
        return;
    publisher_drop(publisher);
    pthread_mutex_destroy(&publisher->lock);
    free(publisher);
}

bool publisher_keeps_order(const struct publisher *publisher) {
    return publisher->setting->module->keeps_order;
}

const char *publisher_system(const struct publisher *publisher) {
    const char *name = publisher->setting->module->name;
    return strcmp(name, "amqp") == 0 ? "rabbitmq" : name;
}

int64_t publisher_rest_ms(struct publisher *publisher) {
    pthread_mutex_lock(&publisher->lock);
    int64_t left_ms = publisher->breaker.open_until_ms - clock_boot_ms();
    pthread_mutex_unlock(&publisher->lock);
    return left_ms > 0 ? left_ms : 0;
}

/* After several failures in a row the broker is left alone, for longer each time; the first call after a
 * pause is a test. Only the first failure and each pause are logged, not each message. */
static void note_failure(struct publisher *publisher, const char *reason) {
    const struct transport_setting *setting = publisher->setting;
    const struct breaker_rule rule = {
        setting->breaker_failures,
        {setting->breaker_ms,
         setting->breaker_ms > SETTINGS_BREAKER_MS_MAX ? setting->breaker_ms : SETTINGS_BREAKER_MS_MAX,
         false}};
    pthread_mutex_lock(&publisher->lock);
    int64_t now_ms = clock_boot_ms();
    bool rests = breaker_report(&publisher->breaker, &rule, false, now_ms, 0);
    int failures = publisher->breaker.failures;
    int64_t rest_ms = rests ? publisher->breaker.open_until_ms - now_ms : 0;
    pthread_mutex_unlock(&publisher->lock);
    if (rests || failures == 1)
        log_event(&publisher->log, LOG_LEVEL_WARN, "broker_unavailable",
                  "transport=%s failures=%d rest_ms=%" PRId64 " reason=%s", setting->name, failures, rest_ms,
                  reason);
}

static void note_success(struct publisher *publisher) {
    pthread_mutex_lock(&publisher->lock);
    int failures = publisher->breaker.failures;
    publisher->breaker = (struct breaker){0};
    pthread_mutex_unlock(&publisher->lock);
    if (failures > 0)
        log_event(&publisher->log, LOG_LEVEL_INFO, "broker_back", "transport=%s failures=%d",
                  publisher->setting->name, failures);
}

/* The latest idle session, or NULL. */
static struct transport *session_pop(struct publisher *publisher, int64_t *since_ms) {
    struct transport *session = NULL;
    pthread_mutex_lock(&publisher->lock);
    if (publisher->idle_count > 0) {
        session = publisher->idle[--publisher->idle_count].session;
        *since_ms = publisher->idle[publisher->idle_count].since_ms;
    }
    pthread_mutex_unlock(&publisher->lock);
    return session;
}

/* When a broker goes away, all its sessions are lost: do not try the idle ones first. */
void publisher_drop(struct publisher *publisher) {
    struct transport *session;
    int64_t since_ms;
    while ((session = session_pop(publisher, &since_ms)) != NULL)
        transport_close(publisher->setting->module, session);
}

static struct transport *session_take(struct publisher *publisher) {
    int64_t since_ms = 0;
    struct transport *session = session_pop(publisher, &since_ms);
    if (session == NULL || clock_boot_ms() - since_ms <= IDLE_MS_MAX)
        return session;
    transport_close(publisher->setting->module, session);
    publisher_drop(publisher);
    return NULL;
}

static void session_give(struct publisher *publisher, struct transport *session) {
    pthread_mutex_lock(&publisher->lock);
    bool kept = publisher->idle_count < SESSIONS_MAX;
    if (kept) {
        publisher->idle[publisher->idle_count].session = session;
        publisher->idle[publisher->idle_count++].since_ms = clock_boot_ms();
    }
    pthread_mutex_unlock(&publisher->lock);
    if (!kept)
        transport_close(publisher->setting->module, session);
}

void publisher_publish(struct publisher *publisher, const struct transport_message *messages, size_t count,
                       struct transport_result *results) {
    const struct transport_module *module = publisher->setting->module;
    pawl_error error = {0};
    struct transport *session = session_take(publisher);
    pawl_status status =
        session != NULL ? PAWL_OK : transport_open(module, &publisher->setting->config, &session, &error);
    if (status != PAWL_OK) {
        transport_results_unknown(results, count, error.text);
        note_failure(publisher, error.text);
        return;
    }
    status = module->publish(session, messages, count, results, &error);
    if (status == PAWL_OK) {
        session_give(publisher, session);
        note_success(publisher);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (results[i].fate == FATE_UNAVAILABLE && error.text[0] != '\0')
            transport_result_set(&results[i], FATE_UNAVAILABLE, "%.200s", error.text);
    }
    transport_close(module, session);
    publisher_drop(publisher);
    note_failure(publisher, error.text);
}
