/* Helpers shared by the transport modules: settings, results and malformed deliveries. */
#include "transport/transport.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *transport_option(const struct transport_config *config, const char *name) {
    for (size_t i = 0; i < config->option_count; i++) {
        if (strcmp(config->options[i].name, name) == 0)
            return config->options[i].value;
    }
    return NULL;
}

void transport_delivery_judge(struct transport_delivery *delivery, struct arena *arena, bool binary,
                              pawl_status read, pawl_error *reason) {
    pawl_status status = read;
    if (status == PAWL_OK && binary)
        delivery->event.data = delivery->raw;
    else if (status == PAWL_OK)
        status = event_parse(arena, delivery->raw, &delivery->event, reason);
    if (status == PAWL_OK)
        status = event_check(&delivery->event, reason);
    delivery->malformed = status != PAWL_OK;
    if (delivery->malformed)
        snprintf(delivery->reason, sizeof(delivery->reason), "%.200s", reason->text);
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
