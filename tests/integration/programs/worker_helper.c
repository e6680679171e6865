/* A worker in single steps, for tests of the program: registers, claims, completes and fails through the
 * seam.
 *
 *   worker_helper URL SCHEMA register KINDS LEASE_MS          prints the instance's id
 *   worker_helper URL SCHEMA beat INSTANCE
 *   worker_helper URL SCHEMA claim INSTANCE KIND MAX LEASE_MS prints "TOKEN ID" per message
 *   worker_helper URL SCHEMA claim_jobs INSTANCE MAX LEASE_MS prints "TOKEN ID" per job
 *   worker_helper URL SCHEMA complete INSTANCE KIND TOKEN ID  prints the answer's number
 *   worker_helper URL SCHEMA send TRACEPARENT traced|plain    a message, a job and an event through the
 * public API; prints whether they are traced worker_helper URL SCHEMA fail INSTANCE KIND TOKEN ID
 * retry|permanent ERROR
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/workstatus.h"
#include "pawl_events.h"
#include "pawl_jobs.h"
#include "store/store.h"

struct step {
    struct store *store;
    struct arena *arena;
    pawl_store_config config;
    int argc;
    char **argv; /* behind the name of the step */
};

static pawl_uuid uuid_of(const char *text) {
    pawl_uuid id;
    if (!uuid_parse(str_from(text), &id)) {
        fprintf(stderr, "worker_helper: %s is not a UUID\n", text);
        exit(64);
    }
    return id;
}

static pawl_status step_register(struct step *step, pawl_error *err) {
    struct instance_new in = {.service = STR("test"),
                              .host = STR("host"),
                              .pid = (int)getpid(),
                              .kinds = atoi(step->argv[0]),
                              .lease_ms = atoll(step->argv[1])};
    struct instance_grant grant;
    char text[UUID_TEXT_BYTES];
    pawl_status status = uuid_next(&in.id, err);
    if (status == PAWL_OK)
        status = step->store->ops->core.instance_register(step->store, &in, &grant, err);
    if (status == PAWL_OK)
        printf("%s\n", uuid_format(in.id, text));
    return status;
}

static pawl_status step_beat(struct step *step, pawl_error *err) {
    struct beat_result beat;
    return step->store->ops->core.heartbeat(step->store, uuid_of(step->argv[0]), -1, &beat, err);
}

static pawl_status step_claim(struct step *step, pawl_error *err) {
    struct messages_claim in = {.instance = uuid_of(step->argv[0]),
                                .kind = (enum store_kind)atoi(step->argv[1]),
                                .max = atoi(step->argv[2]),
                                .lease_ms = atoll(step->argv[3])};
    struct item_list items;
    pawl_status status = step->store->ops->core.messages_claim(step->store, &in, step->arena, &items, err);
    for (size_t i = 0; status == PAWL_OK && i < items.count; i++) {
        char text[UUID_TEXT_BYTES];
        printf("%" PRId64 " %s\n", items.items[i].token, uuid_format(items.items[i].id, text));
    }
    return status;
}

static pawl_status step_claim_jobs(struct step *step, pawl_error *err) {
    struct jobs_claim in = {
        .instance = uuid_of(step->argv[0]), .max = atoi(step->argv[1]), .lease_ms = atoll(step->argv[2])};
    struct job_list jobs;
    pawl_status status = step->store->ops->jobs->claim(step->store, &in, step->arena, &jobs, err);
    for (size_t i = 0; status == PAWL_OK && i < jobs.count; i++)
        printf("%" PRId64 " %" PRId64 "\n", jobs.jobs[i].token, jobs.jobs[i].id);
    return status;
}

static pawl_status step_complete(struct step *step, pawl_error *err) {
    struct complete_item item = {.ref = {atoll(step->argv[2]), uuid_of(step->argv[3])},
                                 .status = WORK_COMPLETED};
    struct messages_complete in = {.instance = uuid_of(step->argv[0]),
                                   .kind = (enum store_kind)atoi(step->argv[1]),
                                   .items = &item,
                                   .count = 1};
    struct answer_list answers;
    pawl_status status =
        step->store->ops->core.messages_complete(step->store, &in, step->arena, &answers, err);
    if (status == PAWL_OK)
        printf("%d\n", (int)answers.answers[0]);
    return status;
}

static pawl_status step_fail(struct step *step, pawl_error *err) {
    struct fail_item item = {.ref = {atoll(step->argv[2]), uuid_of(step->argv[3])},
                             .error = str_from(step->argv[5]),
                             .error_class = strcmp(step->argv[4], "permanent") == 0 ? CLASS_PERMANENT
                                                                                    : CLASS_RETRYABLE,
                             .delay_ms = 3600000};
    struct messages_fail in = {.instance = uuid_of(step->argv[0]),
                               .kind = (enum store_kind)atoi(step->argv[1]),
                               .items = &item,
                               .count = 1};
    struct answer_list answers;
    pawl_status status = step->store->ops->core.messages_fail(step->store, &in, step->arena, &answers, err);
    if (status == PAWL_OK)
        printf("%d\n", (int)answers.answers[0]);
    return status;
}

static void show_log(void *self, int level, const char *line) {
    (void)self;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

static pawl_status step_send(struct step *step, pawl_error *err) {
    pawl_store *store = NULL;
    bool on = false;
    pawl_str traceparent = str_from(step->argv[0]);
    pawl_outgoing message = {.type = STR("c.sent"), .payload = STR("{}"), .traceparent = traceparent};
    pawl_job job = {
        .type = STR("c.job"), .queue = STR("c"), .payload = STR("{}"), .traceparent = traceparent};
    pawl_event event = {.type = STR("c.appended"), .payload = STR("{}"), .traceparent = traceparent};
    pawl_trace_config trace = {.service = "helper", .on_log = show_log};
    pawl_status status = pawl_open(&step->config, &store, err);
    if (status == PAWL_OK && strcmp(step->argv[1], "traced") == 0)
        status = pawl_trace(store, &trace, &on, err);
    if (status == PAWL_OK)
        status = pawl_send(store, NULL, &message, 1, NULL, err);
    if (status == PAWL_OK)
        status = pawl_enqueue(store, &job, 1, uuid_nil(), NULL, err);
    if (status == PAWL_OK)
        status = pawl_append(store, STR("c/1"), PAWL_ANY_VERSION, &event, 1, NULL, err);
    if (status == PAWL_OK)
        printf("%s\n", on ? "traced" : "plain");
    if (status == PAWL_OK && on && pawl_trace(store, &trace, &on, err) != PAWL_CONFLICT)
        status = error_set(err, PAWL_INTERNAL, "send", "a handle was traced twice");
    pawl_close(store);
    return status;
}

static const struct {
    const char *name;
    int words;
    pawl_status (*run)(struct step *step, pawl_error *err);
} steps[] = {{"claim_jobs", 3, step_claim_jobs},
             {"register", 2, step_register},
             {"beat", 1, step_beat},
             {"claim", 4, step_claim},
             {"complete", 4, step_complete},
             {"fail", 6, step_fail},
             {"send", 2, step_send}};

int main(int argc, char **argv) {
    size_t at = 0;
    size_t count = sizeof steps / sizeof steps[0];
    while (argc > 3 && at < count && strcmp(argv[3], steps[at].name) != 0)
        at++;
    if (argc < 4 || at == count || argc - 4 != steps[at].words) {
        fprintf(stderr,
                "worker_helper: URL SCHEMA register|beat|claim|claim_jobs|complete|fail|send WORD...\n");
        return 64;
    }
    struct step step = {.arena = arena_create(0),
                        .config = {.url = argv[1], .schema = argv[2]},
                        .argc = argc - 4,
                        .argv = argv + 4};
    struct store_config config = {.url = argv[1], .schema = argv[2]};
    pawl_error err = {.status = PAWL_OK};
    pawl_status status = PAWL_NO_MEMORY;
    if (step.arena != NULL)
        status = store_open(&config, &step.store, &err);
    if (status == PAWL_OK)
        status = steps[at].run(&step, &err);
    if (status != PAWL_OK)
        fprintf(stderr, "worker_helper: %s: %s: %s\n", argv[3], pawl_status_name(status), err.text);
    store_close(step.store);
    arena_free(step.arena);
    return error_exit_code(status);
}
