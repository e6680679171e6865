/* A worker for tests whose handler leaves a mark that the engine does not write: "name number token pid ms"
 * per message (its name is its stream), job (its id), page (its partition) or event of a perspective (its
 * stream). EFFECT_KIND says which of them it handles: messages (the default), jobs, pages or perspectives. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pawl_events.h"
#include "pawl_run.h"

struct effect {
    int fd;
    long handler_us;
    pawl_worker *worker;
};

static long env_number(const char *name, long fallback) {
    const char *text = getenv(name);
    return text != NULL ? atol(text) : fallback;
}

/* The payload has the number of the item that its sender gave it: {"n": 17}. */
static long number_of(pawl_str payload) {
    const char *at = memmem(payload.ptr, payload.len, "\"n\":", 4);
    return at != NULL ? atol(at + 4) : -1;
}

/* Works for as long as it was told to. */
static void work(const struct effect *effect) {
    if (effect->handler_us > 0)
        nanosleep(&(struct timespec){effect->handler_us / 1000000, effect->handler_us % 1000000 * 1000},
                  NULL);
}

static bool leave_mark(const struct effect *effect, pawl_str name, pawl_str payload, int64_t token) {
    char line[320];
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    int len = snprintf(line, sizeof(line), "%.*s %ld %lld %d %lld\n", (int)name.len, name.ptr,
                       number_of(payload), (long long)token, (int)getpid(),
                       (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    /* One write of O_APPEND: whole lines, in the order in which they happened. */
    return write(effect->fd, line, (size_t)len) == len;
}

static pawl_outcome handle(const pawl_message *message, pawl_result *result, void *self) {
    char id[32];
    pawl_str name = message->stream;
    if (name.len == 0) {
        int len = snprintf(id, sizeof(id), "%lld", (long long)message->seq);
        name = (pawl_str){id, (size_t)len};
    }
    work(self);
    if (leave_mark(self, name, message->payload, message->token))
        return PAWL_DONE;
    snprintf(result->error, sizeof(result->error), "the effect log cannot be written");
    return PAWL_RETRY;
}

/* The arguments of a page: {"n":17,"partition":"p3"}. It has no items, and its partition ends with it. */
static pawl_status fetch_page(const pawl_tool_call *call, void *self, pawl_error *err) {
    static const char empty[] = "{\"items\":[],\"end\":true}";
    work(self);
    const char *name = memmem(call->arguments.ptr, call->arguments.len, "\"partition\":\"", 13);
    if (name == NULL ||
        !leave_mark(self, (pawl_str){name + 13, strcspn(name + 13, "\"")}, call->arguments, 0)) {
        snprintf(err->text, sizeof(err->text), "no partition, or the effect log cannot be written");
        return PAWL_UNAVAILABLE;
    }
    pawl_tool_answer(call, (pawl_str){empty, sizeof(empty) - 1});
    return PAWL_OK;
}

/* Marks first: the transaction that a kill undoes is then seen to have begun. */
static pawl_status apply(const pawl_perspective_call *call, void *self, pawl_error *err) {
    for (size_t i = 0; i < call->count; i++) {
        if (!leave_mark(self, call->events[i].stream, call->events[i].payload, 0)) {
            snprintf(err->text, sizeof(err->text), "the effect log cannot be written");
            return PAWL_UNAVAILABLE;
        }
        work(self);
    }
    return PAWL_OK;
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
    const char *kind = getenv("EFFECT_KIND");
    bool perspectives = kind != NULL && strcmp(kind, "perspectives") == 0;
    bool jobs = kind != NULL && (strcmp(kind, "jobs") == 0 || strcmp(kind, "pages") == 0);
    pawl_worker_config config = {
        .store = {.url = argv[1],
                  .schema = getenv("PAWL_SCHEMA"),
                  .durability_normal = true,
                  .statement_timeout_ms = (int)env_number("EFFECT_STATEMENT_MS", 0)},
        .outbox = !jobs && !perspectives,
        .jobs = jobs,
        .queue = getenv("EFFECT_QUEUE"),
        .perspectives = perspectives,
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
    if (status == PAWL_OK && jobs)
        status = pawl_worker_tool(effect.worker, "effect.page", fetch_page, &effect, &error);
    if (status == PAWL_OK && perspectives)
        status = pawl_worker_perspective(effect.worker, "effect", 0, apply, &effect, &error);
    if (status == PAWL_OK)
        status = pawl_worker_run(effect.worker, &forced, &error);
    if (status != PAWL_OK)
        fprintf(stderr, "effect_worker: %s\n", error.text);
    pawl_worker_free(effect.worker);
    close(effect.fd);
    return status == PAWL_OK ? forced ? 75 : 0 : 1;
}
