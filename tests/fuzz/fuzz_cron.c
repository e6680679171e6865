/* Fuzzes cron expressions, whose ticks must be the same forwards and backwards. */
#include <string.h>

#include "domain/time/cron.h"
#include "domain/time/zone.h"
#include "fuzz.h"

/* Forwards and backwards must meet. */
static void fuzz_ticks(const struct cron *cron, const struct zone *zone, int64_t start_s) {
    int64_t at_s = start_s;
    int64_t back_s = 0;
    int64_t before_s = 0;
    for (int i = 0; i < 3 && cron_next(cron, zone, at_s, &at_s); i++) {
        must(at_s > start_s);
        must(cron_previous(cron, zone, at_s + 1, &back_s) && back_s == at_s);
        if (i > 0)
            must(cron_previous(cron, zone, at_s, &back_s) && back_s == before_s);
        before_s = at_s;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"};
    static struct zone *zones[4];
    pawl_error err;
    for (int i = 0; i < 4 && zones[i] == NULL; i++)
        must(zone_load(NULL, (pawl_str){names[i], strlen(names[i])}, &zones[i], &err) == PAWL_OK);
    if (size < 6)
        return 0;
    int64_t start_s = 0;
    for (int i = 0; i < 5; i++)
        start_s = start_s << 8 | data[i];
    const struct zone *zone = zones[data[5] % 4];
    pawl_str text = {(const char *)data + 6, size - 6};
    struct cron cron;
    if (cron_parse(text, &cron, &err) == PAWL_OK)
        fuzz_ticks(&cron, zone, start_s % 4102444800);
    return 0;
}
