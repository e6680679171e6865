/* Taking, keeping and giving back a duty. */
#include "work/duty.h"

#include <time.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"

enum {
    DUTY_MS = 15000, /* how long a dead holder blocks others, at worst */
    BACKOFF_MS_MAX = 10000,
    SLICE_MS = 20 /* how late a stop is noticed */
};

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

void duty_wait(const atomic_bool *stopping, int64_t wait_ms) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    while (!atomic_load(stopping) && clock_boot_ms() < until_ms)
        nanosleep(&(struct timespec){0, SLICE_MS * 1000000}, NULL);
}

int64_t duty_longer_ms(int64_t backoff_ms) {
    return backoff_ms * 2 > BACKOFF_MS_MAX ? BACKOFF_MS_MAX : backoff_ms * 2;
}

void duty_back_off(const atomic_bool *stopping, int64_t *backoff_ms) {
    duty_wait(stopping, *backoff_ms);
    *backoff_ms = duty_longer_ms(*backoff_ms);
}

void duty_leave(struct duty *duty, struct store *store) {
    pawl_error ignored;
    if (duty->grant.held)
        (void)!store->ops->relay->duty_leave(store, str_from(duty->name), duty->grant.token, &ignored);
    duty->grant.held = false;
}
