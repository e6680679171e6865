/* Checking names of streams, types, topics, services and schemas. */
#include "domain/name.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

static pawl_status check_text(pawl_str name, const char *what, size_t bytes_max, pawl_error *err) {
    if (name.len == 0)
        return error_set(err, PAWL_INVALID, "name_check", "the %s is empty: give it 1 to %zu bytes", what,
                         bytes_max);
    if (name.len > bytes_max)
        return error_set(err, PAWL_INVALID, "name_check", "the %s is %zu bytes long: at most %zu are allowed",
                         what, name.len, bytes_max);
    for (size_t at = 0; at < name.len;) {
        uint32_t code = 0;
        size_t step = utf8_decode(name.ptr + at, name.len - at, &code);
        if (step == 0)
            return error_set(err, PAWL_INVALID, "name_check", "the %s is not valid UTF-8 at byte %zu", what,
                             at);
        if (utf8_is_control(code))
            return error_set(err, PAWL_INVALID, "name_check",
                             "the %s has a control character (U+%04X) at byte %zu: remove it", what,
                             (unsigned)code, at);
        at += step;
    }
    return PAWL_OK;
}

pawl_status name_check_stream(pawl_str stream, pawl_error *err) {
    return check_text(stream, "stream", PAWL_STREAM_BYTES_MAX, err);
}

pawl_status name_check_type(pawl_str type, pawl_error *err) {
    return check_text(type, "type", PAWL_TYPE_BYTES_MAX, err);
}

pawl_status name_check_topic(pawl_str topic, pawl_error *err) {
    return check_text(topic, "topic", PAWL_TOPIC_BYTES_MAX, err);
}

pawl_status name_check(pawl_str name, const char *what, pawl_error *err) {
    return check_text(name, what, PAWL_NAME_BYTES_MAX, err);
}

static bool is_schema_char(char c, bool first) {
    return (c >= 'a' && c <= 'z') || c == '_' || (!first && c >= '0' && c <= '9');
}

pawl_status name_check_schema(pawl_str schema, pawl_error *err) {
    pawl_status status = check_text(schema, "schema name", PAWL_SCHEMA_NAME_BYTES_MAX, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < schema.len; i++)
        if (!is_schema_char(schema.ptr[i], i == 0))
            return error_set(
                err, PAWL_INVALID, "name_check",
                "the schema name '%.*s' may have only a-z, 0-9 and _, and starts with a letter or _",
                STR_ARG(schema));
    if (str_starts_with(schema, STR("pg_")))
        return error_set(err, PAWL_INVALID, "name_check",
                         "the schema name '%.*s' starts with pg_, which PostgreSQL keeps for itself",
                         STR_ARG(schema));
    const pawl_str inner = STR("_internal");
    if (schema.len > inner.len && str_equal(str_skip(schema, schema.len - inner.len), inner))
        return error_set(err, PAWL_INVALID, "name_check",
                         "the schema name '%.*s' ends with _internal, as the schemas of pawl's own tables do",
                         STR_ARG(schema));
    return PAWL_OK;
}
