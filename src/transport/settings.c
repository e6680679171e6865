/* Reading and checking the transports file. */
#include "transport/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/options/sections.h"
#include "base/str.h"
#include "domain/pattern.h"

#define SECTIONS "[transport NAME], [route PATTERN], [subscribe FROM] or [spine]"

enum { CONCURRENCY_MAX = 1024, FAILURES_MAX = 1000000 };

static bool read_transport(struct section_file *file, void *member, pawl_str value) {
    const struct transport_settings *settings = file->self;
    for (size_t i = 0; i < settings->transport_count; i++) {
        if (str_equal_cstr(value, settings->transports[i].name)) {
            *(size_t *)member = i;
            return true;
        }
    }
    return false;
}

#define TRANSPORT(member) offsetof(struct transport_setting, member)
#define ROUTE(member) offsetof(struct route_setting, member)
#define SUBSCRIPTION(member) offsetof(struct subscription_setting, member)

static const char need_transport[] = "transport needs the name of a [transport NAME] above";

static const struct section_key transport_keys[] = {
    {SECTION_KEY("url", SECTION_TEXT_SECRET, TRANSPORT(config.url),
                 "url needs an address; url-env a variable and url-file a file that has one")},
    {SECTION_KEY("user", SECTION_TEXT_SECRET, TRANSPORT(config.user),
                 "user needs a name; user-env a variable and user-file a file that has one")},
    {SECTION_KEY("password", SECTION_TEXT_SECRET, TRANSPORT(config.password),
                 "the variable of password-env or the file of password-file is empty or cannot be read")},
    {SECTION_KEY("ca-file", SECTION_ANY_TEXT, TRANSPORT(config.ca_file), "ca-file needs a path")},
    {SECTION_KEY("cert-file", SECTION_ANY_TEXT, TRANSPORT(config.cert_file), "cert-file needs a path")},
    {SECTION_KEY("key-file", SECTION_ANY_TEXT, TRANSPORT(config.key_file), "key-file needs a path")},
    {SECTION_KEY("connect-timeout", SECTION_MS, TRANSPORT(config.connect_ms),
                 "connect-timeout needs a duration up to 1h, for example 5s"),
     .max = PAWL_TIMEOUT_MS_MAX},
    {SECTION_KEY("confirm-timeout", SECTION_MS, TRANSPORT(config.confirm_ms),
                 "confirm-timeout needs a duration up to 1h, for example 10s"),
     .max = PAWL_TIMEOUT_MS_MAX},
    {SECTION_KEY("breaker-failures", SECTION_NUMBER, TRANSPORT(breaker_failures),
                 "breaker-failures needs a number above 0"),
     .max = FAILURES_MAX},
    {SECTION_KEY("breaker-pause", SECTION_DURATION, TRANSPORT(breaker_ms),
                 "breaker-pause needs a duration, for example 1s"),
     .max = PAWL_TIMEOUT_MS_MAX},
};
/* The first key of the others is their transport. */
static const struct section_key route_keys[] = {
    {SECTION_KEY("transport", SECTION_OTHER, ROUTE(transport), need_transport), .read = read_transport},
    {SECTION_KEY("to", SECTION_NAME, ROUTE(to), "to needs a destination, for example orders or {topic}"),
     .max = PAWL_TOPIC_BYTES_MAX},
    {SECTION_KEY("rate", SECTION_NUMBER, ROUTE(rate), "rate needs messages per second, from 1 to 1000000"),
     .max = SETTINGS_RATE_MAX},
    {SECTION_KEY("max-attempts", SECTION_NUMBER, ROUTE(rules.max_attempts),
                 "max-attempts needs a number from 1 to 1000"),
     .max = PAWL_ATTEMPTS_MAX},
    {SECTION_KEY("concurrency", SECTION_NUMBER, ROUTE(rules.concurrency),
                 "concurrency needs a number from 1 to 1024"),
     .max = CONCURRENCY_MAX},
    {SECTION_KEY("retry-base", SECTION_DURATION, ROUTE(rules.retry_base_ms),
                 "retry-base needs a duration above 0, for example 1s")},
    {SECTION_KEY("retry-max", SECTION_DURATION, ROUTE(rules.retry_max_ms),
                 "retry-max needs a duration above 0, for example 60s")},
    {SECTION_KEY("on-dead", SECTION_CHOICE, ROUTE(rules.on_dead), "on-dead needs block, skip or park"),
     .max = PAWL_ON_DEAD_BLOCK, .choices = "block|skip|park"},
};
static const struct section_key subscription_keys[] = {
    {SECTION_KEY("transport", SECTION_OTHER, SUBSCRIPTION(transport), need_transport),
     .read = read_transport},
    {SECTION_KEY("group", SECTION_NAME, SUBSCRIPTION(group), "group needs a name"),
     .max = PAWL_NAME_BYTES_MAX},
    {SECTION_KEY("consumer", SECTION_NAME, SUBSCRIPTION(consumer), "consumer needs a name"),
     .max = PAWL_NAME_BYTES_MAX},
    {SECTION_KEY("topic", SECTION_NAME, SUBSCRIPTION(topic), "topic needs a name"),
     .max = PAWL_NAME_BYTES_MAX},
};
static const struct section_key spine_keys[] = {
    {SECTION_KEY("transport", SECTION_OTHER, offsetof(struct spine_setting, transport), need_transport),
     .read = read_transport},
    {SECTION_KEY("max-length", SECTION_LARGE_NUMBER, offsetof(struct spine_setting, max_length),
                 "max-length needs a number from 1 to 100000000"),
     .max = SETTINGS_SPINE_LENGTH_MAX},
};

/* Settings that only a module knows are kept as they are. */
static pawl_status stray(struct section_file *file, pawl_str key, pawl_str value, pawl_error *err) {
    if (file->keys != transport_keys ||
        (str_choice("exchange|max-length|sas|token-lifetime|structured|consumer|database-url", key) < 0 &&
         !str_starts_with(key, STR("kafka.")))) {
        char reason[128];
        snprintf(reason, sizeof(reason), "unknown key '%.*s' in this section; see docs/transports.md",
                 key.len < 40 ? (int)key.len : 40, key.ptr);
        return section_fault(file, PAWL_INVALID, reason, err);
    }
    struct transport_setting *transport = file->into;
    const char *name = arena_copy(file->arena, key.ptr, key.len);
    const char *text = arena_copy(file->arena, value.ptr, value.len);
    if (transport->config.option_count == TRANSPORT_OPTIONS_MAX)
        return section_fault(file, PAWL_INVALID, "too many settings of one module", err);
    if (name == NULL || text == NULL)
        return section_fault(file, PAWL_NO_MEMORY, "out of memory", err);
    transport->options[transport->config.option_count++] = (struct transport_option){name, text};
    return PAWL_OK;
}

static pawl_status transport_end(struct section_file *file, pawl_error *err) {
    struct transport_setting *transport = file->into;
    const struct transport_known *known = transport_known_for(str_from(transport->config.url));
    if (transport->config.url == NULL)
        return section_whole_fault(file, PAWL_INVALID, "the transport has no url", err);
    if (known == NULL)
        return section_whole_fault(
            file, PAWL_NOT_FOUND,
            "no transport has this kind of address; pawl transport list shows the schemes", err);
    pawl_error inner = {0};
    pawl_status status = transport_load(known->name, &transport->module, &inner);
    transport->config.options = transport->options;
    return status == PAWL_OK ? PAWL_OK : section_whole_fault(file, status, inner.text, err);
}

static pawl_status section_end(struct section_file *file, pawl_error *err) {
    const struct transport_settings *settings = file->self;
    if (file->keys == transport_keys)
        return transport_end(file, err);
    if ((file->seen & 1) == 0)
        return section_whole_fault(file, PAWL_INVALID, "the section names no transport: transport = NAME",
                                   err);
    if (file->keys == subscription_keys) {
        const struct subscription_setting *subscription = file->into;
        if (settings->transports[subscription->transport].module->subscribe == NULL)
            return section_whole_fault(file, PAWL_INVALID, "this transport cannot be read from", err);
    }
    return PAWL_OK;
}

enum { SECTION_TRANSPORT, SECTION_ROUTE, SECTION_SUBSCRIBE, SECTION_SPINE };

#define TABLE(keys)                                                                                          \
    { keys, sizeof(keys) / sizeof(*(keys)) }

static const struct {
    const struct section_key *keys;
    size_t count;
} tables[] = {TABLE(transport_keys), TABLE(route_keys), TABLE(subscription_keys), TABLE(spine_keys)};

static pawl_status section_begin(struct section_file *file, pawl_str inside, pawl_error *err) {
    struct transport_settings *settings = file->self;
    if (str_equal_cstr(inside, "spine"))
        inside = STR("spine " SETTINGS_SPINE_TO);
    pawl_str rest, kind = str_before(inside, ' ', &rest);
    pawl_str name = {NULL, str_trim(rest).len};
    int which = str_choice("transport|route|subscribe|spine", kind);
    if (which < 0 || str_absent(rest))
        return section_fault(file, PAWL_INVALID, "a section is " SECTIONS, err);
    if (name.len > PAWL_TOPIC_BYTES_MAX)
        return section_fault(file, PAWL_INVALID, "the name of the section is too long", err);
    name.ptr = arena_copy(file->arena, str_trim(rest).ptr, name.len);
    if (name.ptr == NULL)
        return section_fault(file, PAWL_NO_MEMORY, "out of memory", err);
    if (which == SECTION_TRANSPORT && settings->transport_count < SETTINGS_TRANSPORTS_MAX) {
        struct transport_setting *made = &settings->transports[settings->transport_count++];
        *made = (struct transport_setting){.name = name.ptr,
                                           .config = {.name = name.ptr,
                                                      .connect_ms = TRANSPORT_CONNECT_MS_DEFAULT,
                                                      .confirm_ms = TRANSPORT_CONFIRM_MS_DEFAULT},
                                           .breaker_failures = SETTINGS_BREAKER_FAILURES_DEFAULT,
                                           .breaker_ms = SETTINGS_BREAKER_MS_DEFAULT};
        file->into = made;
    } else if (which == SECTION_ROUTE && settings->route_count < SETTINGS_ROUTES_MAX) {
        struct route_setting *made = &settings->routes[settings->route_count++];
        *made = (struct route_setting){.pattern = name, .to = STR("{topic}")};
        file->into = made;
    } else if (which == SECTION_SUBSCRIBE && settings->subscription_count < SETTINGS_SUBSCRIPTIONS_MAX) {
        struct subscription_setting *made = &settings->subscriptions[settings->subscription_count++];
        *made = (struct subscription_setting){.from = name};
        file->into = made;
    } else if (which == SECTION_SPINE && str_absent(settings->spine.to)) {
        settings->spine = (struct spine_setting){.to = name, .max_length = SETTINGS_SPINE_LENGTH_DEFAULT};
        file->into = &settings->spine;
    } else {
        return section_fault(file, PAWL_INVALID, "there are too many sections of this kind", err);
    }
    file->keys = tables[which].keys;
    file->key_count = tables[which].count;
    pawl_error inner;
    if (which == SECTION_ROUTE && pattern_check(name, &inner) != PAWL_OK)
        return section_fault(file, PAWL_INVALID, inner.text, err);
    return PAWL_OK;
}

pawl_status transport_settings_read(const char *path, struct transport_settings **out, pawl_error *err) {
    struct transport_settings *settings = calloc(1, sizeof(*settings));
    if (settings == NULL)
        return error_no_memory(err, "transports file");
    settings->arena = arena_create(0);
    struct section_file file = {.op = "transports file",
                                .path = path,
                                .sections = SECTIONS,
                                .arena = settings->arena,
                                .self = settings,
                                .begin = section_begin,
                                .end = section_end,
                                .stray = stray};
    pawl_status status = section_file_read(&file, err);
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
