/* A worker for tests: notes every inbox message it handles in a file, and answers those that ask for it.
 * Usage: inbox_worker DATABASE_URL SCHEMA SERVICE TRANSPORTS_FILE EFFECTS_FILE */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pawl.h"

struct job {
    int effects;
    pawl_store_config store;
};

static void print_log(void *self, int level, const char *line) {
    (void)self;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

static pawl_outcome answer(const pawl_message *message, const struct job *job, pawl_result *result) {
    pawl_store *store = NULL;
    pawl_error error;
    pawl_outgoing reply = {.stream = message->stream,
                           .topic = {"reply", 5},
                           .type = {"order.answered", 14},
                           .payload = message->payload,
                           .correlation_id = message->correlation_id,
                           .causation_id = message->id};
    pawl_status status = pawl_open(&job->store, &store, &error);
    if (status == PAWL_OK)
        status = pawl_send(store, NULL, &reply, 1, NULL, &error);
    pawl_close(store);
    if (status == PAWL_OK)
        return PAWL_DONE;
    snprintf(result->error, sizeof(result->error), "%s", error.text);
    return PAWL_RETRY;
}

static pawl_outcome handle(const pawl_message *message, pawl_result *result, void *self) {
    const struct job *job = self;
    char line[1024];
    int len = snprintf(line, sizeof(line), "%.*s\t%.*s\t%.*s\t%lld\t%02x%02x\n", (int)message->type.len,
                       message->type.ptr, (int)message->stream.len,
                       message->stream.ptr != NULL ? message->stream.ptr : "-", (int)message->payload.len,
                       message->payload.ptr, (long long)message->token, message->correlation_id.b[0],
                       message->causation_id.b[0]);
    if (write(job->effects, line, (size_t)len) != len)
        return PAWL_RETRY;
    if (message->type.len == 11 && memcmp(message->type.ptr, "order.asked", 11) == 0)
        return answer(message, job, result);
    return PAWL_DONE;
}

int main(int argc, char **argv) {
    if (argc != 6)
        return 64;
    struct job job = {open(argv[5], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600),
                      {.url = argv[1], .schema = argv[2]}};
    pawl_worker_config config = {.store = job.store,
                                 .service = argv[3],
                                 .lease_ms = 3000,
                                 .instance_lease_ms = 2000,
                                 .heartbeat_ms = 400,
                                 .poll_ms = 100,
                                 .own_process = true,
                                 .on_log = print_log,
                                 .log_level = 1,
                                 .self = &job};
    pawl_worker *worker = NULL;
    pawl_error error;
    pawl_status status = pawl_worker_create(&config, &worker, &error);
    if (status == PAWL_OK)
        status = pawl_worker_on(worker, "order.*", &(pawl_handler){.function = handle, .self = &job}, &error);
    if (status == PAWL_OK)
        status = pawl_worker_transports(worker, argv[4], &error);
    if (status == PAWL_OK)
        status = pawl_worker_run(worker, NULL, &error);
    if (status != PAWL_OK)
        fprintf(stderr, "inbox_worker: %s\n", error.text);
    pawl_worker_free(worker);
    return status == PAWL_OK ? 0 : 1;
}
