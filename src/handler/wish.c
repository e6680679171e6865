/* What a program says about its next attempt. */
#include "handler/wish.h"

#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"

static bool line_says(pawl_str line, pawl_str word, int64_t *delay_ms) {
    if (!str_starts_with(line, word))
        return false;
    pawl_str rest = str_trim((pawl_str){line.ptr + word.len, line.len - word.len});
    return clock_parse_duration(rest, delay_ms) && *delay_ms >= 0;
}

struct wish wish_read(pawl_str output, bool exited, int exit_code) {
    struct wish wish = {.delay_ms = -1};
    if (output.len > WISH_BYTES_MAX)
        output.len = WISH_BYTES_MAX;
    while (output.len > 0) {
        const char *end = memchr(output.ptr, '\n', output.len);
        size_t len = end != NULL ? (size_t)(end - output.ptr) : output.len;
        pawl_str line = str_trim((pawl_str){output.ptr, len});
        bool snooze = line_says(line, STR("pawl:snooze "), &wish.delay_ms);
        if (snooze || line_says(line, STR("pawl:retry-after "), &wish.delay_ms)) {
            wish.snooze = snooze && exited && exit_code == WISH_EXIT;
            if (wish.delay_ms > PAWL_RETRY_MS_MAX)
                wish.delay_ms = PAWL_RETRY_MS_MAX;
            return wish;
        }
        wish.delay_ms = -1;
        size_t used = end != NULL ? len + 1 : len;
        output = (pawl_str){output.ptr + used, output.len - used};
    }
    return wish;
}
