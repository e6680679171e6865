/* Answers questions about zones and cron, one a line, for the tests in Python that know the answers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "domain/time/cron.h"
#include "domain/time/zone.h"

enum { LINE_BYTES = 1024, TICKS_MAX = 100000, ZONES_MAX = 1024 };

/* Zones are asked for again and again. */
struct cache {
    char names[ZONES_MAX][PAWL_ZONE_NAME_BYTES_MAX + 1];
    struct zone *zones[ZONES_MAX];
    size_t count;
    size_t last;
};

static const struct zone *find_zone(struct cache *cache, const char *name) {
    if (cache->count > 0 && strcmp(cache->names[cache->last], name) == 0)
        return cache->zones[cache->last];
    for (size_t i = 0; i < cache->count; i++) {
        if (strcmp(cache->names[i], name) == 0) {
            cache->last = i;
            return cache->zones[i];
        }
    }
    pawl_error err;
    if (cache->count == ZONES_MAX ||
        zone_load(NULL, str_from(name), &cache->zones[cache->count], &err) != PAWL_OK) {
        fprintf(stderr, "cron_tool: %s: %s\n", name, err.text);
        exit(1);
    }
    snprintf(cache->names[cache->count], sizeof(cache->names[0]), "%s", name);
    cache->last = cache->count;
    return cache->zones[cache->count++];
}

static void must(bool truth, const char *what, const char *line) {
    if (!truth) {
        fprintf(stderr, "cron_tool: %s: %s\n", what, line);
        exit(1);
    }
}

/* The ticks in [from, until), found forwards, checked backwards. */
static void answer_range(const struct zone *zone, int64_t from_s, int64_t until_s, const char *text) {
    struct cron cron;
    pawl_error err;
    if (cron_parse(str_from(text), &cron, &err) != PAWL_OK) {
        printf("error %s\n", err.text);
        return;
    }
    static int64_t ticks_s[TICKS_MAX];
    size_t count = 0;
    int64_t at_s = from_s - 1;
    while (count < TICKS_MAX && cron_next(&cron, zone, at_s, &at_s) && at_s < until_s)
        ticks_s[count++] = at_s;
    at_s = until_s;
    for (size_t i = count; i > 0; i--)
        must(cron_previous(&cron, zone, at_s, &at_s) && at_s == ticks_s[i - 1], "previous differs from next",
             text);
    must(!cron_previous(&cron, zone, at_s, &at_s) || at_s < from_s, "previous finds one more", text);
    for (size_t i = 0; i < count; i++)
        printf(i == 0 ? "%" PRId64 : " %" PRId64, ticks_s[i]);
    printf("\n");
}

static void answer_next(const struct zone *zone, int64_t after_s, int64_t count, const char *text) {
    struct cron cron;
    pawl_error err;
    if (cron_parse(str_from(text), &cron, &err) != PAWL_OK) {
        printf("error %s\n", err.text);
        return;
    }
    for (int64_t i = 0; i < count && cron_next(&cron, zone, after_s, &after_s); i++)
        printf(i == 0 ? "%" PRId64 : " %" PRId64, after_s);
    printf("\n");
}

int main(void) {
    static struct cache cache;
    char line[LINE_BYTES];
    while (fgets(line, sizeof(line), stdin) != NULL) {
        char word[16];
        char name[PAWL_ZONE_NAME_BYTES_MAX + 1];
        int64_t a = 0;
        int64_t b = 0;
        int text = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%15s %64s %" SCNd64 " %" SCNd64 " %n", word, name, &a, &b, &text) < 4)
            return 2;
        const struct zone *zone = find_zone(&cache, name);
        if (strcmp(word, "range") == 0)
            answer_range(zone, a, b, line + text);
        else if (strcmp(word, "next") == 0)
            answer_next(zone, a, b, line + text);
        else if (strcmp(word, "offset") == 0)
            printf("%d\n", (int)zone_span_at(zone, a).offset_s);
        else
            return 2;
    }
    for (size_t i = 0; i < cache.count; i++)
        zone_free(cache.zones[i]);
    return 0;
}
