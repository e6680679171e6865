/* What the pure rules cost: nanoseconds per cron tick, validation, filled template and plan. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "domain/pipeline/pipeline.h"
#include "domain/schema/schema.h"
#include "domain/time/schedule.h"

enum { ROUND_US = 500000 };

/* Everything that is measured, made once. */
struct world {
    struct arena *kept, *scratch;
    struct zone *zone;
    struct cron daily, minutes, rare;
    struct schema *schema;
    const struct tree *value;
    pawl_str value_text;
    const struct pipeline *pipeline;
    const struct tree *params;
    int64_t at_s;
};

static const char order_schema[] =
    "{\"type\":\"object\",\"required\":[\"id\",\"lines\"],\"additionalProperties\":false,\"properties\":{"
    "\"id\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{2}-[0-9]+$\"},\"when\":{\"type\":\"string\",\"format\":"
    "\"date-time\"},"
    "\"customer\":{\"$ref\":\"#/$defs/"
    "person\"},\"lines\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"object\","
    "\"required\":[\"sku\",\"count\"],\"properties\":{\"sku\":{\"type\":\"string\",\"maxLength\":20},"
    "\"count\":{\"type\":"
    "\"integer\",\"minimum\":1},\"price\":{\"type\":\"number\",\"multipleOf\":0.01}}}}},\"$defs\":{"
    "\"person\":{\"type\":"
    "\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"mail\":{\"type\":\"string\",\"format\":"
    "\"email\"}}}}}";

static const char pipeline_text[] =
    "[{\"id\":\"a\",\"uses\":\"t\",\"with\":{\"x\":\"${params.id}\"}},"
    "{\"id\":\"b\",\"uses\":\"t\",\"if\":\"length(params.lines) > 3\",\"with\":{\"x\":\"Dear "
    "${params.customer.name}\","
    "\"all\":\"${params.lines}\"}},{\"id\":\"c\",\"uses\":\"t\",\"needs\":[\"a\",\"b\"]}]";

static void must(bool truth, const char *what) {
    if (!truth) {
        fprintf(stderr, "bench: %s\n", what);
        exit(1);
    }
}

static void make_value(struct world *world, struct buf *text) {
    pawl_error err;
    buf_append_cstr(
        text, "{\"id\":\"AB-1234\",\"when\":\"2026-11-16T09:30:00Z\",\"customer\":{\"name\":\"Ada Lovelace\","
              "\"mail\":\"ada@example.com\"},\"lines\":[");
    for (int i = 0; i < 20; i++)
        buf_printf(text, "%s{\"sku\":\"part-%d\",\"count\":%d,\"price\":%d.99}", i > 0 ? "," : "", i, i + 1,
                   i * 7);
    buf_append_cstr(text, "]}");
    world->value_text = buf_str(text);
    must(tree_parse(world->kept, world->value_text, NULL, &world->value, &err) == PAWL_OK, "value");
}

static void next_daily(struct world *world) {
    must(cron_next(&world->daily, world->zone, world->at_s, &world->at_s), "daily");
    world->at_s %= 4000000000;
}

static void next_minutes(struct world *world) {
    must(cron_next(&world->minutes, world->zone, world->at_s, &world->at_s), "minutes");
}

static void next_rare(struct world *world) {
    must(cron_next(&world->rare, world->zone, world->at_s, &world->at_s), "rare");
    world->at_s %= 100000000000;
}

static void validate(struct world *world) {
    pawl_error err;
    must(schema_validate(world->schema, world->value, &err) == PAWL_OK, "validate");
}

static void validate_text(struct world *world) {
    pawl_error err;
    must(schema_validate_text(world->schema, world->value_text, &err) == PAWL_OK, "validate text");
}

static void compile(struct world *world) {
    pawl_error err;
    struct schema *schema = NULL;
    (void)world;
    must(schema_compile_text(str_from(order_schema), NULL, &schema, &err) == PAWL_OK, "compile");
    schema_free(schema);
}

static void plan(struct world *world) {
    pawl_error err;
    struct pipeline_plan made;
    struct template_scope context = {.params = world->params};
    arena_reset(world->scratch);
    must(pipeline_plan(world->scratch, world->pipeline, &context, NULL, 0, &made, &err) == PAWL_OK, "plan");
}

static void measure(struct world *world, const char *name, void (*once)(struct world *world)) {
    int64_t count = 0;
    int64_t began_us = clock_boot_us();
    int64_t spent_us = 0;
    while (spent_us < ROUND_US) {
        for (int i = 0; i < 100; i++)
            once(world);
        count += 100;
        spent_us = clock_boot_us() - began_us;
    }
    printf("%-42s %8.0f ns  %10.0f per second\n", name, (double)spent_us * 1000 / (double)count,
           (double)count * 1e6 / (double)spent_us);
}

int main(void) {
    struct world world = {.kept = arena_create(0), .scratch = arena_create(0), .at_s = 1800000000};
    struct buf text;
    pawl_error err;
    buf_init(&text, 0);
    must(zone_load(NULL, STR("Europe/Berlin"), &world.zone, &err) == PAWL_OK, "zone");
    must(cron_parse(STR("30 2 * * *"), &world.daily, &err) == PAWL_OK, "cron");
    must(cron_parse(STR("*/5 * * * *"), &world.minutes, &err) == PAWL_OK, "cron");
    must(cron_parse(STR("0 0 29 2 *"), &world.rare, &err) == PAWL_OK, "cron");
    must(schema_compile_text(str_from(order_schema), NULL, &world.schema, &err) == PAWL_OK, err.text);
    make_value(&world, &text);
    world.params = world.value;
    must(pipeline_parse(world.kept, str_from(pipeline_text), PIPELINE_JSON, &world.pipeline, &err) == PAWL_OK,
         err.text);
    measure(&world, "cron next, 30 2 * * * in Europe/Berlin", next_daily);
    measure(&world, "cron next, */5 * * * * in Europe/Berlin", next_minutes);
    measure(&world, "cron next, 0 0 29 2 * in Europe/Berlin", next_rare);
    measure(&world, "schema validate, 1 kB tree of 87 values", validate);
    measure(&world, "schema validate, the same from text", validate_text);
    measure(&world, "schema compile", compile);
    measure(&world, "pipeline plan, 3 steps with templates", plan);
    schema_free(world.schema);
    zone_free(world.zone);
    buf_free(&text);
    arena_free(world.kept);
    arena_free(world.scratch);
    return 0;
}
