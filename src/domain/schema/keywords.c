/* The keywords of JSON Schema, in the order in which they are applied. */
#include "base/str.h"
#include "domain/schema/int.h"

enum { BOTH = SCHEMA_DRAFT7 | SCHEMA_2020 };

const struct schema_keyword schema_keywords[] = {
    {"$ref", BOTH, SHAPE_REFERENCE, false, judge_ref},
    {"$dynamicRef", SCHEMA_2020, SHAPE_REFERENCE, false, judge_dynamic_ref},
    {"$defs", SCHEMA_2020, SHAPE_SCHEMA_MAP, false, NULL},
    {"definitions", BOTH, SHAPE_SCHEMA_MAP, false, NULL},
    {"type", BOTH, SHAPE_TYPE, true, judge_type},
    {"enum", BOTH, SHAPE_ARRAY, true, judge_enum},
    {"const", BOTH, SHAPE_ANY, true, judge_const},
    {"multipleOf", BOTH, SHAPE_DIVISOR, true, judge_multiple_of},
    {"maximum", BOTH, SHAPE_NUMBER, true, judge_maximum},
    {"exclusiveMaximum", BOTH, SHAPE_NUMBER, true, judge_exclusive_maximum},
    {"minimum", BOTH, SHAPE_NUMBER, true, judge_minimum},
    {"exclusiveMinimum", BOTH, SHAPE_NUMBER, true, judge_exclusive_minimum},
    {"maxLength", BOTH, SHAPE_COUNT, true, judge_max_length},
    {"minLength", BOTH, SHAPE_COUNT, true, judge_min_length},
    {"pattern", BOTH, SHAPE_PATTERN, true, judge_pattern},
    {"format", BOTH, SHAPE_FORMAT, false, judge_format},
    {"contentEncoding", SCHEMA_DRAFT7, SHAPE_STRING, false, judge_content_encoding},
    {"contentMediaType", SCHEMA_DRAFT7, SHAPE_STRING, false, judge_content_media_type},
    {"maxItems", BOTH, SHAPE_COUNT, true, judge_max_items},
    {"minItems", BOTH, SHAPE_COUNT, true, judge_min_items},
    {"uniqueItems", BOTH, SHAPE_BOOLEAN, true, judge_unique_items},
    {"maxProperties", BOTH, SHAPE_COUNT, true, judge_max_properties},
    {"minProperties", BOTH, SHAPE_COUNT, true, judge_min_properties},
    {"required", BOTH, SHAPE_NAMES, true, judge_required},
    {"dependentRequired", SCHEMA_2020, SHAPE_NAMES_MAP, true, judge_dependent_required},
    {"allOf", BOTH, SHAPE_SCHEMAS, false, judge_all_of},
    {"anyOf", BOTH, SHAPE_SCHEMAS, false, judge_any_of},
    {"oneOf", BOTH, SHAPE_SCHEMAS, false, judge_one_of},
    {"not", BOTH, SHAPE_SCHEMA, false, judge_not},
    {"then", BOTH, SHAPE_SCHEMA, false, NULL},
    {"else", BOTH, SHAPE_SCHEMA, false, NULL},
    {"if", BOTH, SHAPE_SCHEMA, false, judge_if},
    {"dependentSchemas", SCHEMA_2020, SHAPE_SCHEMA_MAP, false, judge_dependent_schemas},
    {"dependencies", BOTH, SHAPE_DEPENDENCIES, false, judge_dependencies},
    {"properties", BOTH, SHAPE_SCHEMA_MAP, false, judge_properties},
    {"patternProperties", BOTH, SHAPE_PATTERN_MAP, false, judge_pattern_properties},
    {"additionalProperties", BOTH, SHAPE_SCHEMA, false, judge_additional_properties},
    {"propertyNames", BOTH, SHAPE_SCHEMA, false, judge_property_names},
    {"prefixItems", SCHEMA_2020, SHAPE_SCHEMAS, false, judge_prefix_items},
    {"items", SCHEMA_DRAFT7, SHAPE_ITEMS, false, judge_items},
    {"items", SCHEMA_2020, SHAPE_SCHEMA, false, judge_items},
    {"additionalItems", SCHEMA_DRAFT7, SHAPE_SCHEMA, false, judge_additional_items},
    {"minContains", SCHEMA_2020, SHAPE_COUNT, true, NULL},
    {"maxContains", SCHEMA_2020, SHAPE_COUNT, true, NULL},
    {"contains", BOTH, SHAPE_SCHEMA, false, judge_contains},
    {"contentSchema", SCHEMA_2020, SHAPE_SCHEMA, false, NULL},
    {"unevaluatedItems", SCHEMA_2020, SHAPE_SCHEMA, false, judge_unevaluated_items},
    {"unevaluatedProperties", SCHEMA_2020, SHAPE_SCHEMA, false, judge_unevaluated_properties},
};

const size_t schema_keywords_count = sizeof(schema_keywords) / sizeof(schema_keywords[0]);

unsigned schema_type_bit(pawl_str name) {
    static const char *const names[] = {"null", "boolean", "number", "integer", "string", "array", "object"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_equal_cstr(name, names[i]))
            return 1U << i;
    return 0;
}
