/* The readable trace of a world: one line per happening, with words for its numbers. */
#include "sim/world/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/types.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* How one number of a line is shown: plainly, as a token, or as a word of a list that starts at 0. */
struct column {
    const char *label;
    bool token;
    const char *const *words;
};

struct row {
    const char *what;
    struct column columns[3];
};

#define REQUESTS                                                                                             \
    WORDS("ready", "register", "beat", "look", "batch", "claim", "report", "deregister", "wait begin",       \
          "wait end", "put", "call")
#define ANSWERS WORDS("-", "applied", "duplicate", "stale", "conflict", "invalid", "not found")
#define LOGS                                                                                                 \
    WORDS("state", "start skipped", "not ready", "paused", "ready again", "registered", "register failed",   \
          "batch", "batch failed", "beat failed", "evicted", "fenced", "stale", "order conflict",            \
          "no handler", "dead", "timeout", "cancelled", "peer evicted", "settled", "epoch", "refused",       \
          "stopping", "stopped")

static void print_number(const struct column *column, int64_t number) {
    if (column->label == NULL)
        return;
    if (column->token) {
        printf(" %s=%" PRId64 ":%" PRId64, column->label, number >> 40, number & ((INT64_C(1) << 40) - 1));
        return;
    }
    for (int64_t i = 0; column->words != NULL && column->words[i] != NULL; i++) {
        if (i == number) {
            printf(" %s=%s", column->label, column->words[i]);
            return;
        }
    }
    printf(" %s=%" PRId64, column->label, number);
}

void trace_print(int64_t now_ms, const char *what, const int64_t numbers[static 3]) {
    const struct row rows[] = {
        {"send",
         {{"worker", false, NULL},
          {"request", false, REQUESTS},
          {"fate", false, WORDS("fine", "lost", "reply lost", "ghost")}}},
        {"execute", {{"worker", false, NULL}, {"request", false, REQUESTS}, {"status", false, NULL}}},
        {"reply", {{"worker", false, NULL}, {"request", false, REQUESTS}, {"status", false, NULL}}},
        {"grant", {{"instance", false, NULL}, {"message", false, NULL}, {"token", true, NULL}}},
        {"complete", {{"message", false, NULL}, {"token", true, NULL}, {"answer", false, ANSWERS}}},
        {"fail", {{"message", false, NULL}, {"token", true, NULL}, {"answer", false, ANSWERS}}},
        {"release", {{"message", false, NULL}, {"token", true, NULL}, {"answer", false, ANSWERS}}},
        {"renew", {{"instance", false, NULL}, {"token", true, NULL}, {"answer", false, ANSWERS}}},
        {"begins", {{"worker", false, NULL}, {"message", false, NULL}, {"token", true, NULL}}},
        {"ended",
         {{"worker", false, NULL},
          {"message", false, NULL},
          {"outcome", false, WORDS("not run", "done", "retry", "permanent", "cancelled")}}},
        {"cancel",
         {{"worker", false, NULL},
          {"slot", false, NULL},
          {"reason", false, WORDS("-", "timeout", "fence", "stop")}}},
        {"message",
         {{"message", false, NULL},
          {"stream", false, NULL},
          {"nature", false,
           WORDS("normal", "flaky", "failing", "permanent", "poison", "slow", "hung once")}}},
        {"log", {{"worker", false, NULL}, {"event", false, LOGS}, {"number", false, NULL}}},
        {"start", {{"worker", false, NULL}, {"life", false, NULL}, {"clock_ppm", false, NULL}}},
        {"killed", {{"worker", false, NULL}, {"life", false, NULL}}},
        {"paused", {{"worker", false, NULL}, {"for_ms", false, NULL}}},
        {"stop", {{"worker", false, NULL}}},
        {"stop now", {{"worker", false, NULL}}},
        {"exit", {{"worker", false, NULL}, {"forced", false, NULL}, {"status", false, NULL}}},
        {"evict", {{"worker", false, NULL}, {"instance", false, NULL}}},
        {"redrive", {{"message", false, NULL}, {"answer", false, ANSWERS}}},
        {"discard", {{"message", false, NULL}, {"answer", false, ANSWERS}}},
        {"repaired", {{"message", false, NULL}}},
        {"store down", {{"until_ms", false, NULL}}},
        {"epoch", {{"epoch", false, NULL}}},
        {"maintain", {{"claims_expired", false, NULL}}},
        {"drained", {{"after_ms", false, NULL}}},
        {"enqueue", {{"job", false, NULL}, {"answer", false, ANSWERS}, {"key", false, NULL}}},
        {"job grant", {{"instance", false, NULL}, {"job", false, NULL}, {"token", true, NULL}}},
        {"job report",
         {{"job", false, NULL},
          {"outcome", false, WORDS("-", "complete", "fail", "snooze", "release", "wait")},
          {"answer", false, ANSWERS}}},
        {"job renew", {{"job", false, NULL}, {"token", true, NULL}, {"answer", false, ANSWERS}}},
        {"job begins", {{"worker", false, NULL}, {"job", false, NULL}, {"token", true, NULL}}},
        {"job ended", {{"job", false, NULL}, {"end", false, NULL}}},
        {"job cancel", {{"worker", false, NULL}, {"slot", false, NULL}, {"reason", false, NULL}}},
        {"job cancelled", {{"job", false, NULL}, {"answer", false, ANSWERS}}},
        {"job redrive", {{"job", false, NULL}, {"discard", false, NULL}, {"answer", false, ANSWERS}}},
        {"signal", {{"signal", false, NULL}, {"woken", false, NULL}, {"kept", false, NULL}}},
    };
    printf("%8" PRId64 " %-10s", now_ms, what);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (strcmp(rows[i].what, what) != 0)
            continue;
        for (int j = 0; j < 3; j++)
            print_number(&rows[i].columns[j], numbers[j]);
        printf("\n");
        return;
    }
    printf(" %" PRId64 " %" PRId64 " %" PRId64 "\n", numbers[0], numbers[1], numbers[2]);
}
