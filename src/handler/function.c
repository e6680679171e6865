/* Calling a handler that is a C function. */
#include "handler/function.h"

#include <string.h>

#include "handler/message.h"

enum { SNOOZE_MS_DEFAULT = 1000 };

void function_call(const struct handler *handler, const struct item *item, const void *run,
                   struct handler_verdict *verdict) {
    pawl_result result;
    result.retry_after_ms = -1;
    result.error[0] = '\0';
    pawl_message message = work_message(item);
    message.run = run;
    verdict->error[0] = '\0';
    switch (handler->function(&message, &result, handler->self)) {
    case PAWL_DONE:
        verdict->outcome = HANDLED_DONE;
        return;
    case PAWL_SNOOZE:
        verdict->outcome = HANDLED_SNOOZE;
        verdict->delay_ms = result.retry_after_ms > 0 ? result.retry_after_ms : SNOOZE_MS_DEFAULT;
        return;
    case PAWL_REJECT:
        verdict->outcome = HANDLED_PERMANENT;
        break;
    default:
        verdict->outcome = HANDLED_RETRY;
        break;
    }
    verdict->delay_ms = result.retry_after_ms;
    result.error[sizeof(result.error) - 1] = '\0';
    const char *why = result.error[0] != '\0' ? result.error : "the handler gave no reason";
    memcpy(verdict->error, why, strlen(why) + 1);
}
