/* Sessions of transport modules, and what the modules share: settings, results and malformed deliveries. */
#include "transport/transport.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

/* With the user and password of the configuration, if it has any, and the default port. */
static pawl_status read_address(const struct transport_module *module, const struct transport_config *config,
                                struct transport_session *session, pawl_error *err) {
    struct address *address = &session->address;
    pawl_status status = address_parse(session->arena, config->url, address, err);
    if (status != PAWL_OK)
        return status;
    if (address->port == 0)
        address->port = address->tls ? module->tls_port : module->port;
    if (config->user != NULL)
        address->user = config->user;
    if (config->password != NULL)
        address->password = config->password;
    return PAWL_OK;
}

pawl_status transport_open(const struct transport_module *module, const struct transport_config *config,
                           struct transport **session, pawl_error *err) {
    struct transport_session *made = calloc(1, module->session_bytes);
    if (made == NULL)
        return error_no_memory(err, module->name);
    made->arena = arena_create(0);
    made->confirm_ms = config->confirm_ms;
    pawl_status status = module->port != 0 ? read_address(module, config, made, err) : PAWL_OK;
    if (status == PAWL_OK)
        status = module->open((struct transport *)made, config, err);
    if (status == PAWL_OK)
        *session = (struct transport *)made;
    else
        transport_close(module, (struct transport *)made);
    return status;
}

void transport_close(const struct transport_module *module, struct transport *session) {
    if (session == NULL)
        return;
    module->close(session);
    arena_free(((struct transport_session *)session)->arena);
    free(session);
}

pawl_status transport_subscribe(const struct transport_module *module, struct transport *session,
                                const struct transport_subscription *in, pawl_error *err) {
    struct transport_session *own = (struct transport_session *)session;
    pawl_status status = str_dup(own->arena, in->from, &own->from, err);
    if (status == PAWL_OK)
        status = str_dup(own->arena, in->group, &own->group, err);
    if (status == PAWL_OK)
        status = str_dup(own->arena, in->reader, &own->reader, err);
    return status == PAWL_OK ? module->subscribe(session, err) : status;
}

const char *transport_option(const struct transport_config *config, const char *name) {
    for (size_t i = 0; i < config->option_count; i++) {
        if (strcmp(config->options[i].name, name) == 0)
            return config->options[i].value;
    }
    return NULL;
}

pawl_status transport_late(pawl_status status, const char *op, const char *reason, pawl_error *err) {
    return status == PAWL_BUSY ? error_set(err, PAWL_UNAVAILABLE, op, "%s", reason) : status;
}

void transport_header(struct transport_delivery *delivery, struct arena *arena, const char *prefix,
                      pawl_str name, pawl_str value, struct transport_attributes *attributes) {
    pawl_str copy;
    if (attributes->status == PAWL_OK)
        attributes->status = str_dup(arena, value, &copy, &attributes->reason);
    if (attributes->status == PAWL_OK)
        attributes->status =
            event_take_header(&delivery->event, prefix, name, copy, &attributes->binary, &attributes->reason);
}

pawl_status transport_delivery_take(struct transport_delivery *delivery, struct arena *arena, pawl_str raw,
                                    const struct transport_attributes *attributes, pawl_error *err) {
    struct transport_attributes found = {.binary = false};
    if (attributes != NULL)
        found = *attributes;
    pawl_status status = str_dup(arena, raw.ptr != NULL ? raw : STR(""), &delivery->raw, err);
    if (status != PAWL_OK)
        return status;
    status = found.status;
    if (status == PAWL_OK && found.binary)
        delivery->event.data = delivery->raw;
    else if (status == PAWL_OK)
        status = event_parse(arena, delivery->raw, &delivery->event, &found.reason);
    if (status == PAWL_OK)
        status = event_check(&delivery->event, &found.reason);
    delivery->malformed = status != PAWL_OK;
    if (delivery->malformed)
        snprintf(delivery->reason, sizeof(delivery->reason), "%.200s", found.reason.text);
    return PAWL_OK;
}

void transport_result_set(struct transport_result *result, enum transport_fate fate, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    result->fate = fate;
    vsnprintf(result->error, sizeof(result->error), fmt, args);
    va_end(args);
}

void transport_result_confirm(struct transport_result *result) {
    result->fate = FATE_CONFIRMED;
    result->error[0] = '\0';
}

void transport_results_unknown(struct transport_result *results, size_t count, const char *reason) {
    struct transport_result unknown;
    transport_result_set(&unknown, FATE_UNAVAILABLE, "%s", reason);
    for (size_t i = 0; i < count; i++) {
        results[i].fate = unknown.fate;
        memcpy(results[i].error, unknown.error, strlen(unknown.error) + 1);
    }
}
