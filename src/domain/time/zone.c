/* Looking up a zone's offsets, and converting its wall times. */
#include "domain/time/zone.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/tzdata.h"
#include "domain/time/zone_int.h"

#define SPAN_FIRST_S (INT64_MIN / 2)
#define SPAN_LAST_S (INT64_MAX / 2)

void zone_free(struct zone *zone) { free(zone); }

pawl_str zone_name(const struct zone *zone) { return str_from(zone->name); }

static pawl_status make_utc(struct zone **zone, pawl_error *err) {
    struct zone *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(err, "zone_load");
    memcpy(made->name, "UTC", sizeof("UTC"));
    *zone = made;
    return PAWL_OK;
}

static pawl_str last_part(pawl_str name) {
    const char *slash = memrchr(name.ptr, '/', name.len);
    return slash != NULL ? str_skip(name, (size_t)(slash + 1 - name.ptr)) : name;
}

/* The name most similar to the one given, even if only the city was given; absent if none is close. */
static pawl_str find_alike(pawl_str name, const pawl_str *names, size_t count) {
    pawl_str best = {NULL, 0};
    size_t best_distance = 3; /* with more edits it is not a typo */
    for (size_t i = 0; i < count; i++) {
        size_t whole = str_distance(name, names[i]);
        size_t city = str_distance(last_part(name), last_part(names[i]));
        if (city == 0 && whole > 1)
            whole = 1;
        if (whole < best_distance) {
            best_distance = whole;
            best = names[i];
        }
    }
    return best;
}

static pawl_status no_such_zone(const char *dir, pawl_str name, struct arena *arena, pawl_error *err) {
    pawl_str *names = NULL;
    size_t count = 0;
    pawl_str alike = {NULL, 0};
    if (tzdata_list(dir, arena, &names, &count, NULL) == PAWL_OK)
        alike = find_alike(name, names, count);
    return str_absent(alike)
               ? error_set(err, PAWL_INVALID, "zone_load",
                           "there is no time zone '%.*s': write it as Europe/Berlin or UTC", STR_ARG(name))
               : error_set(err, PAWL_INVALID, "zone_load", "there is no time zone '%.*s': did you mean %.*s?",
                           STR_ARG(name), STR_ARG(alike));
}

pawl_status zone_load(const char *dir, pawl_str name, struct zone **zone, pawl_error *err) {
    if (name.len == 0 || str_equal_cstr(name, "UTC"))
        return make_utc(zone, err);
    pawl_str bytes = {NULL, 0};
    struct arena *arena = arena_create(0);
    pawl_status status = tzdata_read(dir, name, arena, &bytes, err);
    if (status == PAWL_OK)
        status = zone_parse(name, bytes, zone, err);
    else if (status == PAWL_NOT_FOUND)
        status = no_such_zone(dir, name, arena, err);
    arena_free(arena);
    return status;
}

static int32_t offset_before(const struct zone *zone, size_t index) {
    return index == 0 ? zone->first_offset_s : zone->changes[index - 1].offset_s;
}

/* How many changes are at or before an instant. */
static size_t changes_until(const struct zone *zone, int64_t utc_s) {
    size_t low = 0;
    size_t high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].at_s <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zone_span zone_span_at(const struct zone *zone, int64_t utc_s) {
    int64_t shift_s = 0;
    if (zone->repeats && utc_s >= zone->repeat_from_s + ZONE_CYCLE_S)
        shift_s = (utc_s - zone->repeat_from_s) / ZONE_CYCLE_S * ZONE_CYCLE_S;
    size_t index = changes_until(zone, utc_s - shift_s);
    return (struct zone_span){
        .from_s = index == 0 ? SPAN_FIRST_S : zone->changes[index - 1].at_s + shift_s,
        .until_s = index == zone->count ? SPAN_LAST_S : zone->changes[index].at_s + shift_s,
        .offset_s = offset_before(zone, index),
    };
}

int64_t zone_wall_before(const struct zone *zone, const struct zone_span *span) {
    int64_t highest_s = SPAN_FIRST_S;
    struct zone_span earlier = *span;
    /* A span that ended two maximal offsets ago cannot have shown a later wall time than the span's
     * predecessor. */
    while (earlier.from_s > SPAN_FIRST_S && earlier.from_s > span->from_s - 2 * ZONE_OFFSET_S_MAX) {
        int64_t until_s = earlier.from_s;
        earlier = zone_span_at(zone, until_s - 1);
        if (until_s + earlier.offset_s > highest_s)
            highest_s = until_s + earlier.offset_s;
    }
    return highest_s;
}
