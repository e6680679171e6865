/* Parsing and writing trace context, and sampling. */
#include "domain/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* version - trace id - span id - flags */
enum { AT_TRACE = 3, AT_SPAN = 36, AT_FLAGS = 53, TEXT_LEN = TRACEPARENT_BYTES - 1 };

/* Capital letters are not allowed there. */
static bool read_hex(const char *text, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0 || (text[2 * i] >= 'A' && text[2 * i] <= 'F') ||
            (text[2 * i + 1] >= 'A' && text[2 * i + 1] <= 'F'))
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool all_zero(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

bool trace_parse(pawl_str text, struct trace_context *context) {
    struct trace_context read;
    uint8_t version = 0;
    if (text.len < TEXT_LEN || !read_hex(text.ptr, &version, 1) || version == 0xff)
        return false;
    if (text.len > TEXT_LEN && (version == 0 || text.ptr[TEXT_LEN] != '-'))
        return false;
    if (text.ptr[AT_TRACE - 1] != '-' || text.ptr[AT_SPAN - 1] != '-' || text.ptr[AT_FLAGS - 1] != '-')
        return false;
    if (!read_hex(text.ptr + AT_TRACE, read.trace_id, TRACE_ID_BYTES) ||
        !read_hex(text.ptr + AT_SPAN, read.span_id, SPAN_ID_BYTES) ||
        !read_hex(text.ptr + AT_FLAGS, &read.flags, 1))
        return false;
    if (all_zero(read.trace_id, TRACE_ID_BYTES) || all_zero(read.span_id, SPAN_ID_BYTES))
        return false;
    read.flags &= TRACE_SAMPLED;
    *context = read;
    return true;
}

char *trace_format(const struct trace_context *context, char text[static TRACEPARENT_BYTES]) {
    memcpy(text, "00-", AT_TRACE);
    hex_format(context->trace_id, TRACE_ID_BYTES, text + AT_TRACE);
    text[AT_SPAN - 1] = '-';
    hex_format(context->span_id, SPAN_ID_BYTES, text + AT_SPAN);
    text[AT_FLAGS - 1] = '-';
    hex_format(&context->flags, 1, text + AT_FLAGS);
    return text;
}

static bool read_ratio(pawl_str text, double *ratio) {
    char copy[32];
    char *end = NULL;
    if (str_absent(text) || text.len == 0) {
        *ratio = 1;
        return true;
    }
    if (text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    double value = strtod(copy, &end);
    if (*end != '\0' || !isfinite(value) || value < 0 || value > 1)
        return false;
    *ratio = value;
    return true;
}

bool trace_sampler_parse(pawl_str name, pawl_str argument, struct trace_sampler *sampler) {
    pawl_str prefix = STR("parentbased_");
    struct trace_sampler read = {.follows_parent = str_starts_with(name, prefix), .ratio = 1};
    if (read.follows_parent)
        name = (pawl_str){name.ptr + prefix.len, name.len - prefix.len};
    if (str_equal_cstr(name, "always_off"))
        read.ratio = 0;
    else if (str_equal_cstr(name, "traceidratio")) {
        if (!read_ratio(argument, &read.ratio))
            return false;
    } else if (!str_equal_cstr(name, "always_on"))
        return false;
    *sampler = read;
    return true;
}

bool trace_sampled(const struct trace_sampler *sampler, const struct trace_context *parent,
                   const uint8_t trace_id[static TRACE_ID_BYTES]) {
    if (sampler->follows_parent && parent != NULL)
        return (parent->flags & TRACE_SAMPLED) != 0;
    if (sampler->ratio >= 1)
        return true;
    /* The last 63 bits: the end of a trace id is its random part. */
    uint64_t number = 0;
    for (int i = 8; i < TRACE_ID_BYTES; i++)
        number = number << 8 | trace_id[i];
    return (double)(number >> 1) < sampler->ratio * 9223372036854775808.0;
}
