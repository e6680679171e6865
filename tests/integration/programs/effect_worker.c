/* A worker for tests whose handler leaves a mark that the engine does not write: "name number token pid ms"
 * per message (its name is its stream) or job (its name is its id). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pawl.h"

struct effect {
    int fd;
    long handler_us;
    pawl_worker *worker;
};

static long env_number(const char *name, long fallback) {
    const char *text = getenv(name);
    return text != NULL ? atol(text) : fallback;
}

/* The payload is {"n": 17}: the number of the message in its stream, given by its sender. */
static long number_of(const pawl_message *message) {
    const char *at = memchr(message->payload.ptr, ':', message->payload.len);
    return at != NULL ? atol(at + 1) : -1;
}

static pawl_outcome handle(const pawl_message *message, pawl_result *result, void *self) {
    const struct effect *effect = self;
    char line[320], id[32];
    int id_len = snprintf(id, sizeof(id), "%lld", (long long)message->seq);
    bool job = message->stream.len == 0;
    if (effect->handler_us > 0)
        nanosleep(&(struct timespec){effect->handler_us / 1000000, effect->handler_us % 1000000 * 1000},
                  NULL);
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    int len = snprintf(line, sizeof(line), "%.*s %ld %lld %d %lld\n", job ? id_len : (int)message->stream.len,
                       job ? id : message->stream.ptr, number_of(message), (long long)message->token,
                       (int)getpid(), (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    /* One write of O_APPEND: whole lines, in the order in which they happened. */
    if (write(effect->fd, line, (size_t)len) != len) {
        snprintf(result->error, sizeof(result->error), "the effect log cannot be written");
        return PAWL_RETRY;
    }
    return PAWL_DONE;
}

static void print_log(void *self, int level, const char *line) {
    (void)self;
    (void)level;
    fprintf(stderr, "%d %s\n", (int)getpid(), line);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: effect_worker URL EFFECT-LOG\n");
        return 64;
    }
    struct effect effect = {.handler_us = env_number("EFFECT_US", 1000)};
    effect.fd = open(argv[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (effect.fd < 0) {
        perror(argv[2]);
        return 66;
    }
    pawl_worker_config config = {
        .store = {.url = argv[1], .schema = getenv("PAWL_SCHEMA"), .durability_normal = true},
        .outbox = env_number("EFFECT_JOBS", 0) == 0,
        .jobs = env_number("EFFECT_JOBS", 0) != 0,
        .concurrency = (int)env_number("EFFECT_CONCURRENCY", 4),
        .batch = (int)env_number("EFFECT_BATCH", 100),
        .lease_ms = env_number("EFFECT_LEASE_MS", 1500),
        .instance_lease_ms = env_number("EFFECT_INSTANCE_LEASE_MS", 1500),
        .heartbeat_ms = env_number("EFFECT_HEARTBEAT_MS", 300),
        .poll_ms = env_number("EFFECT_POLL_MS", 50),
        .max_attempts = (int)env_number("EFFECT_MAX_ATTEMPTS", 1000),
        .own_process = true,
        .on_log = print_log,
        .log_level = (int)env_number("EFFECT_LOG_LEVEL", 2),
        .self = &effect,
    };
    pawl_error error;
    bool forced = false;
    pawl_status status = pawl_worker_create(&config, &effect.worker, &error);
    if (status == PAWL_OK)
        status =
            pawl_worker_on(effect.worker, "*", &(pawl_handler){.function = handle, .self = &effect}, &error);
    if (status == PAWL_OK)
        status = pawl_worker_run(effect.worker, &forced, &error);
    if (status != PAWL_OK)
        fprintf(stderr, "effect_worker: %s\n", error.text);
    pawl_worker_free(effect.worker);
    close(effect.fd);
    return status == PAWL_OK ? forced ? 75 : 0 : 1;
}
