/* Reading an event stream: lines, their fields, and the empty line that ends an event. */
#include "handler/mcp/events.h"

#include <string.h>

#include "base/str.h"

void events_init(struct events *events, size_t bytes_max) {
    memset(events, 0, sizeof(*events));
    buf_init(&events->line, bytes_max);
    buf_init(&events->data, bytes_max);
    events->retry_ms = -1;
}

void events_free(struct events *events) {
    buf_free(&events->line);
    buf_free(&events->data);
}

static void field(struct events *events, pawl_str line) {
    int64_t retry_ms = 0;
    pawl_str value, name = str_before(line, ':', &value);
    if (str_absent(value))
        value = STR("");
    else if (value.len > 0 && value.ptr[0] == ' ')
        value = str_skip(value, 1);
    if (str_equal_cstr(name, "data")) {
        if (events->data.len > 0)
            buf_append_char(&events->data, '\n');
        buf_append_str(&events->data, value);
    } else if (str_equal_cstr(name, "id") && value.len < sizeof(events->id) &&
               memchr(value.ptr, 0, value.len) == NULL) {
        memcpy(events->id, value.ptr, value.len);
        events->id[value.len] = '\0';
        events->has_id = value.len > 0;
    } else if (str_equal_cstr(name, "retry") && str_to_i64(value, 0, INT32_MAX, &retry_ms)) {
        events->retry_ms = retry_ms;
    }
}

bool events_feed(struct events *events, pawl_str piece, bool (*take)(void *self, pawl_str data), void *self) {
    for (size_t i = 0; i < piece.len; i++) {
        char c = piece.ptr[i];
        bool second = c == '\n' && events->after_cr; /* of CR LF */
        events->after_cr = c == '\r';
        if (second)
            continue;
        if (c != '\n' && c != '\r') {
            const char *rest = piece.ptr + i;
            size_t len = 1;
            while (i + len < piece.len && rest[len] != '\n' && rest[len] != '\r')
                len++;
            buf_append(&events->line, rest, len);
            i += len - 1;
            if (events->line.failed)
                return false;
            continue;
        }
        if (events->line.len > 0) {
            field(events, buf_str(&events->line));
            buf_reset(&events->line);
        } else if (events->data.len >
                   0) { /* an empty line ends an event; one without data only carries an id */
            bool goes_on = take(self, buf_str(&events->data));
            buf_reset(&events->data);
            if (!goes_on)
                return false;
        }
        if (events->data.failed)
            return false;
    }
    return true;
}
