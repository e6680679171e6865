/* What a failure means for the work. */
#include "domain/failure/errclass.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

struct named_class {
    const char *name;
    enum errclass error_class;
};

static const struct named_class class_names[] = {
    {"retryable", ERRCLASS_RETRYABLE},
    {"permanent", ERRCLASS_PERMANENT},
    {"fatal", ERRCLASS_FATAL},
};

/* The words people use for their errors. */
static const struct named_class error_names[] = {
    {"timeout", ERRCLASS_RETRYABLE},       {"network", ERRCLASS_RETRYABLE},
    {"connection", ERRCLASS_RETRYABLE},    {"unavailable", ERRCLASS_RETRYABLE},
    {"busy", ERRCLASS_RETRYABLE},          {"rate_limited", ERRCLASS_RETRYABLE},
    {"temporary", ERRCLASS_RETRYABLE},     {"schema", ERRCLASS_PERMANENT},
    {"validation", ERRCLASS_PERMANENT},    {"invalid", ERRCLASS_PERMANENT},
    {"auth", ERRCLASS_PERMANENT},          {"authentication", ERRCLASS_PERMANENT},
    {"authorization", ERRCLASS_PERMANENT}, {"forbidden", ERRCLASS_PERMANENT},
    {"scope", ERRCLASS_PERMANENT},         {"not_found", ERRCLASS_PERMANENT},
    {"unsupported", ERRCLASS_PERMANENT},   {"crash", ERRCLASS_FATAL},
    {"database_lost", ERRCLASS_FATAL},     {"out_of_memory", ERRCLASS_FATAL},
    {"configuration", ERRCLASS_PERMANENT},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct named_class *find(const struct named_class *rows, size_t count, pawl_str name) {
    for (size_t i = 0; i < count; i++)
        if (name.len == strlen(rows[i].name) && strncasecmp(name.ptr, rows[i].name, name.len) == 0)
            return &rows[i];
    return NULL;
}

const char *errclass_name(enum errclass error_class) {
    for (size_t i = 0; i < COUNT(class_names); i++)
        if (class_names[i].error_class == error_class)
            return class_names[i].name;
    return "retryable";
}

bool errclass_parse(pawl_str text, enum errclass *error_class) {
    const struct named_class *row = find(class_names, COUNT(class_names), text);
    if (row == NULL)
        return false;
    *error_class = row->error_class;
    return true;
}

enum errclass errclass_from_status(pawl_status status) {
    switch (status) {
    case PAWL_INVALID:
    case PAWL_NOT_FOUND:
    case PAWL_CONFLICT:
        return ERRCLASS_PERMANENT;
    case PAWL_NO_MEMORY:
    case PAWL_DAMAGED:
    case PAWL_INTERNAL:
        return ERRCLASS_FATAL;
    case PAWL_OK:
    case PAWL_STALE: /* somebody else has the work by now */
    case PAWL_BUSY:
    case PAWL_UNAVAILABLE:
    case PAWL_UNKNOWN:
        break;
    }
    return ERRCLASS_RETRYABLE;
}

enum errclass errclass_from_exit(int exit_code) {
    switch (exit_code) {
    case 64:
    case 65:
    case 66:
    case 67:
    case 68:
    case 77:
    case 78:
        return ERRCLASS_PERMANENT;
    default:
        return ERRCLASS_RETRYABLE;
    }
}

enum errclass errclass_from_signal(int signal_number) {
    (void)signal_number;
    return ERRCLASS_RETRYABLE;
}

enum errclass errclass_from_http(int http_status) {
    if (http_status == 408 || http_status == 425 || http_status == 429 || http_status >= 500)
        return ERRCLASS_RETRYABLE;
    return ERRCLASS_PERMANENT;
}

enum errclass errclass_from_name(pawl_str name) {
    const struct named_class *row = find(error_names, COUNT(error_names), name);
    return row != NULL ? row->error_class : ERRCLASS_RETRYABLE;
}
