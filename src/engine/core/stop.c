/* Stopping: claim nothing, finish what runs, give back the rest, leave. */
#include "engine/core/int.h"

enum { STOP_NOW_MS = 1000 };

void core_stop_begin(struct engine_core *core, bool now) {
    if (!core->stopping) {
        core->stopping = true;
        core->drain_until_ms = core->now_ms + core->config.drain_ms;
        core_log(core, LOG_STOPPING, core->running, core->config.drain_ms, 0);
    } else {
        now = true; /* asking twice means at once */
    }
    if (now && !core->stop_now) {
        core->stop_now = true;
        core->drain_until_ms = core->now_ms;
    }
    core->give_up_ms = core->drain_until_ms + (core->stop_now ? STOP_NOW_MS : ENGINE_STOP_STORE_MS);
}

void engine_jobs_busy(struct engine_core *core, bool busy) { core->jobs_busy = busy; }

void engine_hold(struct engine_core *core, bool held) { core->held = held; }

static void release_waiting(struct engine_core *core) {
    for (size_t i = 0; i < core->config.handler_count; i++) {
        struct handler_queue *queue = &core->queues[i];
        while (queue->free_head != NULL) {
            struct entry *entry = queue->free_head;
            queue->free_head = entry->next;
            queue->waiting--;
            if (entry->dropped)
                core_entry_free(core, entry);
            else
                core_report_release(core, entry, 0);
        }
        queue->free_tail = NULL;
        while (queue->stream_head != NULL) {
            struct stream *stream = queue->stream_head;
            queue->stream_head = stream->next_ready;
            stream->queued = false;
            core_stream_release_waiting(core, stream, 0);
            core_stream_ready(core, stream);
        }
        queue->stream_tail = NULL;
    }
}

static void cancel_running(struct engine_core *core) {
    core->forced = true;
    for (int i = 0; i < core->config.slots; i++)
        core_slot_cancel(core, i, core->stop_now ? STOP_FENCED : STOP_LEAVING);
}

static void leave(struct engine_core *core) {
    if (core->exited)
        return;
    core->exited = true;
    core_log(core, LOG_STOPPED, core->metrics.completed, core->metrics.failed, core->forced);
    struct engine_action *action = core_act(core, ACTION_EXIT);
    if (action != NULL)
        action->forced = core->forced;
}

void core_stop_deregistered(struct engine_core *core) {
    core->deregistering = false;
    core->registered = false;
    leave(core);
}

void core_stop_decide(struct engine_core *core) {
    if (!core->stopping || core->exited)
        return;
    release_waiting(core);
    if (core->running > 0 && core->now_ms >= core->drain_until_ms)
        cancel_running(core);
    bool reported = core->pending_count == 0 && core->report_count == 0 && core->cycle == CYCLE_IDLE &&
                    !core->resend && !core->side.on_way;
    bool idle = core->running == 0 && reported && !core->registering && !core->beating && !core->held;
    if (core->now_ms >= core->give_up_ms) {
        core->forced = true;
        leave(core);
    } else if (idle && core->registered && !core->deregistering) {
        core->deregistering = true;
        (void)core_act(core, ACTION_DEREGISTER);
    } else if (idle && !core->registered) {
        leave(core);
    }
}
