/* Running the receptors of a message. Each result is recorded in the store as soon as it is known, so that a
 * completed receptor does not run again when the message is retried. */
#include "work/receptors/receptors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/workstatus.h"
#include "handler/message.h"
#include "store/event_receptors.h"
#include "work/observe.h"
#include "work/receptors/call.h"
#include "work/shared_store.h"

enum { LOOK_MS = 20, STORE_WAIT_MS = 1000, REPORT_TRIES = 3, NAME_BYTES = 2 * PAWL_NAME_BYTES_MAX + 2 };

struct receptors {
    struct handler_table *table;
    struct shared_store shared;
    struct receptor_world world;
    pawl_str service;
    char source[PAWL_NAME_BYTES_MAX + 16];
};

/* The thread that waits for the receptors of one message. */
struct party {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    size_t running;
};

/* One receptor of the current message. */
struct turn {
    struct party *party;
    const struct handler *handler;
    struct receptors *all;
    char name[NAME_BYTES]; /* the name its result is recorded under */
    bool skipped;          /* it has already ended: done, or failed for good */
    bool failed;           /* for good */
    bool noted;            /* its result is recorded */
    int attempt;           /* of this round */
    struct receptor_call call;
    struct run_handle handle;
    struct handler_verdict verdict;
    pthread_t thread;
    bool threaded;
};

/* If the message carries an event, results are recorded under the event's id. */
static pawl_uuid noted_id(const struct item *item) {
    pawl_str name;
    bool event = receptor_of_consumer(item->consumer, &name) && !uuid_is_nil(item->causation_id);
    return event ? item->causation_id : item->id;
}

/* Two consumers may have received the same id; a receptor's result for one does not apply to the other. */
static void name_turn(const struct receptors *all, const struct item *item, struct turn *turn) {
    if (turn->handler->event) {
        snprintf(turn->name, sizeof(turn->name), "%.*s", STR_ARG(item->consumer));
        return;
    }
    bool own = str_absent(item->consumer) || str_equal(item->consumer, all->service);
    snprintf(turn->name, sizeof(turn->name), "%s%s%.*s", turn->handler->name, own ? "" : "@",
             own ? 0 : (int)item->consumer.len, own ? "" : item->consumer.ptr);
    if (strlen(turn->name) > PAWL_NAME_BYTES_MAX)
        snprintf(turn->name, sizeof(turn->name), "%s", turn->handler->name);
}

/* Whether a receptor has ended, as far as the store knows. Results recorded before the message was put belong
 * to an earlier message with the same id; a redriven message (attempt 1) gives everything unfinished another
 * round. */
static void recall(struct turn *turn, const struct item *item, const struct receptor_row *rows,
                   size_t count) {
    turn->attempt = 1;
    for (size_t i = 0; i < count; i++) {
        const struct receptor_row *row = &rows[i];
        if (!str_equal_cstr(row->receptor, turn->name) || row->updated_ms < item->put_ms)
            continue;
        bool done = (row->status & WORK_COMPLETED) != 0;
        turn->failed = !done && (row->status & WORK_STORED) == 0 && item->attempt > 1;
        turn->skipped = done || turn->failed;
        turn->attempt = row->attempts + 1 < item->attempt ? row->attempts + 1 : item->attempt;
        snprintf(turn->verdict.error, sizeof(turn->verdict.error), "%.*s",
                 row->error.len < 400 ? (int)row->error.len : 400,
                 row->error.ptr != NULL ? row->error.ptr : "");
    }
}

static pawl_status recall_all(struct receptors *all, const struct item *item, struct turn *turns,
                              size_t count, pawl_error *err) {
    struct receptor_row *rows = NULL;
    size_t row_count = 0;
    struct store *store = NULL;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, "receptors");
    pawl_status status = shared_store_take(&all->shared, &store, err);
    if (status == PAWL_OK) {
        status = store->ops->view.receptors(store, noted_id(item), arena, &rows, &row_count, err);
        shared_store_give(&all->shared, status);
    }
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        recall(&turns[i], item, rows, row_count);
    arena_free(arena);
    return status;
}

/* A failure of the last attempt is final. */
static bool turn_ends(const struct turn *turn) {
    int limit = turn->handler->max_attempts;
    return turn->verdict.outcome == HANDLED_PERMANENT ||
           (turn->verdict.outcome == HANDLED_RETRY && limit > 0 && turn->attempt >= limit);
}

/* Completed; failed and to be retried (the message is still stored); failed for good. */
static size_t make_reports(const struct item *item, struct turn *turns, size_t count,
                           struct receptor_report *reports) {
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        struct turn *turn = &turns[i];
        enum handler_outcome outcome = turn->verdict.outcome;
        if (turn->skipped || turn->noted || outcome == HANDLED_NOT_RUN || outcome == HANDLED_SNOOZE)
            continue;
        bool done = outcome == HANDLED_DONE;
        turn->failed = turn_ends(turn);
        reports[made++] =
            (struct receptor_report){.event_id = noted_id(item),
                                     .receptor = str_from(turn->name),
                                     .status = done           ? WORK_COMPLETED
                                               : turn->failed ? 0
                                                              : WORK_STORED,
                                     .error = done ? (pawl_str){NULL, 0} : str_from(turn->verdict.error)};
    }
    return made;
}

/* If it cannot be recorded, the receptor may run again: at least once. */
static void note(struct receptors *all, const struct item *item, struct turn *turns, size_t count) {
    struct receptor_report reports[HANDLER_RECEPTORS_MAX];
    size_t made = make_reports(item, turns, count, reports);
    pawl_status status = made > 0 ? PAWL_UNAVAILABLE : PAWL_OK;
    for (int tries = 0; status != PAWL_OK && tries < REPORT_TRIES; tries++) {
        struct answer_list answers;
        struct store *store = NULL;
        pawl_error err;
        struct arena *arena = arena_create(0);
        status = arena != NULL ? shared_store_take(&all->shared, &store, &err) : PAWL_NO_MEMORY;
        if (status == PAWL_OK) {
            status = store->ops->core.receptors_report(store, reports, made, arena, &answers, &err);
            shared_store_give(&all->shared, status);
        }
        arena_free(arena);
        if (status != PAWL_OK)
            nanosleep(&(struct timespec){0, 100000000L << tries}, NULL);
    }
    for (size_t i = 0; i < count; i++)
        turns[i].noted = turns[i].noted || status == PAWL_OK;
}

static struct timespec look_until(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return until;
}

/* True: the others have ended too, or do so soon; all their results can be recorded with one call. */
static bool party_leave(struct party *party) {
    struct timespec until = look_until();
    int late = 0;
    pthread_mutex_lock(&party->lock);
    party->running--;
    pthread_cond_broadcast(&party->ended);
    while (party->running > 0 && late == 0)
        late = pthread_cond_timedwait(&party->ended, &party->lock, &until);
    bool over = party->running == 0;
    pthread_mutex_unlock(&party->lock);
    return over;
}

/* The result is recorded here, not by the thread that waits for all: that one must be free to tell the others
 * that they are fenced, also while the store does not answer. */
static void *turn_main(void *self) {
    struct turn *turn = self;
    receptor_call(&turn->all->world, &turn->call, &turn->verdict);
    if (!party_leave(turn->party))
        note(turn->all, turn->call.item, turn, 1);
    return NULL;
}

static void turn_begin(struct turn *turn, const struct item *item) {
    const struct handler *handler = turn->handler;
    turn->call = (struct receptor_call){
        .handler = handler,
        .item = item,
        .name = handler->receptor,
        .deadline_ms = handler->timeout_ms > 0 ? clock_boot_ms() + handler->timeout_ms : 0,
        .cancel = &turn->handle.cancel,
        .run = &turn->handle};
    turn->threaded = pthread_create(&turn->thread, NULL, turn_main, turn) == 0;
    if (!turn->threaded)
        turn_main(turn);
}

/* Tells running receptors that their result no longer counts, and functions that their time is over;
 * functions cannot be ended in any other way. */
static void turns_tell(struct turn *turns, size_t count, const stop_flag *cancel) {
    enum stop_reason over = stop_read(cancel);
    for (size_t i = 0; i < count; i++) {
        struct turn *turn = &turns[i];
        bool late = turn->handler->kind == HANDLER_FUNCTION && turn->call.deadline_ms > 0 &&
                    clock_boot_ms() >= turn->call.deadline_ms;
        if (over != STOP_NONE || late)
            stop_set(&turn->handle.cancel, over != STOP_NONE ? over : STOP_TIMEOUT);
    }
}

static void turns_wait(struct party *party, struct turn *turns, size_t count, const stop_flag *cancel) {
    pthread_mutex_lock(&party->lock);
    while (party->running > 0) {
        struct timespec until = look_until();
        turns_tell(turns, count, cancel);
        pthread_cond_timedwait(&party->ended, &party->lock, &until);
    }
    pthread_mutex_unlock(&party->lock);
    for (size_t i = 0; i < count; i++) {
        if (turns[i].threaded)
            pthread_join(turns[i].thread, NULL);
    }
}

static void party_open(struct party *party) {
    thread_cond_init(&party->ended);
    pthread_mutex_init(&party->lock, NULL);
}

static void party_close(struct party *party) {
    pthread_cond_destroy(&party->ended);
    pthread_mutex_destroy(&party->lock);
}

static void add_error(struct handler_verdict *verdict, const struct turn *turn) {
    size_t at = strlen(verdict->error);
    snprintf(verdict->error + at, sizeof(verdict->error) - at, "%s%s: %.300s", at > 0 ? "; " : "",
             turn->handler->name, turn->verdict.error);
}

/* The message is done when all its receptors are; it fails for good when all have ended and one failed. */
static void sum_up(const struct turn *turns, size_t count, struct handler_verdict *verdict) {
    bool retry = false, snooze = false, failed = false, not_run = false;
    int64_t retry_ms = -1, snooze_ms = 0;
    verdict->error[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const struct turn *turn = &turns[i];
        const struct handler_verdict *said = &turn->verdict;
        if (turn->skipped || turn->failed) {
            failed = failed || turn->failed;
            if (turn->failed)
                add_error(verdict, turn);
            continue;
        }
        not_run = not_run || said->outcome == HANDLED_NOT_RUN;
        if (said->outcome == HANDLED_SNOOZE) {
            snooze = true;
            snooze_ms = said->delay_ms > snooze_ms ? said->delay_ms : snooze_ms;
        } else if (said->outcome == HANDLED_RETRY) {
            retry = true;
            retry_ms = said->delay_ms > retry_ms ? said->delay_ms : retry_ms;
            add_error(verdict, turn);
        }
    }
    verdict->outcome = not_run  ? HANDLED_NOT_RUN
                       : retry  ? HANDLED_RETRY
                       : snooze ? HANDLED_SNOOZE
                       : failed ? HANDLED_PERMANENT
                                : HANDLED_DONE;
    verdict->delay_ms = retry ? retry_ms : snooze_ms;
}

static void run_turns(struct receptors *all, const struct handler_batch *batch, const struct item *item,
                      const struct handler *const *found, size_t count, struct handler_verdict *verdict) {
    pawl_error err = {0};
    struct party party = {.running = 0};
    struct turn *turns = calloc(count, sizeof(*turns));
    for (size_t i = 0; turns != NULL && i < count; i++) {
        turns[i].handler = found[i];
        turns[i].all = all;
        turns[i].party = &party;
        name_turn(all, item, &turns[i]);
    }
    if (turns == NULL || recall_all(all, item, turns, count, &err) != PAWL_OK) {
        *verdict = (struct handler_verdict){HANDLED_SNOOZE, STORE_WAIT_MS, ""};
        free(turns);
        return;
    }
    party_open(&party);
    for (size_t i = 0; i < count; i++)
        party.running += !turns[i].skipped; /* before the first of them can end */
    for (size_t i = 0; i < count; i++) {
        if (!turns[i].skipped)
            turn_begin(&turns[i], item);
    }
    turns_wait(&party, turns, count, batch->cancel);
    party_close(&party);
    note(all, item, turns, count);
    sum_up(turns, count, verdict);
    free(turns);
}

/* The handler of an event sees the event's stream; the message itself has none, because it waits for no
 * other. */
static void run_event(struct receptors *all, const struct handler_batch *batch, const struct item *item,
                      const struct handler *const *found, struct handler_verdict *verdict) {
    struct item seen = *item;
    struct arena *arena = arena_create(0);
    if (arena != NULL)
        seen.stream = event_origin(item, arena).stream;
    run_turns(all, batch, &seen, found, 1, verdict);
    arena_free(arena);
}

/* An endpoint that is the only handler of its messages needs no records of its own: the message's suffice. */
static void run_alone(struct receptors *all, const struct handler_batch *batch, const struct item *item,
                      const struct handler *handler, struct handler_verdict *verdict) {
    struct receptor_call call = {.handler = handler,
                                 .item = item,
                                 .deadline_ms = clock_boot_ms() + handler->timeout_ms,
                                 .cancel = batch->cancel,
                                 .run = batch->run};
    receptor_call(&all->world, &call, verdict);
}

static void run(const struct handler_batch *batch, void *self) {
    struct receptors *all = self;
    for (size_t i = 0; i < batch->count; i++) {
        const struct handler *found[HANDLER_RECEPTORS_MAX];
        const struct item *item = batch->items[i];
        bool behind = i > 0 && batch->groups[i] == batch->groups[i - 1] &&
                      batch->verdicts[i - 1].outcome != HANDLED_DONE;
        if (behind || atomic_load(batch->cancel) || clock_boot_ms() >= batch->fence_ms)
            continue;
        size_t count = handler_table_receptors(all->table, item, found);
        struct observed work;
        item = observe_message(batch->observer, item, &work);
        if (item->kind == KIND_INBOX && count > 0 && found[0]->event)
            run_event(all, batch, item, found, &batch->verdicts[i]);
        else if (item->kind == KIND_INBOX && count > 0 && found[0]->receptor != NULL)
            run_turns(all, batch, item, found, count, &batch->verdicts[i]);
        else if (count > 0 && found[count - 1]->kind == HANDLER_HTTP)
            run_alone(all, batch, item, found[count - 1], &batch->verdicts[i]);
        observe_message_end(batch->observer, &work,
                            &(struct observed_end){.result = observe_outcome(batch->verdicts[i].outcome),
                                                   .error = str_from(batch->verdicts[i].error)});
    }
}

pawl_status receptors_create(const struct store_config *store, pawl_str service, struct handler_table *table,
                             struct receptors **receptors, pawl_error *err) {
    if (!handler_table_attaches(table))
        return PAWL_OK;
    struct receptors *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(err, "receptors");
    made->table = table;
    made->service = service;
    snprintf(made->source, sizeof(made->source), "/pawl/%.*s", STR_ARG(service));
    made->world.source = made->source;
    pthread_mutex_init(&made->world.lock, NULL);
    shared_store_init(&made->shared, store);
    pawl_status status = launcher_create("receptors", LAUNCHER_OWN_THREAD, &made->world.launcher, err);
    if (status != PAWL_OK) {
        receptors_free(made);
        return status;
    }
    handler_table_attach(table, run, made);
    *receptors = made;
    return PAWL_OK;
}

struct launcher *receptors_launcher(struct receptors *receptors) {
    return receptors->world.launcher;
}

void receptors_free(struct receptors *receptors) {
    if (receptors == NULL)
        return;
    for (size_t i = 0; i < receptors->world.client_count; i++)
        http_client_free(receptors->world.clients[i]);
    launcher_free(receptors->world.launcher);
    shared_store_close(&receptors->shared);
    pthread_mutex_destroy(&receptors->world.lock);
    free(receptors);
}
