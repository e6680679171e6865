/* Fuzzes event streams: however one is cut into pieces, its events are those of a second, plain reading. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "fuzz.h"
#include "handler/mcp/events.h"

enum { BYTES_MAX = 4096 };

static bool keep(void *self, pawl_str data) {
    buf_append_str(self, data);
    buf_append_char(self, '\0');
    return true;
}

/* The lines of the whole text at once. */
static void read_plainly(pawl_str text, struct buf *kept) {
    AUTO_BUF(data, 0);
    size_t at = 0;
    while (at < text.len) {
        size_t end = at;
        while (end < text.len && text.ptr[end] != '\n' && text.ptr[end] != '\r')
            end++;
        if (end == text.len)
            return; /* no line */
        pawl_str line = {text.ptr + at, end - at};
        at = end + (text.ptr[end] == '\r' && end + 1 < text.len && text.ptr[end + 1] == '\n' ? 2 : 1);
        bool bare = str_equal_cstr(line, "data");
        if (line.len == 0 && data.len > 0) {
            keep(kept, buf_str(&data));
            buf_reset(&data);
        } else if (bare || str_starts_with(line, STR("data:"))) {
            pawl_str value = str_skip(line, bare ? 4 : 5);
            if (data.len > 0)
                buf_append_char(&data, '\n');
            buf_append_str(&data, value.len > 0 && value.ptr[0] == ' ' ? str_skip(value, 1) : value);
        }
    }
}

/* The first byte says how big the pieces are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > BYTES_MAX)
        return 0;
    pawl_str text = {(const char *)data + 1, size - 1};
    size_t step = 1 + data[0] % 16;
    struct events events;
    AUTO_BUF(kept, 0);
    AUTO_BUF(plain, 0);
    events_init(&events, BYTES_MAX);
    for (pawl_str rest = text; rest.len > 0; rest = str_skip(rest, step))
        must(events_feed(&events, (pawl_str){rest.ptr, rest.len < step ? rest.len : step}, keep, &kept));
    must(events.retry_ms >= -1 && strlen(events.id) < sizeof events.id);
    events_free(&events);
    read_plainly(text, &plain);
    must(str_equal(buf_str(&kept), buf_str(&plain)));
    return 0;
}
