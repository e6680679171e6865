/* Error structs: formatting their text, and the exit codes of statuses. */
#define BASE_ERROR_C
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One more than the struct holds: a text that is cut here is then seen to be too long, and cut at a
 * character. */
#define TEXT_BYTES (sizeof(((pawl_error *)0)->text) + 1)

struct status_row {
    const char *name;
    int exit_code;
};

static const struct status_row status_rows[] = {
    [PAWL_OK] = {"ok", 0},
    [PAWL_INVALID] = {"invalid", 65},
    [PAWL_NOT_FOUND] = {"not found", 66},
    [PAWL_CONFLICT] = {"conflict", 73},
    [PAWL_STALE] = {"stale", 74},
    [PAWL_BUSY] = {"busy", 75},
    [PAWL_UNAVAILABLE] = {"unavailable", 69},
    [PAWL_UNKNOWN] = {"unknown", 76},
    [PAWL_NO_MEMORY] = {"no memory", 71},
    [PAWL_DAMAGED] = {"damaged", 72},
    [PAWL_INTERNAL] = {"internal", 70},
};

static const struct status_row *status_row(pawl_status status) {
    size_t count = sizeof status_rows / sizeof status_rows[0];
    size_t index = (size_t)status;
    return index < count ? &status_rows[index] : &status_rows[PAWL_INTERNAL];
}

const char *pawl_status_name(pawl_status status) { return status_row(status)->name; }

int error_exit_code(pawl_status status) { return status_row(status)->exit_code; }

/* Writes one byte, escaped if necessary, into form (up to 4 bytes) and returns the length. */
static size_t escape_byte(unsigned char byte, char form[static 4]) {
    static const char hex[] = "0123456789abcdef";
    const char escaped[] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    memcpy(form, escaped, sizeof escaped);
    if (byte >= 0x20 && byte != 0x7f) {
        form[0] = (char)byte;
        return 1;
    }
    if (byte != '\n' && byte != '\r' && byte != '\t')
        return 4;
    form[1] = byte == '\n' ? 'n' : byte == '\r' ? 'r' : 't';
    return 2;
}

/* Copies text with control characters escaped; text that does not fit is cut at a character boundary. */
static void copy_escaped(char *out, size_t size, const char *text) {
    size_t used = 0;
    for (; *text != '\0'; text++) {
        char form[4];
        size_t len = escape_byte((unsigned char)*text, form);
        if (used + len >= size)
            break;
        memcpy(out + used, form, len);
        used += len;
    }
    if (*text != '\0') {
        /* Do not end with half of a multi-byte character. */
        while (used > 0 && ((unsigned char)out[used - 1] & 0xc0) == 0x80)
            used--;
        if (used > 0 && (unsigned char)out[used - 1] >= 0xc0)
            used--;
    }
    out[used] = '\0';
}

/* The arguments may point into err itself ("cannot open the store: <text of the inner error>"), hence the
 * copies. */
static pawl_status fill(pawl_error *err, pawl_status status, const char *op, const char *text) {
    char name[sizeof err->op];
    snprintf(name, sizeof name, "%s", op != NULL ? op : "");
    err->status = status;
    copy_escaped(err->op, sizeof err->op, name);
    copy_escaped(err->text, sizeof err->text, text);
    return status;
}

/* code: an errno value whose meaning follows the text; 0 = none. */
__attribute__((format(printf, 5, 0))) static pawl_status set(pawl_error *err, pawl_status status,
                                                             const char *op, int code, const char *fmt,
                                                             va_list args) {
    char text[TEXT_BYTES], scratch[128];
    int len = vsnprintf(text, sizeof text, fmt, args);
    if (code != 0 && len >= 0 && (size_t)len < sizeof text)
        snprintf(text + len, sizeof text - (size_t)len, ": %s", strerror_r(code, scratch, sizeof scratch));
    return fill(err, status, op, len >= 0 ? text : fmt);
}

pawl_status error_set(pawl_error *err, pawl_status status, const char *op, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (err != NULL)
        (void)set(err, status, op, 0, fmt, args);
    va_end(args);
    return status;
}

pawl_status error_errno(pawl_error *err, pawl_status status, const char *op, int code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (err != NULL)
        (void)set(err, status, op, code, fmt, args);
    va_end(args);
    return status;
}

void error_clear(pawl_error *err) {
    if (err == NULL)
        return;
    err->status = PAWL_OK;
    err->op[0] = '\0';
    err->text[0] = '\0';
}
