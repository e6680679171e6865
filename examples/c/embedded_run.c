/* A program that fetches the pages of a run with a function of its own. */

/*
 *   embedded_run [URL]      URL: an SQLite file (default embedded_run.db) or postgres://…
 *
 * It counts: the run is split into four ranges of numbers, a C function makes the pages, another one is told
 * when all are there. The run can be killed at any moment and started again: its key makes it the same one.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pawl_run.h>

enum { NUMBERS = 1000 };

static const char document[] =
    "name: count\n"
    "partitions: {range: {from: 0, to: 1000, parts: 4}}\n"
    "page:\n"
    "  uses: count.page\n"
    "  with: {from: \"${item.from}\", to: \"${item.to}\", after: \"${run.offset}\"}\n"
    "  by: offset\n"
    "  end: short\n"
    "consolidate: {uses: count.end, with: {items: \"${run.items}\"}}\n";

struct count {
    pawl_worker *worker;
    pawl_store *store;
    atomic_int pages, ends, items;
};

static pawl_str text(const char *chars) { return (pawl_str){chars, strlen(chars)}; }

/* {"from":250,"to":500,"after":30} → {"items":[{"key":280}, …]} */
static pawl_status fetch(const pawl_tool_call *call, void *self, pawl_error *err) {
    struct count *count = self;
    int from = 0, to = 0, after = 0;
    char arguments[128], answer[2048] = "{\"items\":[";
    snprintf(arguments, sizeof(arguments), "%.*s", (int)call->arguments.len, call->arguments.ptr);
    if (sscanf(arguments, "{\"from\":%d,\"to\":%d,\"after\":%d", &from, &to, &after) != 3) {
        snprintf(err->text, sizeof(err->text), "these are not my arguments: %s", arguments);
        return PAWL_INVALID;
    }
    for (int i = from + after; i < from + after + 30 && i < to; i++)
        snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), "%s{\"key\":%d}",
                 i > from + after ? "," : "", i);
    snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), "]}");
    atomic_fetch_add(&count->pages, 1);
    pawl_tool_answer(call, text(answer));
    return PAWL_OK;
}

static pawl_status note_end(const pawl_tool_call *call, void *self, pawl_error *err) {
    struct count *count = self;
    int items = 0;
    (void)err;
    if (sscanf(call->arguments.ptr, "{\"items\":%d", &items) == 1)
        atomic_store(&count->items, items);
    atomic_fetch_add(&count->ends, 1);
    return PAWL_OK;
}

static void tick(void *self, const pawl_metrics *metrics) {
    struct count *count = self;
    pawl_run_status now;
    (void)metrics;
    if (pawl_run_show(count->store, 0, text("count-once"), &now, NULL) == PAWL_OK && now.ended_ms > 0)
        pawl_worker_stop(count->worker);
}

static pawl_status work(struct count *count, const pawl_store_config *store, pawl_error *error) {
    pawl_worker_config config = {
        .store = *store, .jobs = true, .poll_ms = 50, .on_tick = tick, .self = count};
    pawl_run_config run = {.document = text(document), .yaml = true, .key = text("count-once")};
    pawl_run_started first, second;
    bool forced = false;
    pawl_status status = pawl_run_start(count->store, &run, &first, error);
    if (status == PAWL_OK)
        status = pawl_run_start(count->store, &run, &second, error);
    if (status == PAWL_OK && (!second.again || second.run != first.run))
        return PAWL_INTERNAL;
    if (status == PAWL_OK)
        status = pawl_worker_create(&config, &count->worker, error);
    if (status == PAWL_OK)
        status = pawl_worker_tool(count->worker, "count.page", fetch, count, error);
    if (status == PAWL_OK)
        status = pawl_worker_tool(count->worker, "count.end", note_end, count, error);
    if (status == PAWL_OK)
        status = pawl_worker_run(count->worker, &forced, error);
    pawl_worker_free(count->worker);
    return status;
}

int main(int argc, char **argv) {
    pawl_store_config store = {.url = argc > 1 ? argv[1] : "embedded_run.db",
                               .schema = getenv("PAWL_SCHEMA")};
    pawl_error error = {.text = ""};
    struct count count = {.worker = NULL};
    pawl_run_status end = {0};
    pawl_status status = pawl_migrate(&store, &error);
    if (status == PAWL_OK)
        status = pawl_open(&store, &count.store, &error);
    if (status == PAWL_OK)
        status = work(&count, &store, &error);
    if (status == PAWL_OK)
        status = pawl_run_show(count.store, 0, text("count-once"), &end, &error);
    bool refused = status == PAWL_OK &&
                   pawl_run_change(count.store, end.run, PAWL_RUN_PAUSE, NULL) == PAWL_CONFLICT;
    pawl_close(count.store);
    if (status != PAWL_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%lld items in %d pages, %d consolidation told of %d\n", (long long)end.items,
           atomic_load(&count.pages), atomic_load(&count.ends), atomic_load(&count.items));
    bool good = end.state == PAWL_RUN_COMPLETED && end.items == NUMBERS && end.permille == 1000 && refused &&
                atomic_load(&count.ends) == 1 && atomic_load(&count.items) == NUMBERS;
    return good ? 0 : 1;
}
