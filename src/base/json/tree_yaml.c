/* Reads YAML into a tree: only the part of YAML that maps to JSON unambiguously. */
#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "base/json/scan.h"
#include "base/json/tree.h"
#include "base/json/tree_build.h"
#include "base/str.h"

enum { ANCHORS_MAX = 1000 };

struct yaml_anchor {
    pawl_str name;
    const struct tree *value;
};

struct yaml_reader {
    struct tree_build build;
    yaml_parser_t parser;
    struct yaml_anchor *anchors;
    size_t anchors_count;
};

static pawl_status read_event(struct yaml_reader *reader, const yaml_event_t *event, size_t depth,
                              struct tree **value);

static pawl_status wrong(const struct yaml_reader *reader, const yaml_mark_t *mark, const char *why) {
    return tree_build_wrong(&reader->build, mark->line + 1, mark->column + 1, "%s", why);
}

static pawl_status next_event(struct yaml_reader *reader, yaml_event_t *event) {
    if (yaml_parser_parse(&reader->parser, event) != 0)
        return PAWL_OK;
    if (reader->parser.error == YAML_MEMORY_ERROR)
        return error_no_memory(reader->build.err, "tree");
    return wrong(reader, &reader->parser.problem_mark,
                 reader->parser.problem != NULL ? reader->parser.problem : "this is not YAML");
}

static bool is_json_number(pawl_str text) {
    struct json_scan scan = {.text = text, .line = 1};
    struct json_token token;
    return json_next(&scan, &token) && token.type == TREE_NUMBER && token.raw.len == text.len;
}

/* The value of an unquoted scalar. Everything that is not a JSON literal is text: yes, 0x1F, 2026-01-01. */
static enum tree_kind plain_kind(pawl_str text) {
    static const struct {
        const char *word;
        enum tree_kind kind;
    } words[] = {{"", TREE_NULL},       {"~", TREE_NULL},      {"null", TREE_NULL},  {"Null", TREE_NULL},
                 {"NULL", TREE_NULL},   {"true", TREE_TRUE},   {"True", TREE_TRUE},  {"TRUE", TREE_TRUE},
                 {"false", TREE_FALSE}, {"False", TREE_FALSE}, {"FALSE", TREE_FALSE}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (str_equal_cstr(text, words[i].word))
            return words[i].kind;
    return is_json_number(text) ? TREE_NUMBER : TREE_STRING;
}

static pawl_str scalar_text(const yaml_event_t *event) {
    return (pawl_str){(const char *)event->data.scalar.value, event->data.scalar.length};
}

static pawl_status check_text(const struct yaml_reader *reader, const yaml_event_t *event) {
    pawl_str text = scalar_text(event);
    if (memchr(text.ptr, '\0', text.len) != NULL && !reader->build.limits.allow_nul)
        return wrong(reader, &event->start_mark, "a NUL character cannot be stored: leave it out");
    return PAWL_OK;
}

static pawl_status read_scalar(struct yaml_reader *reader, const yaml_event_t *event, struct tree **value) {
    const char *tag = (const char *)event->data.scalar.tag;
    bool text_wanted = tag != NULL && strcmp(tag, YAML_STR_TAG) == 0;
    if (tag != NULL && !text_wanted)
        return wrong(reader, &event->start_mark, "tags are not supported, but for !!str");
    pawl_status status = check_text(reader, event);
    if (status != PAWL_OK)
        return status;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !text_wanted;
    enum tree_kind kind = plain ? plain_kind(scalar_text(event)) : TREE_STRING;
    *value = tree_scalar(reader->build.arena, kind, scalar_text(event));
    return *value == NULL ? error_no_memory(reader->build.err, "tree") : PAWL_OK;
}

static pawl_status read_key(struct yaml_reader *reader, const yaml_event_t *event, pawl_str *key) {
    if (event->type != YAML_SCALAR_EVENT)
        return wrong(reader, &event->start_mark, "a key must be plain text");
    if (event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL)
        return wrong(reader, &event->start_mark, "a key has neither an anchor nor a tag");
    pawl_str text = scalar_text(event);
    if (str_equal_cstr(text, "<<"))
        return wrong(reader, &event->start_mark, "merge keys (<<) are not supported: write the members out");
    pawl_status status = check_text(reader, event);
    if (status != PAWL_OK)
        return status;
    const char *copy = arena_copy(reader->build.arena, text.ptr, text.len);
    if (copy == NULL)
        return error_no_memory(reader->build.err, "tree");
    *key = (pawl_str){copy, text.len};
    return PAWL_OK;
}

/* Reads the value after a key that was just read. */
static pawl_status read_member(struct yaml_reader *reader, const yaml_event_t *key_event, size_t depth) {
    pawl_str key = {NULL, 0};
    struct tree *value = NULL;
    yaml_event_t event;
    pawl_status status = read_key(reader, key_event, &key);
    if (status == PAWL_OK)
        status = next_event(reader, &event);
    if (status != PAWL_OK)
        return status;
    status = read_event(reader, &event, depth, &value);
    yaml_event_delete(&event);
    if (status != PAWL_OK)
        return status;
    assert(value != NULL); /* for the analyzer: only a refused event leaves it unset */
    value->key = key;
    value->line = (uint32_t)key_event->start_mark.line + 1; /* errors point at the key */
    value->column = (uint32_t)key_event->start_mark.column + 1;
    return tree_build_push(&reader->build, value);
}

static pawl_status read_items(struct yaml_reader *reader, enum tree_kind kind, size_t depth) {
    for (;;) {
        yaml_event_t event;
        struct tree *value = NULL;
        pawl_status status = next_event(reader, &event);
        if (status != PAWL_OK)
            return status;
        bool ended = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        if (!ended && kind == TREE_OBJECT) {
            status = read_member(reader, &event, depth);
        } else if (!ended) {
            status = read_event(reader, &event, depth, &value);
            if (status == PAWL_OK)
                status = tree_build_push(&reader->build, value);
        }
        yaml_event_delete(&event);
        if (status != PAWL_OK || ended)
            return status;
    }
}

static pawl_status read_container(struct yaml_reader *reader, const yaml_event_t *event, size_t depth,
                                  struct tree **value) {
    bool object = event->type == YAML_MAPPING_START_EVENT;
    enum tree_kind kind = object ? TREE_OBJECT : TREE_ARRAY;
    if ((object ? event->data.mapping_start.tag : event->data.sequence_start.tag) != NULL)
        return wrong(reader, &event->start_mark, "tags are not supported, but for !!str");
    if (depth >= reader->build.limits.depth_max)
        return tree_build_too_deep(&reader->build, event->start_mark.line + 1, event->start_mark.column + 1);
    size_t first = reader->build.open_count;
    pawl_status status = read_items(reader, kind, depth + 1);
    return status != PAWL_OK ? status : tree_build_close(&reader->build, kind, first, value);
}

/* The value of an alias, counted as if it were written out, so that an alias bomb exceeds the limits. */
static pawl_status read_alias(struct yaml_reader *reader, const yaml_event_t *event, size_t depth,
                              struct tree **value) {
    pawl_str name = str_from((const char *)event->data.alias.anchor);
    for (size_t i = reader->anchors_count; i > 0; i--) {
        const struct tree *found = reader->anchors[i - 1].value;
        if (!str_equal(reader->anchors[i - 1].name, name))
            continue;
        if (depth + found->depth > reader->build.limits.depth_max)
            return wrong(reader, &event->start_mark, "the alias makes the document too deep");
        pawl_status status = tree_build_count(&reader->build, found->nodes, event->start_mark.line + 1,
                                              event->start_mark.column + 1);
        if (status != PAWL_OK)
            return status;
        *value = arena_copy(reader->build.arena, found, sizeof(*found));
        return *value == NULL ? error_no_memory(reader->build.err, "tree") : PAWL_OK;
    }
    return wrong(reader, &event->start_mark, "the alias has no anchor before it");
}

static const char *anchor_of(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return (const char *)event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return (const char *)event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return (const char *)event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static pawl_status keep_anchor(struct yaml_reader *reader, const yaml_event_t *event,
                               const struct tree *value) {
    const char *anchor = anchor_of(event);
    if (anchor == NULL)
        return PAWL_OK;
    if (reader->anchors == NULL)
        reader->anchors = arena_array(reader->build.arena, ANCHORS_MAX, sizeof(*reader->anchors));
    const char *name = arena_strdup(reader->build.arena, anchor);
    if (reader->anchors == NULL || name == NULL)
        return error_no_memory(reader->build.err, "tree");
    if (reader->anchors_count == ANCHORS_MAX)
        return wrong(reader, &event->start_mark, "there are more than 1000 anchors");
    reader->anchors[reader->anchors_count++] = (struct yaml_anchor){str_from(name), value};
    return PAWL_OK;
}

static pawl_status read_event(struct yaml_reader *reader, const yaml_event_t *event, size_t depth,
                              struct tree **value) {
    pawl_status status = PAWL_OK;
    if (event->type == YAML_ALIAS_EVENT) {
        status = read_alias(reader, event, depth, value);
    } else {
        status =
            tree_build_count(&reader->build, 1, event->start_mark.line + 1, event->start_mark.column + 1);
        if (status == PAWL_OK)
            status = event->type == YAML_SCALAR_EVENT ? read_scalar(reader, event, value)
                                                      : read_container(reader, event, depth, value);
    }
    if (status != PAWL_OK || *value == NULL)
        return status;
    (*value)->line = (uint32_t)event->start_mark.line + 1;
    (*value)->column = (uint32_t)event->start_mark.column + 1;
    (*value)->key = (pawl_str){NULL, 0};
    return event->type == YAML_ALIAS_EVENT ? PAWL_OK : keep_anchor(reader, event, *value);
}

/* Stream and document starts, one value, and nothing after it. */
static pawl_status read_stream(struct yaml_reader *reader, struct tree **value) {
    bool done = false;
    while (!done) {
        yaml_event_t event;
        pawl_status status = next_event(reader, &event);
        if (status != PAWL_OK)
            return status;
        switch (event.type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (*value != NULL)
                status = wrong(reader, &event.start_mark, "there is more than one document");
            break;
        case YAML_STREAM_END_EVENT:
            if (*value == NULL)
                status = wrong(reader, &event.start_mark, "the document is empty");
            done = true;
            break;
        default:
            status = read_event(reader, &event, 0, value);
            break;
        }
        yaml_event_delete(&event);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

pawl_status tree_parse_yaml(struct arena *arena, pawl_str text, const struct tree_limits *limits,
                            const struct tree **tree, pawl_error *err) {
    struct yaml_reader reader = {0};
    struct tree *value = NULL;
    tree_build_init(&reader.build, arena, limits, "tree_parse_yaml", err);
    if (yaml_parser_initialize(&reader.parser) == 0)
        return error_no_memory(err, "tree");
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)(text.ptr != NULL ? text.ptr : ""),
                                 text.len);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    pawl_status status = read_stream(&reader, &value);
    if (status == PAWL_OK)
        *tree = value;
    yaml_parser_delete(&reader.parser);
    tree_build_free(&reader.build);
    return status;
}
