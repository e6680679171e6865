/* Printing errors: one line on standard error, or a JSON object. */
#include "cli/fault.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/options/url.h"
#include "base/str.h"

static const char *status_hint(const struct fault *fault) {
    if (fault->exit_code == ERROR_EXIT_USAGE)
        return NULL; /* the text itself says what to write */
    switch (fault->err->status) {
    case PAWL_STALE:
        return "The grant has ended: drop it.";
    case PAWL_BUSY:
        return "Try again later.";
    case PAWL_UNAVAILABLE:
        return "Nothing was changed: try again when the cause is gone.";
    case PAWL_UNKNOWN:
        return "It may have happened: look before you try again.";
    case PAWL_NO_MEMORY:
        return "Ask for less at once, or give the program more memory.";
    case PAWL_DAMAGED:
        return "The fault is in the database file, not in pawl.";
    case PAWL_INTERNAL:
        return "This is a defect of pawl: please report it.";
    default:
        return NULL;
    }
}

static void print_json(FILE *file, const struct fault *fault, const char *text, const char *hint) {
    AUTO_BUF(line, 0);
    struct json_writer writer;
    json_writer_init(&writer, &line);
    json_begin_object(&writer);
    json_key(&writer, "error");
    json_cstr(&writer, text);
    json_key(&writer, "status");
    json_cstr(&writer, fault->exit_code == ERROR_EXIT_USAGE ? "usage" : pawl_status_name(fault->err->status));
    json_key(&writer, "exit_code");
    json_int(&writer, fault->exit_code);
    json_key(&writer, "hint");
    json_cstr(&writer, hint);
    json_key(&writer, "command");
    json_cstr(&writer, fault->what);
    json_key(&writer, "op");
    json_cstr(&writer, fault->err->op[0] != '\0' ? fault->err->op : NULL);
    json_end_object(&writer);
    fprintf(file, "%s\n", line.failed ? "{\"error\":\"no memory\"}" : line.ptr);
}

/* Ends a sentence, unless it ends already. */
static const char *stop_of(const char *text) {
    size_t len = strlen(text);
    return len > 0 && strchr(".?!", text[len - 1]) != NULL ? "" : ".";
}

void fault_print(FILE *file, const struct fault *fault) {
    AUTO_BUF(masked, 0);
    url_redact_text(&masked, fault->err->text);
    const char *text = masked.failed || masked.len == 0 ? pawl_status_name(fault->err->status) : masked.ptr;
    const char *hint = fault->hint != NULL ? fault->hint : status_hint(fault);
    if (fault->json)
        print_json(file, fault, text, hint);
    else
        fprintf(file, "pawl: %s%s%s%s%s%s\n", fault->what != NULL ? fault->what : "",
                fault->what != NULL ? ": " : "", text, stop_of(text), hint != NULL ? " " : "",
                hint != NULL ? hint : "");
}
