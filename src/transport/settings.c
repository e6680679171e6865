/* Reading and checking the transports file. */
#include "transport/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/options/secret.h"
#include "base/options/url.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "domain/pattern.h"

enum section { SECTION_NONE = 0, SECTION_TRANSPORT, SECTION_ROUTE, SECTION_SUBSCRIBE, SECTION_SPINE };

#define SECTIONS "[transport NAME], [route PATTERN], [subscribe FROM] or [spine]"

enum { KEYS_MAX = 32 };

struct reader {
    struct transport_settings *settings;
    const char *path;
    int line, section_line;
    enum section section;
    bool named; /* the section names its transport */
    const char *seen[KEYS_MAX];
    size_t seen_count;
};

static pawl_status fault(const struct reader *reader, int line, pawl_status status, const char *reason,
                         pawl_error *err) {
    return error_set(err, status, "transports file", "%s:%d: %s", reader->path, line, reason);
}

static struct transport_setting *this_transport(struct reader *r) {
    return &r->settings->transports[r->settings->transport_count - 1];
}
static struct route_setting *this_route(struct reader *r) {
    return &r->settings->routes[r->settings->route_count - 1];
}
static struct subscription_setting *this_subscription(struct reader *r) {
    return &r->settings->subscriptions[r->settings->subscription_count - 1];
}

static const char *copy(struct reader *reader, pawl_str value) {
    return arena_copy(reader->settings->arena, value.ptr, value.len);
}

/* NAME, NAME-env or NAME-file: the value itself, from a variable, or from a file. */
static const char *from_somewhere(struct reader *reader, pawl_str value, const char *how) {
    const char *text = copy(reader, value);
    if (text == NULL || strcmp(how, "") == 0)
        return text;
    if (strcmp(how, "-env") == 0) {
        const char *found = secure_getenv(text);
        return found != NULL && found[0] != '\0' ? copy(reader, str_from(found)) : NULL;
    }
    return secret_file_read(reader->settings->arena, text);
}

static bool read_ms(pawl_str value, int *ms) {
    int64_t read = 0;
    if (!clock_parse_duration(value, &read) || read < 1 || read > PAWL_TIMEOUT_MS_MAX)
        return false;
    *ms = (int)read;
    return true;
}

static bool t_url(struct reader *r, pawl_str v, const char *how) {
    return (this_transport(r)->config.url = from_somewhere(r, v, how)) != NULL;
}
static bool t_user(struct reader *r, pawl_str v, const char *how) {
    return (this_transport(r)->config.user = from_somewhere(r, v, how)) != NULL;
}
static bool t_password(struct reader *r, pawl_str v, const char *how) {
    return (this_transport(r)->config.password = from_somewhere(r, v, how)) != NULL;
}
static bool t_ca(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return (this_transport(r)->config.ca_file = copy(r, v)) != NULL;
}
static bool t_cert(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return (this_transport(r)->config.cert_file = copy(r, v)) != NULL;
}
static bool t_key(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return (this_transport(r)->config.key_file = copy(r, v)) != NULL;
}
static bool t_connect(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return read_ms(v, &this_transport(r)->config.connect_ms);
}
static bool t_confirm(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return read_ms(v, &this_transport(r)->config.confirm_ms);
}
static bool t_failures(struct reader *r, pawl_str v, const char *how) {
    int64_t number = 0;
    (void)how;
    if (!str_to_i64(v, 1, 1000000, &number))
        return false;
    this_transport(r)->breaker_failures = (int)number;
    return true;
}
static bool t_pause(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return clock_parse_duration(v, &this_transport(r)->breaker_ms) && this_transport(r)->breaker_ms > 0 &&
           this_transport(r)->breaker_ms <= PAWL_TIMEOUT_MS_MAX;
}

static bool find_transport(struct reader *r, pawl_str v, size_t *at) {
    for (size_t i = 0; i < r->settings->transport_count; i++) {
        if (str_equal_cstr(v, r->settings->transports[i].name)) {
            *at = i;
            r->named = true;
            return true;
        }
    }
    return false;
}
static bool r_transport(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return find_transport(r, v, &this_route(r)->transport);
}
static bool r_to(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    this_route(r)->to = (pawl_str){copy(r, v), v.len};
    return v.len > 0 && v.len <= PAWL_TOPIC_BYTES_MAX;
}
static bool r_rate(struct reader *r, pawl_str v, const char *how) {
    int64_t number = 0;
    (void)how;
    if (!str_to_i64(v, 1, SETTINGS_RATE_MAX, &number))
        return false;
    this_route(r)->rate = (int)number;
    return true;
}
static bool r_attempts(struct reader *r, pawl_str v, const char *how) {
    int64_t number = 0;
    (void)how;
    if (!str_to_i64(v, 1, PAWL_ATTEMPTS_MAX, &number))
        return false;
    this_route(r)->rules.max_attempts = (int)number;
    return true;
}
static bool r_concurrency(struct reader *r, pawl_str v, const char *how) {
    int64_t number = 0;
    (void)how;
    if (!str_to_i64(v, 1, 1024, &number))
        return false;
    this_route(r)->rules.concurrency = (int)number;
    return true;
}
static bool r_base(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return clock_parse_duration(v, &this_route(r)->rules.retry_base_ms) &&
           this_route(r)->rules.retry_base_ms > 0;
}
static bool r_max(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return clock_parse_duration(v, &this_route(r)->rules.retry_max_ms) &&
           this_route(r)->rules.retry_max_ms > 0;
}
static bool r_dead(struct reader *r, pawl_str v, const char *how) {
    static const char *const names[] = {"block", "skip", "park"};
    (void)how;
    for (int i = 0; i < 3; i++) {
        if (str_equal_cstr(v, names[i])) {
            this_route(r)->rules.on_dead = (pawl_on_dead)(PAWL_ON_DEAD_BLOCK + i);
            return true;
        }
    }
    return false;
}
static bool s_transport(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return find_transport(r, v, &this_subscription(r)->transport);
}
static bool s_text(struct reader *r, pawl_str v, pawl_str *field) {
    *field = (pawl_str){copy(r, v), v.len};
    return v.len > 0 && v.len <= PAWL_NAME_BYTES_MAX;
}
static bool s_group(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return s_text(r, v, &this_subscription(r)->group);
}
static bool s_consumer(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return s_text(r, v, &this_subscription(r)->consumer);
}
static bool s_topic(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return s_text(r, v, &this_subscription(r)->topic);
}

static bool e_transport(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return find_transport(r, v, &r->settings->spine.transport);
}
static bool e_length(struct reader *r, pawl_str v, const char *how) {
    (void)how;
    return str_to_i64(v, 1, SETTINGS_SPINE_LENGTH_MAX, &r->settings->spine.max_length);
}

/* secret: NAME-env and NAME-file are keys as well. */
static const struct key_row {
    enum section section;
    const char *key;
    bool secret;
    bool (*read)(struct reader *reader, pawl_str value, const char *how);
    const char *wanted;
} key_rows[] = {
    {SECTION_TRANSPORT, "url", true, t_url,
     "url needs an address; url-env a variable and url-file a file that has one"},
    {SECTION_TRANSPORT, "user", true, t_user,
     "user needs a name; user-env a variable and user-file a file that has one"},
    {SECTION_TRANSPORT, "password", true, t_password,
     "the variable of password-env or the file of password-file is empty or cannot be read"},
    {SECTION_TRANSPORT, "ca-file", false, t_ca, "ca-file needs a path"},
    {SECTION_TRANSPORT, "cert-file", false, t_cert, "cert-file needs a path"},
    {SECTION_TRANSPORT, "key-file", false, t_key, "key-file needs a path"},
    {SECTION_TRANSPORT, "connect-timeout", false, t_connect,
     "connect-timeout needs a duration up to 1h, for example 5s"},
    {SECTION_TRANSPORT, "confirm-timeout", false, t_confirm,
     "confirm-timeout needs a duration up to 1h, for example 10s"},
    {SECTION_TRANSPORT, "breaker-failures", false, t_failures, "breaker-failures needs a number above 0"},
    {SECTION_TRANSPORT, "breaker-pause", false, t_pause, "breaker-pause needs a duration, for example 1s"},
    {SECTION_ROUTE, "transport", false, r_transport, "transport needs the name of a [transport NAME] above"},
    {SECTION_ROUTE, "to", false, r_to, "to needs a destination, for example orders or {topic}"},
    {SECTION_ROUTE, "rate", false, r_rate, "rate needs messages per second, from 1 to 1000000"},
    {SECTION_ROUTE, "max-attempts", false, r_attempts, "max-attempts needs a number from 1 to 1000"},
    {SECTION_ROUTE, "concurrency", false, r_concurrency, "concurrency needs a number from 1 to 1024"},
    {SECTION_ROUTE, "retry-base", false, r_base, "retry-base needs a duration above 0, for example 1s"},
    {SECTION_ROUTE, "retry-max", false, r_max, "retry-max needs a duration above 0, for example 60s"},
    {SECTION_ROUTE, "on-dead", false, r_dead, "on-dead needs block, skip or park"},
    {SECTION_SUBSCRIBE, "transport", false, s_transport,
     "transport needs the name of a [transport NAME] above"},
    {SECTION_SUBSCRIBE, "group", false, s_group, "group needs a name"},
    {SECTION_SUBSCRIBE, "consumer", false, s_consumer, "consumer needs a name"},
    {SECTION_SUBSCRIBE, "topic", false, s_topic, "topic needs a name"},
    {SECTION_SPINE, "transport", false, e_transport, "transport needs the name of a [transport NAME] above"},
    {SECTION_SPINE, "max-length", false, e_length, "max-length needs a number from 1 to 100000000"},
};

/* Settings that only a module knows. */
static bool is_option(pawl_str key) {
    static const char *const names[] = {"exchange",   "max-length", "sas",         "token-lifetime",
                                        "structured", "consumer",   "database-url"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (str_equal_cstr(key, names[i]))
            return true;
    }
    return str_starts_with(key, STR("kafka."));
}

static pawl_status add_option(struct reader *reader, pawl_str key, pawl_str value, pawl_error *err) {
    struct transport_setting *transport = this_transport(reader);
    const char *name = copy(reader, key), *text = copy(reader, value);
    if (transport->config.option_count == TRANSPORT_OPTIONS_MAX)
        return fault(reader, reader->line, PAWL_INVALID, "too many settings of one module", err);
    if (name == NULL || text == NULL)
        return fault(reader, reader->line, PAWL_NO_MEMORY, "out of memory", err);
    transport->options[transport->config.option_count++] = (struct transport_option){name, text};
    return PAWL_OK;
}

/* "" when key is the row's own, "-env" or "-file" when it is the row's with that ending, else NULL. */
static const char *how_of(const struct key_row *row, pawl_str key) {
    static const char *const ways[] = {"", "-env", "-file"};
    for (size_t i = 0; i < (row->secret ? 3u : 1u); i++) {
        char name[48];
        snprintf(name, sizeof(name), "%s%s", row->key, ways[i]);
        if (str_equal_cstr(key, name))
            return ways[i];
    }
    return NULL;
}

static pawl_status key_value(struct reader *reader, pawl_str line, pawl_error *err) {
    const char *equals = memchr(line.ptr, '=', line.len);
    if (equals == NULL || reader->section == SECTION_NONE)
        return fault(reader, reader->line, PAWL_INVALID,
                     equals == NULL ? "a line is [SECTION], key = value, or starts with #"
                                    : "a section must come first: " SECTIONS,
                     err);
    pawl_str key = str_trim((pawl_str){line.ptr, (size_t)(equals - line.ptr)});
    pawl_str value = str_trim((pawl_str){equals + 1, (size_t)(line.ptr + line.len - equals - 1)});
    for (size_t i = 0; i < sizeof(key_rows) / sizeof(*key_rows); i++) {
        const struct key_row *row = &key_rows[i];
        const char *how = row->section == reader->section ? how_of(row, key) : NULL;
        if (how == NULL)
            continue;
        for (size_t j = 0; j < reader->seen_count; j++) {
            if (reader->seen[j] == row->key)
                return fault(reader, reader->line, PAWL_INVALID, "the key is given twice in this section",
                             err);
        }
        if (reader->seen_count < KEYS_MAX)
            reader->seen[reader->seen_count++] = row->key;
        return row->read(reader, value, how) ? PAWL_OK
                                             : fault(reader, reader->line, PAWL_INVALID, row->wanted, err);
    }
    if (reader->section == SECTION_TRANSPORT && is_option(key))
        return add_option(reader, key, value, err);
    char reason[128];
    snprintf(reason, sizeof(reason), "unknown key '%.*s' in this section; see docs/transports.md",
             key.len < 40 ? (int)key.len : 40, key.ptr);
    return fault(reader, reader->line, PAWL_INVALID, reason, err);
}

static pawl_status transport_end(struct reader *reader, pawl_error *err) {
    struct transport_setting *transport = this_transport(reader);
    const struct transport_known *known = transport_known_for(str_from(transport->config.url));
    if (transport->config.url == NULL)
        return fault(reader, reader->section_line, PAWL_INVALID, "the transport has no url", err);
    if (known == NULL)
        return fault(reader, reader->section_line, PAWL_NOT_FOUND,
                     "no transport has this kind of address; pawl transport list shows the schemes", err);
    pawl_error inner = {0};
    pawl_status status = transport_load(known->name, &transport->module, &inner);
    transport->config.options = transport->options;
    return status == PAWL_OK ? PAWL_OK : fault(reader, reader->section_line, status, inner.text, err);
}

static pawl_status section_end(struct reader *reader, pawl_error *err) {
    if (reader->section == SECTION_TRANSPORT)
        return transport_end(reader, err);
    if (reader->section != SECTION_NONE && !reader->named)
        return fault(reader, reader->section_line, PAWL_INVALID,
                     "the section names no transport: transport = NAME", err);
    if (reader->section == SECTION_SUBSCRIBE &&
        reader->settings->transports[this_subscription(reader)->transport].module->subscribe == NULL)
        return fault(reader, reader->section_line, PAWL_INVALID, "this transport cannot be read from", err);
    return PAWL_OK;
}

static bool new_section(struct reader *reader, pawl_str kind, pawl_str name, const char **reason) {
    struct transport_settings *settings = reader->settings;
    *reason = "there are too many sections of this kind";
    if (str_equal_cstr(kind, "transport") && settings->transport_count < SETTINGS_TRANSPORTS_MAX) {
        reader->section = SECTION_TRANSPORT;
        struct transport_setting *made = &settings->transports[settings->transport_count++];
        *made = (struct transport_setting){.name = copy(reader, name),
                                           .breaker_failures = SETTINGS_BREAKER_FAILURES_DEFAULT,
                                           .breaker_ms = SETTINGS_BREAKER_MS_DEFAULT};
        made->config = (struct transport_config){.name = made->name,
                                                 .connect_ms = TRANSPORT_CONNECT_MS_DEFAULT,
                                                 .confirm_ms = TRANSPORT_CONFIRM_MS_DEFAULT};
        return made->name != NULL;
    }
    if (str_equal_cstr(kind, "route") && settings->route_count < SETTINGS_ROUTES_MAX) {
        reader->section = SECTION_ROUTE;
        settings->routes[settings->route_count++] =
            (struct route_setting){.pattern = {copy(reader, name), name.len}, .to = STR("{topic}")};
        return true;
    }
    if (str_equal_cstr(kind, "subscribe") && settings->subscription_count < SETTINGS_SUBSCRIPTIONS_MAX) {
        reader->section = SECTION_SUBSCRIBE;
        settings->subscriptions[settings->subscription_count++] =
            (struct subscription_setting){.from = {copy(reader, name), name.len}};
        return true;
    }
    if (str_equal_cstr(kind, "spine") && str_absent(settings->spine.to)) {
        reader->section = SECTION_SPINE;
        settings->spine = (struct spine_setting){.to = {copy(reader, name), name.len},
                                                 .max_length = SETTINGS_SPINE_LENGTH_DEFAULT};
        return true;
    }
    if (!str_equal_cstr(kind, "transport") && !str_equal_cstr(kind, "route") &&
        !str_equal_cstr(kind, "subscribe") && !str_equal_cstr(kind, "spine"))
        *reason = "a section is " SECTIONS;
    return false;
}

static pawl_status section_begin(struct reader *reader, pawl_str line, pawl_error *err) {
    pawl_status status = section_end(reader, err);
    if (status != PAWL_OK)
        return status;
    const char *reason = "a section is " SECTIONS;
    reader->section = SECTION_NONE;
    reader->seen_count = 0;
    reader->named = false;
    reader->section_line = reader->line;
    pawl_str inside = str_trim((pawl_str){line.ptr + 1, line.len - 1});
    if (inside.len == 0 || inside.ptr[inside.len - 1] != ']')
        return fault(reader, reader->line, PAWL_INVALID, reason, err);
    inside = str_trim((pawl_str){inside.ptr, inside.len - 1});
    if (str_equal_cstr(inside, "spine"))
        inside = STR("spine " SETTINGS_SPINE_TO);
    const char *blank = inside.len > 0 ? memchr(inside.ptr, ' ', inside.len) : NULL;
    if (blank == NULL)
        return fault(reader, reader->line, PAWL_INVALID, reason, err);
    pawl_str kind = {inside.ptr, (size_t)(blank - inside.ptr)};
    pawl_str name = str_trim((pawl_str){blank, inside.len - kind.len});
    if (name.len > PAWL_TOPIC_BYTES_MAX)
        return fault(reader, reader->line, PAWL_INVALID, "the name of the section is too long", err);
    if (!new_section(reader, kind, name, &reason))
        return fault(reader, reader->line, PAWL_INVALID, reason, err);
    pawl_error inner;
    if (reader->section == SECTION_ROUTE && pattern_check(name, &inner) != PAWL_OK)
        return fault(reader, reader->line, PAWL_INVALID, inner.text, err);
    return PAWL_OK;
}

static pawl_status read_lines(struct reader *reader, pawl_str text, pawl_error *err) {
    pawl_status status = PAWL_OK;
    pawl_str line;
    while (status == PAWL_OK && file_line(&text, &reader->line, &line))
        status = line.ptr[0] == '[' ? section_begin(reader, line, err) : key_value(reader, line, err);
    return status == PAWL_OK ? section_end(reader, err) : status;
}

pawl_status transport_settings_read(const char *path, struct transport_settings **out, pawl_error *err) {
    struct transport_settings *settings = calloc(1, sizeof(*settings));
    if (settings == NULL || (settings->arena = arena_create(0)) == NULL) {
        transport_settings_free(settings);
        return error_set(err, PAWL_NO_MEMORY, "transports file", "out of memory");
    }
    pawl_str text = {NULL, 0};
    pawl_status status = file_read(settings->arena, path, PAWL_CONFIG_FILE_BYTES_MAX, &text, err);
    struct reader reader = {.settings = settings, .path = path};
    if (status == PAWL_OK)
        status = read_lines(&reader, text, err);
    if (status == PAWL_OK && settings->route_count + settings->subscription_count == 0 &&
        str_absent(settings->spine.to))
        status = error_set(err, PAWL_INVALID, "transports file",
                           "%s has no [route PATTERN], no [subscribe FROM] and no [spine]", path);
    if (status != PAWL_OK) {
        transport_settings_free(settings);
        return status;
    }
    *out = settings;
    return PAWL_OK;
}

void transport_settings_free(struct transport_settings *settings) {
    if (settings == NULL)
        return;
    arena_free(settings->arena);
    free(settings);
}
