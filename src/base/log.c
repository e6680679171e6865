/* Structured log lines. */
#include "base/log.h"

#include <string.h>

#include "base/buf.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/utf8.h"

/* Separates the fields while they are formatted: a blank in the format separates fields, a blank in a value
 * does not. */
#define FIELD_END '\x1e'

static const char *const level_names[] = {"debug", "info", "warn", "error", "off"};

static const char *level_name(enum log_level level) {
    size_t index = (size_t)level;
    return index < sizeof level_names / sizeof level_names[0] ? level_names[index] : "off";
}

static bool is_key_char(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/* Whether text begins with key= */
static bool starts_key(const char *text) {
    size_t len = 0;
    while (is_key_char(text[len]))
        len++;
    return len > 0 && text[len] == '=';
}

/* The format with FIELD_END instead of the blanks between fields; returns how many fields it has. */
static size_t mark_fields(const char *fmt, struct buf *marked) {
    size_t fields = starts_key(fmt) ? 1 : 0;
    for (; *fmt != '\0'; fmt++) {
        if (*fmt == ' ' && starts_key(fmt + 1)) {
            buf_append_char(marked, FIELD_END);
            fields++;
        } else {
            buf_append_char(marked, *fmt);
        }
    }
    return fields;
}

/* A value that a reader can split at blanks and = needs no quotes. */
static bool is_plain(pawl_str value) {
    for (size_t at = 0; at < value.len;) {
        uint32_t code = 0;
        size_t step = utf8_decode(value.ptr + at, value.len - at, &code);
        if (step == 0 || utf8_is_control(code) || code == ' ' || code == '"' || code == '=' || code == '\\')
            return false;
        at += step;
    }
    return value.len > 0;
}

static void append_field(struct buf *line, pawl_str key, pawl_str value) {
    buf_append_char(line, ' ');
    buf_append_str(line, key);
    buf_append_char(line, '=');
    if (is_plain(value))
        buf_append_str(line, value);
    else
        json_quote(line, value);
}

static size_t count_char(pawl_str text, char c) {
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == c;
    return count;
}

/* Splits the formatted text at its marks. The keys are the format's own, so the first = ends a key. */
static void append_fields(struct buf *line, pawl_str text, size_t fields) {
    if (fields == 0 || count_char(text, FIELD_END) != fields - 1) {
        /* No fields, or a value that contains the mark: nothing in it may look like a field. */
        if (text.len > 0)
            append_field(line, STR("text"), text);
        return;
    }
    for (pawl_str field, value; str_next(&text, FIELD_END, &field);) {
        pawl_str key = str_before(field, '=', &value);
        append_field(line, key, value);
    }
}

static void emit(struct log *log, enum log_level level, const struct buf *line) {
    static const char cut_mark[] = " cut=true";
    char text[PAWL_LOG_LINE_BYTES_MAX + sizeof cut_mark];
    pawl_str shown = utf8_cut(buf_str(line), PAWL_LOG_LINE_BYTES_MAX);
    memcpy(text, shown.ptr, shown.len);
    text[shown.len] = '\0';
    size_t len = shown.len;
    if (shown.len < line->len || line->failed) {
        memcpy(text + len, cut_mark, sizeof cut_mark);
        len += sizeof cut_mark - 1;
    }
    if (log->callback != NULL) {
        log->callback(log->self, level, text);
        return;
    }
    text[len++] = '\n';
    /* There is nowhere to report that the log cannot be written. */
    (void)fwrite(text, 1, len, log->file);
    (void)fflush(log->file);
}

static void log_fields(struct log *log, enum log_level level, const char *event, const char *fmt,
                       va_list args) {
    char time[CLOCK_ISO_BYTES];
    struct buf marked, text, line;
    buf_init(&marked, PAWL_LOG_LINE_BYTES_MAX);
    buf_init(&text, PAWL_ERROR_BYTES_MAX * 4);
    buf_init(&line, 0);
    size_t fields = mark_fields(fmt, &marked);
/* The format was checked where log_event was called; only its blanks have changed. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    buf_vprintf(&text, marked.ptr, args);
#pragma GCC diagnostic pop
    buf_printf(&line, "time=%s level=%s event=%s", clock_format_iso(clock_wall_ms(), time), level_name(level),
               event);
    append_fields(&line, buf_str(&text), fields);
    if (marked.failed || text.failed)
        buf_append_cstr(&line, " cut=true");
    emit(log, level, &line);
    buf_free(&marked);
    buf_free(&text);
    buf_free(&line);
}

void log_event(struct log *log, enum log_level level, const char *event, const char *fmt, ...) {
    if (log == NULL || level < log->level || level >= LOG_LEVEL_OFF ||
        (log->file == NULL && log->callback == NULL))
        return;
    va_list args;
    va_start(args, fmt);
    log_fields(log, level, event, fmt, args);
    va_end(args);
}

void log_failure(struct log *log, enum log_level level, const char *event, const pawl_error *err) {
    log_event(log, level, event, "status=%s op=%s error=%s", pawl_status_name(err->status), err->op,
              err->text);
}
