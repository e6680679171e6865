/* The sweep of one store: which point fails next, and the verdict on every try. */
#include "sweep/sweep.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "conformance/differential/side.h"
#include "support/check.h"
#include "sweep/state.h"

#include "swept_operations.h" /* made by wrap.py */

enum {
    TRIES_MAX = 40,      /* of one call; the next call of the operation goes on from there */
    ROUNDS_EVERY = 3,    /* an operation whose points have all failed this often … */
    RECOVERY_MS = 12000, /* a silent server: 3 s, 2 s to ask it beside, a second try; and a busy machine */
    REST_EVERY = 8       /* … is swept in one of so many calls */
};

/* What has been done to one operation. */
struct stat {
    long calls, next, points, rounds, tries;
};

static struct {
    const struct sweep_way *way;
    struct store store; /* what the test is given */
    struct store *real;
    struct store_ops ops;
    struct store_config config;
    struct state *state;
    struct buf *said; /* what the test has said of this side */
    struct stat stats[SWEPT_OPERATIONS];
    long tries, unknown, happened, asked_again, survived, violations;
    long keys, tries_max; /* PAWL_SWEEP_FAULTS: so many, then everything is clean */
    int64_t recovery_ms;  /* the longest call with a fault */
} sweep;

struct store *sweep_real(struct store *store) {
    (void)store;
    return sweep.real;
}

void sweep_give_key(pawl_uuid *request) {
    pawl_error err;
    if (sweep.keys++ % 2 == 0 && uuid_is_nil(*request) && pawl_uuid_new(request, &err) != PAWL_OK)
        fail_msg("%s", err.text);
}

static void violation(const struct sweep_call *call, const char *what, const pawl_error *err) {
    sweep.violations++;
    printf("# VIOLATION %s of %s, point %ld: %s%s%s\n", swept_names[call->operation], sweep.way->name,
           call->nth, what, err != NULL ? ": " : "", err != NULL ? err->text : "");
    (void)fflush(stdout);
}

/* The whole state in words, to compare one outcome with another: rows that a clock, a random number or a
 * sequence has a part in are only counted. */
static char *state_words(const struct sweep_call *call) {
    pawl_error err = {0};
    struct buf dump;
    struct violations broken = {NULL, 0};
    struct arena *arena = arena_create(0);
    buf_init(&dump, 0);
    if (sweep.real->ops->view.dump(sweep.real, &dump, &err) != PAWL_OK ||
        sweep.real->ops->view.check(sweep.real, arena, &broken, &err) != PAWL_OK)
        violation(call, "the state cannot be read", &err);
    if (broken.count > 0)
        violation(call, "an invariant is violated", NULL);
    char *counts = state_counts(sweep.state), *words = NULL;
    assert_true(asprintf(&words, "%s\n%s", dump.ptr, counts) > 0);
    free(counts);
    buf_free(&dump);
    arena_free(arena);
    return words;
}

void sweep_begin(struct sweep_call *call, int operation, bool keyed) {
    struct stat *stat = &sweep.stats[operation];
    *call = (struct sweep_call){
        .operation = operation, .keyed = keyed, .nth = stat->next, .said = sweep.said->len};
    stat->calls++;
    if (sweep.tries >= sweep.tries_max || (stat->rounds >= ROUNDS_EVERY && stat->calls % REST_EVERY != 0)) {
        call->phase = SWEEP_LAST;
        return;
    }
    state_save(sweep.state);
}

static void child_opens(const struct sweep_call *call) {
    pawl_error err = {0};
    if (store_open(&sweep.config, &sweep.real, &err) != PAWL_OK)
        _exit(2);
    sweep.way->arm(call->nth);
}

enum sweep_place sweep_split(struct sweep_call *call) {
    sweep.said->failed = false; /* a dump is written into it */
    if (sweep.said->len > call->said)
        sweep.said->ptr[sweep.said->len = call->said] = '\0';
    if (call->phase != SWEEP_TRY)
        return SWEEP_HERE;
    if (!sweep.way->kills) {
        call->began_ms = clock_boot_ms();
        sweep.way->arm(call->nth);
        return SWEEP_HERE;
    }
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        child_opens(call);
        return SWEEP_CHILD;
    }
    int how = 0;
    if (child < 0 || waitpid(child, &how, 0) != child || (WIFEXITED(how) && WEXITSTATUS(how) != 0))
        fail_msg("the child of %s could not begin", swept_names[call->operation]);
    call->ended = !WIFSIGNALED(how);
    return SWEEP_PARENT;
}

void sweep_exit(struct sweep_call *call, pawl_status status) {
    (void)call, (void)status;
    _exit(0);
}

/* A try in which the point failed: what it may have said, and what it may have left. */
static void judge(struct sweep_call *call, pawl_status status, const pawl_error *err) {
    bool same = state_same(sweep.state);
    bool answer_lost = status == PAWL_NO_MEMORY && strcmp(sweep.real->dialect, "postgres") == 0;
    if (status == PAWL_UNKNOWN || answer_lost) {
        sweep.unknown++;
        if (same)
            return;
        sweep.happened++;
        free(call->happened);
        call->happened = state_words(call);
        call->phase = call->keyed ? SWEEP_ASK_AGAIN : SWEEP_TRY;
        if (!call->keyed)
            state_restore(sweep.state);
        return;
    }
    if (!same) {
        violation(call, "it failed, and has changed something", err);
        state_restore(sweep.state);
    }
    if ((sweep.way->statuses & 1U << status) == 0) {
        if (call->claimed != PAWL_OK && call->claimed != status)
            violation(call, "two failures disagree", err);
        call->claimed = status;
        snprintf(call->claimed_text, sizeof call->claimed_text, "%s: %.150s", pawl_status_name(status),
                 err->text);
    }
}

/* After an unknown outcome that had happened, with its key: the same answer, and nothing more happens. */
static void judge_again(struct sweep_call *call, pawl_status status, const pawl_error *err) {
    sweep.asked_again++;
    if (status != PAWL_OK)
        violation(call, "its key does not resolve what is unknown", err);
    char *words = state_words(call);
    if (strcmp(words, call->happened) != 0)
        violation(call, "asked again with its key, it happens again", NULL);
    free(words);
    state_restore(sweep.state);
    call->phase = SWEEP_TRY;
}

static void judge_last(struct sweep_call *call, pawl_status status, const pawl_error *err) {
    if (call->claimed != PAWL_OK && call->claimed != status)
        violation(call, call->claimed_text, NULL);
    if (call->happened != NULL) {
        char *words = state_words(call);
        if (strcmp(words, call->happened) != 0) {
            violation(call, "what was unknown has happened otherwise than what was clean", err);
            if (getenv("PAWL_SWEEP_TRACE") != NULL)
                printf("# unknown:\n%s\n# clean:\n%s\n", call->happened, words);
        }
        free(words);
    }
    free(call->happened);
    call->happened = NULL;
}

/* Until a call with a fault gives up: within RECOVERY_MS. */
static void note_time(const struct sweep_call *call, const pawl_error *err) {
    int64_t took_ms = clock_boot_ms() - call->began_ms;
    if (sweep.way->kills)
        return;
    sweep.recovery_ms = took_ms > sweep.recovery_ms ? took_ms : sweep.recovery_ms;
    if (took_ms > RECOVERY_MS)
        violation(call, "it took too long", err);
}

/* An answer that says how far a look came before it met the lock of another session, which may be our own
 * lost one. */
static bool sees_ghosts(const struct sweep_call *call) {
    return strcmp(swept_names[call->operation], "events.perspective_list") == 0;
}

bool sweep_again(struct sweep_call *call, pawl_status status, const pawl_error *err) {
    struct stat *stat = &sweep.stats[call->operation];
    if (call->phase == SWEEP_ASK_AGAIN) {
        judge_again(call, status, err);
        return true;
    }
    if (call->ended) { /* the child came to its end: there is no such point */
        call->ended = false;
        call->phase = SWEEP_LAST;
        stat->rounds += call->tries > 0 || call->nth == 0;
        stat->next = 0;
        state_restore(sweep.state);
        return true;
    }
    bool failed = call->phase == SWEEP_TRY && (sweep.way->kills || sweep.way->disarm());
    if (call->phase == SWEEP_TRY && !failed) {
        stat->rounds += call->tries > 0 || call->nth == 0;
        stat->next = 0;
    }
    if (!failed) {
        judge_last(call, status, err);
        return false;
    }
    sweep.tries++, stat->tries++, call->tries++;
    stat->points = call->nth + 1 > stat->points ? call->nth + 1 : stat->points;
    stat->next = ++call->nth;
    note_time(call, err);
    if (status == PAWL_OK && sees_ghosts(call)) {
        call->phase = SWEEP_LAST;
        return true;
    }
    if (status == PAWL_OK) { /* the test compares the answer with that of the other store */
        sweep.survived++;
        judge_last(call, status, err);
        return false;
    }
    judge(call, status, err);
    if (call->phase == SWEEP_TRY && (call->tries >= TRIES_MAX || sweep.tries >= sweep.tries_max))
        call->phase = SWEEP_LAST;
    return true;
}

static void report(void) {
    int operations = 0, whole = 0;
    long points = 0;
    for (int i = 0; i < SWEPT_OPERATIONS; i++) {
        const struct stat *stat = &sweep.stats[i];
        operations += stat->calls > 0;
        whole += stat->rounds > 0;
        points += stat->points;
        if (stat->calls > 0 && getenv("PAWL_SWEEP_TRACE") != NULL)
            printf("# %-32s calls %ld, points %ld, tries %ld, rounds %ld\n", swept_names[i], stat->calls,
                   stat->points, stat->tries, stat->rounds);
    }
    const char *way = sweep.way->name;
    printf(
        "figures: {\"operations_%s\": %d, \"operations_whole_%s\": %d, \"points_%s\": %ld, \"faults\": %ld, "
        "\"unknown\": %ld, \"unknown_happened\": %ld, \"asked_again\": %ld, \"survived\": %ld, "
        "\"recovery_ms_%s_max\": %" PRId64 ", \"violations\": %ld}\n",
        way, operations, way, whole, way, points, sweep.tries, sweep.unknown, sweep.happened,
        sweep.asked_again, sweep.survived, way, sweep.recovery_ms, sweep.violations);
    (void)fflush(stdout);
    if (sweep.violations > 0 || sweep.tries == 0)
        _exit(1);
}

static void close_swept(struct store *store) {
    (void)store;
    store_close(sweep.real);
    state_close(sweep.state);
    free((char *)sweep.config.url);
    sweep.real = NULL;
    sweep.state = NULL;
}

static void choose_way(void) {
    static const struct sweep_way *const groups[] = {sweep_ways_memory, sweep_ways_files, sweep_ways_wire};
    const char *name = getenv("PAWL_SWEEP");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        for (const struct sweep_way *way = groups[i]; way->name != NULL; way++)
            if (name != NULL && strcmp(way->name, name) == 0)
                sweep.way = way;
    if (sweep.way == NULL)
        fail_msg("PAWL_SWEEP names no way to fail");
    if (sweep.way->begin != NULL && !sweep.way->begin())
        fail_msg("%s cannot begin", sweep.way->name);
    sweep.ops = (struct store_ops){.core = swept_core,
                                   .view = swept_view,
                                   .events = swept_events,
                                   .relay = &swept_relay,
                                   .jobs = &swept_jobs,
                                   .runs = &swept_runs,
                                   .alerts = &swept_alerts,
                                   .close = close_swept};
    const char *most = getenv("PAWL_SWEEP_FAULTS");
    sweep.tries_max = most != NULL ? strtol(most, NULL, 10) : LONG_MAX;
    (void)atexit(report);
}

struct store *side_opened(int side, struct store *store, const struct store_config *config,
                          struct buf *said) {
    pawl_error err = {0};
    if (sweep.way == NULL)
        choose_way();
    int swept = getenv("PAWL_SWEEP_SIDE") != NULL ? atoi(getenv("PAWL_SWEEP_SIDE")) : sweep.way->side;
    if (side != swept)
        return store;
    sweep.state = state_open(config, store->dialect);
    sweep.config = *config;
    sweep.config.durability = DURABILITY_FULL; /* every commit is synced: more points */
    sweep.said = said;
    if (sweep.way->found != NULL && !sweep.way->found(&sweep.config))
        fail_msg("%s cannot begin", sweep.way->name);
    assert_non_null(sweep.config.url = strdup(sweep.config.url));
    store_close(store);
    if (store_open(&sweep.config, &sweep.real, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    sweep.store = (struct store){.ops = &sweep.ops, .caps = sweep.real->caps, .dialect = sweep.real->dialect};
    return &sweep.store;
}

bool side_keys_given(void) { return true; }
