/* Stopping: claim nothing, finish what runs, give back the rest, leave. */
#include "engine/core/int.h"

enum { STOP_NOW_MS = 1000 };

void core_stop_begin(struct engine_core *core, bool now) {
    if (!core->stopping) {
        core->stopping = true;
        core->drain_until_ms = core->now_ms + core->config.drain_ms;
        duties_stop(&core->duties, false);
        core_log(core, LOG_STOPPING, core_running(core), core->config.drain_ms, 0);
    } else {
        now = true; /* asking twice means at once */
    }
    if (now && !core->stop_now) {
        core->stop_now = true;
        core->drain_until_ms = core->now_ms;
    }
    core->give_up_ms = core->drain_until_ms + (core->stop_now ? STOP_NOW_MS : ENGINE_STOP_STORE_MS);
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
    core_duties_leave(core);
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
    core_queue_release_all(core);
    core_slots_unbegin(core);
    if (core_running(core) > 0 && core->now_ms >= core->drain_until_ms)
        cancel_running(core);
    bool reported = core->pending_count == 0 && core->report_count == 0 && core->cycle == CYCLE_IDLE &&
                    !core->resend && !core->side.on_way && core_jobs_reported(core) &&
                    core_perspectives_reported(core);
    bool idle = core_running(core) == 0 && reported && !core->registering &&
                !core_duty(core, DUTY_BEAT)->running;
    if (core->now_ms >= core->give_up_ms) {
        core->forced = true;
        leave(core);
    } else if (idle && core->registered && !core->deregistering) {
        core->deregistering = true;
        core_duties_leave(core);
        (void)core_act(core, ACTION_DEREGISTER);
    } else if (idle && !core->registered) {
        leave(core);
    }
}
