/* Whether the worker is idle: nothing that is due, of any kind that it serves, waits, runs or is on its way.
 */
#include <inttypes.h>

#include "base/time/clock.h"
#include "engine/runtime/runtime.h"

/* How often the feed of receptors is asked while all else is quiet, and the store while others have work. */
enum { FEED_MS = 100, ASK_MS_MAX = 2000 };

void runtime_idle_started(struct runtime *runtime) {
    runtime->idle.step = IDLE_LOOK;
    runtime->idle.wait_ms = 0;
    if (runtime->idle.said == IDLE_BUSY)
        return;
    runtime->idle.said = IDLE_BUSY;
    if (runtime->config.on_started != NULL)
        runtime->config.on_started(runtime->config.self);
}

static bool works(const struct runtime *runtime) {
    return !runtime->exiting && engine_metrics(runtime->core).works;
}

/* As far as this process knows. Others may have work that was ours to wait for: only the store knows that. */
static bool quiet(const struct runtime *runtime) {
    const struct runtime_config *config = &runtime->config;
    bool messages = (config->engine.instance.kinds & KIND_BITS_ALL) != 0;
    return works(runtime) && (!messages || runtime->idle.messages) &&
           (!runtime_serves_jobs(runtime) || engine_metrics(runtime->core).jobs.idle) &&
           engine_metrics(runtime->core).perspectives_idle &&
           (config->feed == NULL || !receptor_feed_busy(config->feed));
}

static void tell(struct runtime *runtime) {
    const struct work_left *left = &runtime->idle.left;
    runtime->idle.said = IDLE_IDLE;
    runtime->idle.step = IDLE_LOOK;
    if (left->later > 0)
        log_event(&runtime->config.log, LOG_LEVEL_INFO, "idle_left", "later=%" PRId64 " next_ms=%" PRId64,
                  left->later, left->next_ms);
    if (runtime->config.on_idle != NULL)
        runtime->config.on_idle(runtime->config.self);
}

/* Without an answer from the store the worker does not count as idle. */
void runtime_idle_answer(struct runtime *runtime, const struct call *call) {
    const struct runtime_config *config = &runtime->config;
    runtime->idle.unanswered--;
    if (runtime->idle.step != IDLE_ASKED || runtime->idle.unanswered > 0)
        return; /* asked before something interrupted: it knows nothing of that */
    runtime->idle.left = call->left;
    bool none = call->status == PAWL_OK && call->left.due == 0;
    runtime->idle.step = none ? IDLE_SETTLE : IDLE_LOOK;
    int64_t wait_ms = runtime->idle.wait_ms * 2 > config->engine.poll_ms ? runtime->idle.wait_ms * 2
                                                                         : config->engine.poll_ms;
    runtime->idle.wait_ms = wait_ms < ASK_MS_MAX ? wait_ms : ASK_MS_MAX;
    runtime->idle.ask_ms = clock_boot_ms() + runtime->idle.wait_ms;
    if (call->status != PAWL_OK)
        log_failure(&runtime->config.log, LOG_LEVEL_INFO, "idle_unknown", &call->error);
}

/* When neither is wanted there is no need to ask. */
static bool wanted(const struct runtime *runtime) {
    const struct runtime_config *config = &runtime->config;
    return runtime->idle.said != IDLE_IDLE && (config->on_idle != NULL || config->on_started != NULL);
}

void runtime_idle_sync(struct runtime *runtime) {
    if (runtime->idle.said != IDLE_BUSY && engine_metrics(runtime->core).jobs.running > 0)
        runtime_idle_started(runtime);
    if (!wanted(runtime) || !quiet(runtime))
        return;
    if (runtime->idle.step == IDLE_SETTLE) {
        tell(runtime);
    } else if (runtime->idle.step == IDLE_LOOK && clock_boot_ms() >= runtime->idle.ask_ms) {
        runtime->idle.step = IDLE_ASKED;
        runtime->idle.unanswered++;
        runtime_ask_control(runtime, CALL_LEFT);
    }
}

int64_t runtime_idle_due_ms(const struct runtime *runtime) {
    bool messages = (runtime->config.engine.instance.kinds & KIND_BITS_ALL) != 0;
    if (!wanted(runtime) || (messages && !runtime->idle.messages) || runtime->idle.step == IDLE_ASKED)
        return INT64_MAX;
    int64_t now_ms = clock_boot_ms();
    if (runtime->idle.ask_ms > now_ms)
        return runtime->idle.ask_ms;
    return runtime->config.feed != NULL ? now_ms + FEED_MS : INT64_MAX;
}
