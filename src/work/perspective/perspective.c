/* Starting and stopping the application of perspectives, its shared state and its log. */
#include "work/perspective/perspective.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/perspective/int.h"

enum { LOG_MS = 1000 };

const struct function *perspectives_find(const struct perspectives *all, const struct perspective_row *row) {
    for (size_t i = 0; i < all->function_count; i++) {
        const struct function *f = &all->functions[i];
        if (str_equal(f->name, row->name) && (f->version == 0 || f->version == row->version))
            return f;
    }
    return NULL;
}

void perspectives_note(struct perspectives *all, const struct note *note) {
    pthread_mutex_lock(&all->lock);
    if (all->note_count < PERSPECTIVE_NOTES_MAX)
        all->notes[all->note_count++] = *note;
    else
        all->notes_lost++;
    pthread_mutex_unlock(&all->lock);
}

void perspectives_add(struct perspectives *all, struct sums sums) {
    pthread_mutex_lock(&all->lock);
    all->sums.claimed += sums.claimed;
    all->sums.completed += sums.completed;
    all->sums.failed += sums.failed;
    all->sums.events += sums.events;
    all->sums.stale += sums.stale;
    pthread_mutex_unlock(&all->lock);
}

static void tell(struct log *log, const struct note *note) {
    switch (note->type) {
    case NOTE_FAILED:
        log_event(log, LOG_LEVEL_WARN, "perspective_failed",
                  "perspective=%s stream=%s version=%" PRId64 " stopped=%s error=%s", note->perspective,
                  note->stream, note->version, note->stopped ? "true" : "false", note->error);
        return;
    case NOTE_NO_RUNNER:
        log_event(log, LOG_LEVEL_WARN, "no_runner", "perspective=%s reason=%s", note->perspective,
                  note->error);
        return;
    case NOTE_TROUBLE:
        log_event(log, LOG_LEVEL_WARN, "perspective_trouble", "perspective=%s error=%s", note->perspective,
                  note->error);
        return;
    }
}

bool perspectives_tick(struct perspectives *all, pawl_uuid instance, struct log *log) {
    struct note notes[PERSPECTIVE_NOTES_MAX];
    struct sums sums = {0};
    int64_t now_ms = clock_boot_ms();
    pthread_mutex_lock(&all->lock);
    if (!uuid_equal(all->instance, instance)) {
        all->instance = instance;
        all->pace_count = 0;
        all->all_behind_ms = 0;
    }
    bool look = all->look;
    all->look = false;
    size_t count = all->note_count, lost = all->notes_lost;
    memcpy(notes, all->notes, count * sizeof(*notes));
    all->note_count = all->notes_lost = 0;
    bool due = now_ms - all->logged_ms >= LOG_MS && (all->sums.claimed > 0 || all->sums.failed > 0);
    if (due) {
        sums = all->sums;
        all->sums = (struct sums){0};
        all->logged_ms = now_ms;
    }
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < count; i++)
        tell(log, &notes[i]);
    if (lost > 0)
        log_event(log, LOG_LEVEL_WARN, "perspective_notes_lost", "count=%zu", lost);
    if (due)
        log_event(log, LOG_LEVEL_INFO, "perspective_batch",
                  "claimed=%" PRId64 " completed=%" PRId64 " failed=%" PRId64 " events=%" PRId64
                  " stale=%" PRId64,
                  sums.claimed, sums.completed, sums.failed, sums.events, sums.stale);
    return look;
}

void perspective_note_failure(struct perspectives *all, const struct checkpoint_ref *of, int64_t version,
                              bool stopped, pawl_str error) {
    struct note note = {.type = NOTE_FAILED, .version = version, .stopped = stopped};
    snprintf(note.perspective, sizeof(note.perspective), "%.*s", STR_ARG(of->perspective));
    snprintf(note.stream, sizeof(note.stream), "%.*s", STR_ARG(of->stream));
    snprintf(note.error, sizeof(note.error), "%.*s", STR_ARG(error));
    perspectives_note(all, &note);
}

void perspective_note_trouble(struct perspectives *all, pawl_str key, const pawl_error *err) {
    struct note note = {.type = NOTE_TROUBLE};
    snprintf(note.perspective, sizeof(note.perspective), "%.*s", STR_ARG(key));
    snprintf(note.error, sizeof(note.error), "%.200s", err->text);
    perspectives_note(all, &note);
}

pawl_status perspectives_create(const struct perspectives_config *config, struct handler_table *table,
                                struct perspectives **out, pawl_error *err) {
    struct perspectives *all = calloc(1, sizeof(*all));
    if (all == NULL)
        return error_no_memory(err, "perspective");
    all->config = *config;
    pthread_mutex_init(&all->lock, NULL);
    all->arena = arena_create(0);
    all->claimer.registry = arena_create(0);
    pawl_status status =
        all->arena == NULL || all->claimer.registry == NULL ? error_no_memory(err, "perspective") : PAWL_OK;
    if (status == PAWL_OK && config->outside)
        status = launcher_create("perspectives", LAUNCHER_OWN_THREAD, &all->launcher, err);
    if (status == PAWL_OK && config->outside)
        status = pipes_create("perspectives-kept", config->log, &all->pipes, err);
    if (status == PAWL_OK)
        status = handler_table_add_perspectives(table, perspectives_wake, all, err);
    if (status != PAWL_OK) {
        perspectives_free(all);
        return status;
    }
    *out = all;
    return PAWL_OK;
}

pawl_status perspectives_function(struct perspectives *all, pawl_str name, int version,
                                  pawl_perspective_fn function, void *self, pawl_error *err) {
    if (all->function_count == PERSPECTIVE_FUNCTIONS_MAX)
        return error_set(err, PAWL_INVALID, "perspective",
                         "there are %d functions already, which is the most", PERSPECTIVE_FUNCTIONS_MAX);
    struct function *made = &all->functions[all->function_count];
    *made = (struct function){.version = version, .function = function, .self = self};
    pawl_status status = str_dup(all->arena, name, &made->name, err);
    all->function_count += status == PAWL_OK;
    return status;
}

void perspectives_free(struct perspectives *all) {
    if (all == NULL)
        return;
    while (all->free_projectors != NULL) {
        struct projector *projector = all->free_projectors;
        all->free_projectors = projector->next;
        projector_free(projector);
    }
    arena_free(all->claimer.registry);
    pipes_free(all->pipes);
    launcher_free(all->launcher);
    arena_free(all->arena);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

struct launcher *perspectives_launcher(struct perspectives *perspectives) {
    return perspectives->launcher;
}

struct pipes *perspectives_pipes(struct perspectives *perspectives) {
    return perspectives->pipes;
}
