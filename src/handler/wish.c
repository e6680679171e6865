/* What a program says about its next attempt. */
#include "handler/wish.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"

enum { SHOWN_BYTES = 32 };

static bool line_says(pawl_str line, pawl_str word, struct wish *wish) {
    if (!str_starts_with(line, word) || (line.len > word.len && line.ptr[word.len] != ' '))
        return false;
    pawl_str rest = str_trim((pawl_str){line.ptr + word.len, line.len - word.len});
    if (clock_parse_duration(rest, &wish->delay_ms) && wish->delay_ms >= 0)
        return true;
    wish->delay_ms = -1;
    bool plain = rest.len <= SHOWN_BYTES;
    for (size_t i = 0; plain && i < rest.len; i++)
        plain = rest.ptr[i] >= ' ' && rest.ptr[i] < 0x7f;
    if (wish->refused[0] == '\0')
        snprintf(wish->refused, sizeof(wish->refused),
                 "%.*s '%.*s' does not count: write a duration, as in 30s, 5m, 2h or 7d", STR_ARG(word),
                 STR_ARG(plain ? rest : STR("…")));
    return false;
}

struct wish wish_read(pawl_str output, bool exited, int exit_code) {
    struct wish wish = {.delay_ms = -1};
    if (output.len > WISH_BYTES_MAX)
        output.len = WISH_BYTES_MAX;
    while (output.len > 0) {
        const char *end = memchr(output.ptr, '\n', output.len);
        size_t len = end != NULL ? (size_t)(end - output.ptr) : output.len;
        pawl_str line = str_trim((pawl_str){output.ptr, len});
        bool snooze = line_says(line, STR("pawl:snooze"), &wish);
        if (snooze || line_says(line, STR("pawl:retry-after"), &wish)) {
            wish.refused[0] = '\0';
            wish.snooze = snooze && exited && exit_code == WISH_EXIT;
            if (snooze && exited && !wish.snooze)
                snprintf(wish.refused, sizeof(wish.refused), "pawl:snooze counts with exit code %d only",
                         WISH_EXIT);
            if (wish.delay_ms > PAWL_RETRY_MS_MAX)
                wish.delay_ms = PAWL_RETRY_MS_MAX;
            return wish;
        }
        size_t used = end != NULL ? len + 1 : len;
        output = (pawl_str){output.ptr + used, output.len - used};
    }
    return wish;
}

void wish_explain(const struct wish *wish, char *error, size_t size) {
    size_t at = strlen(error);
    if (wish->refused[0] != '\0' && at < size)
        snprintf(error + at, size - at, "%s%s", at > 0 ? "; " : "", wish->refused);
}
