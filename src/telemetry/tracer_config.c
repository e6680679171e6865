/* Reading the OTEL_… environment variables. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/json.h"
#include "base/str.h"
#include "telemetry/tracer_int.h"

/* As OpenTelemetry specifies, an empty variable counts as unset. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *either(const char *first, const char *second) {
    const char *value = variable(first);
    return value != NULL ? value : variable(second);
}

static void refuse(struct log *log, const char *name, const char *why) {
    log_event(log, LOG_LEVEL_WARN, "trace_option_refused", "variable=%s reason=%s", name, why);
}

static int64_t number(struct log *log, const char *name, int64_t min, int64_t max, int64_t otherwise) {
    int64_t value = 0;
    const char *text = variable(name);
    if (text == NULL)
        return otherwise;
    if (str_to_i64(str_from(text), min, max, &value))
        return value;
    refuse(log, name, "it is no whole number in the range that is allowed");
    return otherwise;
}

/* Percent signs are undone. */
static pawl_str plain(struct arena *arena, pawl_str text) {
    char *copy = arena_copy(arena, text.ptr, text.len);
    size_t len = 0;
    for (size_t i = 0; copy != NULL && i < text.len; i++) {
        int high = i + 2 < text.len && text.ptr[i] == '%' ? hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
        copy[len++] = low >= 0 ? (char)(high << 4 | low) : text.ptr[i];
        i += low >= 0 ? 2 : 0;
    }
    if (copy != NULL)
        copy[len] = '\0';
    return (pawl_str){copy, copy != NULL ? len : 0};
}

/* Takes "key=value" off the front of "a=1,b=2". False: there is none left; *key is absent for a piece that
 * is no pair. */
static bool next_pair(struct arena *arena, pawl_str *rest, pawl_str *key, pawl_str *value) {
    pawl_str piece, text;
    if (!str_next(rest, ',', &piece))
        return false;
    pawl_str name = str_trim(str_before(piece, '=', &text));
    *key = *value = (pawl_str){NULL, 0};
    if (!str_absent(text) && name.len > 0) {
        *key = plain(arena, name);
        *value = plain(arena, str_trim(text));
    }
    return true;
}

static void read_headers(struct arena *arena, struct log *log, struct tracer_config *config) {
    const char *name = "OTEL_EXPORTER_OTLP_HEADERS";
    pawl_str rest = str_from(either("OTEL_EXPORTER_OTLP_TRACES_HEADERS", name)), key, value;
    config->headers[config->header_count++] =
        (struct http_header){"Content-Type", STR_INIT("application/json")};
    while (next_pair(arena, &rest, &key, &value)) {
        if (str_absent(key) || config->header_count == TRACER_HEADERS_MAX)
            refuse(log, name, "it is a list of at most 31 KEY=VALUE");
        else
            config->headers[config->header_count++] = (struct http_header){key.ptr, value};
    }
}

/* Attributes from the environment first, then our own. */
static bool make_resource(const char *service, struct arena *arena, struct log *log,
                          struct tracer_config *config) {
    struct json_writer json;
    struct buf buf;
    char host[256] = "";
    const char *name = variable("OTEL_SERVICE_NAME");
    bool named = name != NULL;
    pawl_str rest = str_from(variable("OTEL_RESOURCE_ATTRIBUTES")), key, value;
    pawl_error err;
    buf_init(&buf, 0);
    json_writer_init(&json, &buf);
    json_begin_object(&json);
    json_key(&json, "attributes");
    json_begin_array(&json);
    while (next_pair(arena, &rest, &key, &value)) {
        bool is_name = !str_absent(key) && str_equal_cstr(key, "service.name");
        if (str_absent(key))
            refuse(log, "OTEL_RESOURCE_ATTRIBUTES", "it is a list of KEY=VALUE");
        else if (!is_name || name == NULL)
            otlp_text(&json, key.ptr, value);
        named = named || is_name;
    }
    if (name != NULL || !named)
        otlp_text(&json, "service.name", str_from(name != NULL ? name : service));
    otlp_text(&json, "service.version", STR(PAWL_VERSION));
    otlp_text(&json, "telemetry.sdk.name", STR("pawl"));
    otlp_text(&json, "telemetry.sdk.language", STR("c"));
    otlp_text(&json, "telemetry.sdk.version", STR(PAWL_VERSION));
    if (gethostname(host, sizeof(host) - 1) == 0)
        otlp_text(&json, "host.name", str_from(host));
    otlp_number(&json, "process.pid", (int64_t)getpid());
    json_end_array(&json);
    json_end_object(&json);
    return str_keep(arena, &buf, "traces", &config->resource, &err) == PAWL_OK;
}

static void read_sampler(struct log *log, struct tracer_config *config) {
    const char *name = variable("OTEL_TRACES_SAMPLER");
    config->sampler = (struct trace_sampler){.follows_parent = true, .ratio = 1};
    if (name != NULL &&
        !trace_sampler_parse(str_from(name), str_from(variable("OTEL_TRACES_SAMPLER_ARG")), &config->sampler))
        refuse(log, "OTEL_TRACES_SAMPLER",
               "it is always_on, always_off, traceidratio or one of these after parentbased_, with a share "
               "from 0 to 1 in OTEL_TRACES_SAMPLER_ARG");
}

/* Whether tracing is requested, and with a protocol that we support. */
static bool wanted(struct log *log) {
    const char *off = variable("OTEL_SDK_DISABLED"), *exporter = variable("OTEL_TRACES_EXPORTER");
    const char *protocol = either("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
    if (off != NULL && strcmp(off, "true") == 0)
        return false;
    if (exporter == NULL &&
        either("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT") == NULL)
        return false;
    if (exporter != NULL && strcmp(exporter, "none") == 0)
        return false;
    if (exporter != NULL && strcmp(exporter, "otlp") != 0) {
        refuse(log, "OTEL_TRACES_EXPORTER", "pawl exports otlp or none: no traces are sent");
        return false;
    }
    if (protocol != NULL && strcmp(protocol, "grpc") == 0) {
        refuse(log, "OTEL_EXPORTER_OTLP_PROTOCOL", "pawl speaks http/json only: no traces are sent");
        return false;
    }
    return true;
}

static bool read_address(struct arena *arena, struct log *log, struct tracer_config *config) {
    const char *exact = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    const char *base = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
    pawl_error err;
    if (base == NULL)
        base = "http://localhost:4318";
    size_t len = strlen(base);
    while (len > 0 && base[len - 1] == '/')
        len--;
    config->url = exact != NULL ? arena_strdup(arena, exact)
                                : arena_printf(arena, "%.*s/v1/traces", (int)len, base);
    if (config->url == NULL)
        return false;
    if (http_check_url(config->url, &err) == PAWL_OK)
        return true;
    refuse(log, exact != NULL ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT",
           err.text);
    return false;
}

bool tracer_config_read(const char *service, struct arena *arena, struct log *log,
                        struct tracer_config *config) {
    struct tracer_config read = {.header_count = 0};
    const char *ca_file = either("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE");
    if (!wanted(log) || !read_address(arena, log, &read) || !make_resource(service, arena, log, &read))
        return false;
    read_headers(arena, log, &read);
    read_sampler(log, &read);
    read.ca_file = ca_file != NULL ? arena_strdup(arena, ca_file) : NULL;
    read.queue_max = number(log, "OTEL_BSP_MAX_QUEUE_SIZE", 1, TRACER_QUEUE_MAX, TRACER_QUEUE_DEFAULT);
    read.batch_max = number(log, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1, TRACER_QUEUE_MAX, TRACER_BATCH_DEFAULT);
    if (read.batch_max > read.queue_max)
        read.batch_max = read.queue_max;
    read.delay_ms = number(log, "OTEL_BSP_SCHEDULE_DELAY", 1, TRACER_MS_MAX, TRACER_DELAY_MS_DEFAULT);
    read.export_ms = number(log, "OTEL_BSP_EXPORT_TIMEOUT", 1, TRACER_MS_MAX, TRACER_EXPORT_MS_DEFAULT);
    read.call_ms = number(log, "OTEL_EXPORTER_OTLP_TIMEOUT", 1, TRACER_MS_MAX, TRACER_CALL_MS_DEFAULT);
    read.call_ms = number(log, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", 1, TRACER_MS_MAX, read.call_ms);
    *config = read;
    return true;
}
