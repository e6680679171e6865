/* Fuzzes the reader of zone files: whatever the bytes are, time goes forward and wall times lead back. */
#include <string.h>

#include "base/str.h"
#include "domain/time/zone.h"
#include "domain/time/zone_int.h"
#include "fuzz.h"

static void fuzz_spans(const struct zone *zone, int64_t start_s) {
    struct zone_span span = zone_span_at(zone, start_s);
    for (int i = 0; i < 20 && span.until_s < INT64_MAX / 2; i++) {
        must(span.from_s < span.until_s);
        struct zone_span next = zone_span_at(zone, span.until_s);
        must(next.from_s == span.until_s && next.offset_s != span.offset_s);
        must(zone_wall_before(zone, &next) >= next.from_s + span.offset_s);
        span = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct zone *zone = NULL;
    struct zone_rule rule;
    pawl_error err;
    size_t offset = 0;
    if (zone_rule_parse((pawl_str){(const char *)data, size}, &rule, &offset))
        must(rule.standard_s <= ZONE_OFFSET_S_MAX && rule.standard_s >= -ZONE_OFFSET_S_MAX);
    else
        must(offset <= size);
    if (zone_parse(STR("Fuzz/Zone"), (pawl_str){(const char *)data, size}, &zone, &err) == PAWL_OK) {
        fuzz_spans(zone, -4000000000);
        fuzz_spans(zone, 1700000000);
        fuzz_spans(zone, 40000000000);
    } else {
        must(zone == NULL);
    }
    zone_free(zone);
    return 0;
}
