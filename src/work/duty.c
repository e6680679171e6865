/* Something that one instance does at a time. */
#include "work/duty.h"

#include "base/clock.h"
#include "base/str.h"
#include "base/uuid.h"

/* How long a holder that died keeps others out, when nothing tells earlier. */
enum { DUTY_MS = 15000 };

bool duty_hold(struct duty *duty, struct store *store, pawl_uuid instance) {
    pawl_error error = {0};
    int64_t now_ms = clock_boot_ms();
    if (duty->grant.held && uuid_equal(instance, duty->instance) && now_ms < duty->renew_ms)
        return true;
    if (uuid_is_nil(instance))
        return false;
    struct duty_take take = {str_from(duty->name), instance, DUTY_MS};
    struct duty_grant grant = {0};
    if (store->ops->relay->duty_take(store, &take, &grant, &error) != PAWL_OK)
        grant.held = false;
    duty->grant = grant;
    duty->instance = instance;
    duty->renew_ms = now_ms + DUTY_MS / 3;
    return grant.held;
}

void duty_leave(struct duty *duty, struct store *store) {
    pawl_error ignored;
    if (duty->grant.held)
        (void)!store->ops->relay->duty_leave(store, str_from(duty->name), duty->grant.token, &ignored);
    duty->grant.held = false;
}
