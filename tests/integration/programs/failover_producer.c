/* A producer for the failover proof: sends messages, enqueues jobs and appends events for as long as it may,
 * and writes what it was told to a log that pawl does not write: "status kind name number ms".
 *
 * One thread per kind. A number is passed on until the store says that it was accepted: after `unknown` under
 * the same key, after anything else ("nothing happened") under a new one, so an answer that was wrong leaves
 * a double. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pawl_events.h"
#include "pawl_jobs.h"

enum { NAMES = 20, PAUSE_US = 2000, TIMEOUT_MS = 2000 };

static atomic_bool stopping;

struct producer {
    const char *url;
    int log;
    const char *kind;
    pawl_status (*offer)(pawl_store *store, const char *name, long number, pawl_uuid key, pawl_error *err);
};

static void note(const struct producer *self, const char *what, const char *name, long number) {
    char line[600];
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    int len = snprintf(line, sizeof(line), "%s %s %s %ld %lld\n", what, self->kind, name, number,
                       (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    if (write(self->log, line, (size_t)len) != len)
        abort(); /* a log with holes proves nothing */
}

static pawl_status offer_message(pawl_store *store, const char *name, long number, pawl_uuid key,
                                 pawl_error *err) {
    char payload[32];
    snprintf(payload, sizeof(payload), "{\"n\": %ld}", number);
    pawl_outgoing message = {
        .type = pawl_text("effect"), .stream = pawl_text(name), .payload = pawl_text(payload)};
    return pawl_send(store, &(pawl_send_config){.request = key}, &message, 1, NULL, err);
}

static pawl_status offer_job(pawl_store *store, const char *name, long number, pawl_uuid key,
                             pawl_error *err) {
    char payload[64];
    snprintf(payload, sizeof(payload), "{\"n\": %ld, \"name\": \"%s\"}", number, name);
    pawl_job job = {.type = pawl_text("effect"), .payload = pawl_text(payload)};
    return pawl_enqueue(store, &job, 1, key, NULL, err);
}

/* The version that the stream must have makes a double append a conflict. */
static pawl_status offer_event(pawl_store *store, const char *name, long number, pawl_uuid key,
                               pawl_error *err) {
    char payload[32];
    snprintf(payload, sizeof(payload), "{\"n\": %ld}", number);
    pawl_event event = {.id = key, .type = pawl_text("effect"), .payload = pawl_text(payload)};
    pawl_appended appended;
    return pawl_append(store, pawl_text(name), number - 1, &event, 1, &appended, err);
}

/* Offers one number until it was accepted, or the producer must stop. */
static void pass_on(struct producer *self, pawl_store *store, const char *name, long number) {
    pawl_uuid key = {0};
    pawl_error error = {0};
    bool unknown = false; /* of this key: until it is accepted, an answer that nothing happened is only about
                             that call */
    while (!stopping) {
        if (!unknown && pawl_uuid_new(&key, &error) != PAWL_OK)
            abort();
        pawl_status status = self->offer(store, name, number, key, &error);
        if (status == PAWL_OK) {
            note(self, "ack", name, number);
            return;
        }
        bool nothing = status == PAWL_UNAVAILABLE || status == PAWL_BUSY;
        unknown = unknown || status == PAWL_UNKNOWN;
        note(self, status == PAWL_UNKNOWN ? "unknown" : nothing ? "nothing" : "wrong", name, number);
        if (status != PAWL_UNKNOWN && !nothing)
            fprintf(stderr, "%s %s %ld: status %d: %s\n", self->kind, name, number, (int)status, error.text);
        usleep(10000);
    }
    note(self, unknown ? "left" : "open", name, number); /* left: what became of it is not known */
}

static void *produce(void *context) {
    struct producer *self = context;
    pawl_store_config config = {.url = self->url,
                                .schema = getenv("PAWL_SCHEMA"),
                                .connect_timeout_ms = TIMEOUT_MS,
                                .statement_timeout_ms = TIMEOUT_MS};
    pawl_store *store = NULL;
    pawl_error error;
    while (pawl_open(&config, &store, &error) != PAWL_OK && !stopping)
        usleep(10000);
    for (long number = 1; !stopping; number++)
        for (int i = 0; i < NAMES && !stopping; i++) {
            char name[16];
            snprintf(name, sizeof(name), "%c%d", self->kind[0], i);
            pass_on(self, store, name, number);
            usleep(PAUSE_US);
        }
    pawl_close(store);
    return NULL;
}

static void stop(int signal) {
    (void)signal;
    stopping = true;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: failover_producer URL LOG\n");
        return 64;
    }
    int log = open(argv[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (log < 0) {
        perror(argv[2]);
        return 66;
    }
    signal(SIGTERM, stop);
    struct producer producers[] = {{argv[1], log, "messages", offer_message},
                                   {argv[1], log, "jobs", offer_job},
                                   {argv[1], log, "events", offer_event}};
    enum { KINDS = sizeof producers / sizeof producers[0] };
    pthread_t threads[KINDS];
    for (int i = 0; i < KINDS; i++)
        if (pthread_create(&threads[i], NULL, produce, &producers[i]) != 0)
            return 71;
    for (int i = 0; i < KINDS; i++)
        pthread_join(threads[i], NULL);
    close(log);
    return 0;
}
