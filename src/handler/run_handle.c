/* pawl_cancelled and pawl_progress: what a running C function can call. */
#include "handler/run_handle.h"

#include "base/json/json.h"
#include "base/limits.h"
#include "base/time/clock.h"

bool pawl_cancelled(const pawl_message *message) {
    const struct run_handle *handle = message->run;
    return handle != NULL &&
           (atomic_load_explicit(&handle->cancel, memory_order_relaxed) ||
            (handle->asked != NULL && atomic_load_explicit(handle->asked, memory_order_relaxed)));
}

bool pawl_progress(const pawl_message *message, pawl_str progress) {
    struct run_handle *handle = (struct run_handle *)message->run;
    if (handle == NULL || handle->progress == NULL || progress.len > PAWL_METADATA_BYTES_MAX ||
        !json_valid(progress, PAWL_JSON_DEPTH_MAX, NULL))
        return false;
    return handle->progress(handle, progress);
}

int64_t run_handle_elapsed_ms(const pawl_message *message) {
    const struct run_handle *handle = message->run;
    return handle != NULL && handle->began_us > 0 ? (clock_boot_us() - handle->began_us) / 1000 : 0;
}
