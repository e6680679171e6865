/* A slot of the job side. */
#include "engine/jobs/job_slot.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/thread.h"
#include "base/time/clock.h"

pawl_status job_slots_open(struct job_slots *slots, int count, pawl_error *err) {
    slots->items = calloc((size_t)count, sizeof(*slots->items));
    if (slots->items == NULL)
        return error_set(err, PAWL_NO_MEMORY, "jobs", "out of memory");
    slots->count = count;
    pthread_mutex_init(&slots->lock, NULL);
    pthread_cond_init(&slots->work, NULL);
    thread_cond_init(&slots->news);
    for (int i = 0; i < count; i++) {
        slots->items[i].number = i;
        slots->items[i].slots = slots;
    }
    return PAWL_OK;
}

static void *slot_main(void *self) {
    struct job_slot *slot = self;
    struct job_slots *slots = slot->slots;
    pthread_mutex_lock(&slots->lock);
    while (true) {
        while (!(slot->busy && !slot->ended) && !slots->closing)
            pthread_cond_wait(&slots->work, &slots->lock);
        if (!slot->busy || slot->ended)
            break;
        pthread_mutex_unlock(&slots->lock);
        job_slot_run(slot);
        pthread_mutex_lock(&slots->lock);
        slot->ended = true;
        slots->woken = true;
        pthread_cond_signal(&slots->news);
    }
    pthread_mutex_unlock(&slots->lock);
    return NULL;
}

pawl_status job_slot_start(struct job_slots *slots, struct job_slot *slot, pawl_error *err) {
    if (!slot->started) {
        int code = pthread_create(&slot->thread, NULL, slot_main, slot);
        if (code != 0)
            return error_errno(err, PAWL_NO_MEMORY, "jobs", code, "no thread for a job");
        slot->started = true;
    }
    slot->ended = false;
    slot->busy = true;
    pthread_cond_broadcast(&slots->work);
    return PAWL_OK;
}

bool job_slots_close(struct job_slots *slots, int64_t wait_ms) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    bool stuck = true;
    if (slots->items == NULL)
        return true;
    pthread_mutex_lock(&slots->lock);
    slots->closing = true;
    pthread_cond_broadcast(&slots->work);
    while (stuck) {
        stuck = false;
        for (int i = 0; i < slots->count; i++)
            stuck = stuck || (slots->items[i].busy && !slots->items[i].ended);
        if (!stuck || clock_boot_ms() >= until_ms)
            break;
        pthread_mutex_unlock(&slots->lock);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        pthread_mutex_lock(&slots->lock);
    }
    pthread_mutex_unlock(&slots->lock);
    for (int i = 0; i < slots->count; i++) {
        if (slots->items[i].started && stuck)
            pthread_detach(slots->items[i].thread);
        else if (slots->items[i].started)
            pthread_join(slots->items[i].thread, NULL);
    }
    if (stuck)
        return false;
    for (int i = 0; i < slots->count; i++) {
        for (size_t k = 0; k < JOB_CORE_BUNDLE_MAX; k++)
            free(slots->items[i].progress[k].text);
    }
    free(slots->items);
    slots->items = NULL;
    pthread_mutex_destroy(&slots->lock);
    pthread_cond_destroy(&slots->work);
    pthread_cond_destroy(&slots->news);
    return true;
}
