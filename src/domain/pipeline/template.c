/* Filling templates in documents, and finding the paths they use. */
#include "domain/pipeline/template.h"

#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/reference.h"

/* A piece of a string: plain text, or one ${…}. */
struct piece {
    bool is_reference;
    pawl_str plain; /* without its escape */
    struct reference reference;
    const struct tree *fallback; /* after ??; NULL = none */
};

static void skip_blanks(pawl_str text, size_t *at) {
    while (*at < text.len && (text.ptr[*at] == ' ' || text.ptr[*at] == '\t'))
        (*at)++;
}

static bool starts_at(pawl_str text, size_t at, const char *word) {
    return str_starts_with((pawl_str){text.ptr + at, text.len - at}, str_from(word));
}

/* At ${. arena keeps the fallback. */
static pawl_status read_expression(struct arena *arena, const struct tree *place, size_t *at,
                                   struct piece *piece, pawl_error *err) {
    pawl_str text = place->text;
    size_t start = *at;
    *at += 2;
    skip_blanks(text, at);
    const char *why = reference_read(text, at, &piece->reference);
    skip_blanks(text, at);
    piece->is_reference = true;
    piece->fallback = NULL;
    if (why == NULL && starts_at(text, *at, "??")) {
        *at += 2;
        skip_blanks(text, at);
        piece->fallback = reference_literal(arena, text, at, &why);
        if (piece->fallback == NULL && why == NULL)
            return error_no_memory(err, "template");
        skip_blanks(text, at);
    }
    if (why == NULL && !starts_at(text, *at, "}"))
        why = "'}' is expected";
    if (why != NULL)
        return tree_fault(place, "template", err, "the template '%.*s' is malformed at position %zu: %s",
                          str_precision((pawl_str){text.ptr + start, text.len - start}), text.ptr + start,
                          *at - start + 1, why);
    (*at)++;
    return PAWL_OK;
}

/* The next piece of a string; *at < length. */
static pawl_status next_piece(struct arena *arena, const struct tree *place, size_t *at, struct piece *piece,
                              pawl_error *err) {
    pawl_str text = place->text;
    if (starts_at(text, *at, "${"))
        return read_expression(arena, place, at, piece, err);
    size_t start = *at;
    piece->is_reference = false;
    if (starts_at(text, *at, "$${")) {
        *at += 3;
        piece->plain = (pawl_str){text.ptr + start + 1, 2};
        return PAWL_OK;
    }
    do
        (*at)++;
    while (*at < text.len && !starts_at(text, *at, "${") && !starts_at(text, *at, "$${"));
    piece->plain = (pawl_str){text.ptr + start, *at - start};
    return PAWL_OK;
}

static bool has_template(pawl_str text) {
    return text.len >= 3 && memmem(text.ptr, text.len, "${", 2) != NULL;
}

static pawl_status no_value(const struct tree *place, const struct piece *piece, size_t missing,
                            pawl_error *err) {
    const struct reference *reference = &piece->reference;
    if (reference->count == 0)
        (void)tree_fault(place, "template", err, "${%.*s} exists only inside a foreach",
                         STR_ARG(reference->text));
    else
        (void)tree_fault(place, "template", err, "${%.*s} does not exist: there is no '%.*s'",
                         STR_ARG(reference->text), STR_ARG(reference->segments[missing]));
    return PAWL_INVALID;
}

static pawl_status value_of(const struct tree *place, const struct piece *piece,
                            const struct template_scope *scope, const struct tree **value, pawl_error *err) {
    size_t missing = 0;
    const struct tree *found = reference_follow(&piece->reference, scope, &missing);
    if (piece->fallback != NULL && (found == NULL || found->kind == TREE_NULL))
        found = piece->fallback;
    if (found == NULL)
        return no_value(place, piece, missing, err);
    *value = found;
    return PAWL_OK;
}

static bool is_text_part(const struct tree *value) {
    return value->kind == TREE_STRING || value->kind == TREE_NUMBER || value->kind == TREE_TRUE ||
           value->kind == TREE_FALSE;
}

static pawl_status no_part(const struct tree *place, pawl_str path, const struct tree *value,
                           pawl_error *err) {
    return tree_fault(place, "template", err,
                      "${%.*s} is %s, which cannot be part of a text: use it alone, or name a part of it",
                      STR_ARG(path), tree_kind_name(value->kind));
}

/* A value inside text. */
static pawl_status append_value(const struct tree *place, const struct piece *piece, const struct tree *value,
                                struct buf *out, pawl_error *err) {
    if (!is_text_part(value))
        return no_part(place, piece->reference.text, value, err);
    if (value->kind == TREE_STRING || value->kind == TREE_NUMBER)
        buf_append_str(out, value->text);
    else
        buf_append_cstr(out, value->kind == TREE_TRUE ? "true" : "false");
    return PAWL_OK;
}

pawl_status template_fits(const struct template_use *use, const struct tree *value, const char *where,
                          pawl_error *err) {
    bool fallback = use->optional && (value == NULL || value->kind == TREE_NULL);
    if (fallback)
        return PAWL_OK;
    if (value == NULL)
        return tree_fault(use->place, "template", err, "${%.*s} does not exist %s", STR_ARG(use->path),
                          where);
    return use->alone || is_text_part(value) ? PAWL_OK : no_part(use->place, use->path, value, err);
}

static pawl_status fill_text(struct arena *arena, const struct tree *value,
                             const struct template_scope *scope, struct tree **filled, pawl_error *err) {
    struct buf out;
    buf_init(&out, PAWL_TEMPLATE_BYTES_MAX);
    pawl_status status = PAWL_OK;
    for (size_t at = 0; at < value->text.len && status == PAWL_OK;) {
        struct piece piece;
        const struct tree *found = NULL;
        bool first = at == 0;
        status = next_piece(arena, value, &at, &piece, err);
        if (status == PAWL_OK && !piece.is_reference) {
            buf_append_str(&out, piece.plain);
            continue;
        }
        if (status == PAWL_OK)
            status = value_of(value, &piece, scope, &found, err);
        if (found == NULL)
            break;
        if (status == PAWL_OK && first && at == value->text.len) {
            *filled = arena_copy(arena, found, sizeof(*found)); /* it is alone: the value itself */
            buf_free(&out);
            return *filled == NULL ? error_no_memory(err, "template") : PAWL_OK;
        }
        if (status == PAWL_OK)
            status = append_value(value, &piece, found, &out, err);
    }
    if (status == PAWL_OK && out.failed)
        status = tree_fault(value, "template", err, "the filled text is larger than %d bytes",
                            PAWL_TEMPLATE_BYTES_MAX);
    if (status == PAWL_OK) {
        *filled = tree_scalar(arena, TREE_STRING, buf_str(&out));
        status = *filled == NULL ? error_no_memory(err, "template") : PAWL_OK;
    }
    buf_free(&out);
    return status;
}

static pawl_status fill(struct arena *arena, const struct tree *value, const struct template_scope *scope,
                        const struct tree **filled, pawl_error *err) {
    struct tree *made = NULL;
    if (value->kind == TREE_STRING && has_template(value->text)) {
        pawl_status status = fill_text(arena, value, scope, &made, err);
        if (status != PAWL_OK)
            return status;
    } else if (value->count > 0) {
        const struct tree **items = arena_array(arena, value->count, sizeof(struct tree *));
        if (items == NULL)
            return error_no_memory(err, "template");
        for (size_t i = 0; i < value->count; i++) {
            pawl_status status = fill(arena, value->items[i], scope, &items[i], err);
            if (status != PAWL_OK)
                return status;
        }
        made = value->kind == TREE_OBJECT ? tree_object(arena, items, value->count)
                                          : tree_array(arena, items, value->count);
        if (made == NULL)
            return error_no_memory(err, "template");
    } else {
        *filled = value;
        return PAWL_OK;
    }
    made->key = value->key;
    made->line = value->line;
    made->column = value->column;
    *filled = made;
    return PAWL_OK;
}

/* Inserting a value many times may make a document too large to store. */
static pawl_status check_size(const struct tree *value, pawl_error *err) {
    if (value->depth > PAWL_JSON_DEPTH_MAX)
        return tree_fault(value, "template", err, "the filled document is nested more than %d levels deep",
                          PAWL_JSON_DEPTH_MAX);
    if (value->nodes > PAWL_TREE_NODES_MAX)
        return tree_fault(value, "template", err, "the filled document has more than %d values",
                          PAWL_TREE_NODES_MAX);
    struct buf text;
    buf_init(&text, PAWL_TEMPLATE_BYTES_MAX);
    tree_write(&text, value);
    bool fits = !text.failed;
    buf_free(&text);
    return fits ? PAWL_OK
                : tree_fault(value, "template", err, "the filled document is larger than %d bytes",
                             PAWL_TEMPLATE_BYTES_MAX);
}

pawl_status template_fill(struct arena *arena, const struct tree *value, const struct template_scope *scope,
                          const struct tree **filled, pawl_error *err) {
    const struct tree *made = NULL;
    pawl_status status = fill(arena, value, scope, &made, err);
    if (status == PAWL_OK)
        status = check_size(made, err);
    if (status == PAWL_OK)
        *filled = made;
    return status;
}

static pawl_status walk(struct arena *arena, const struct tree *value, template_visit visit, void *self,
                        pawl_error *err) {
    pawl_status status = PAWL_OK;
    if (value->kind == TREE_STRING && has_template(value->text)) {
        for (size_t at = 0; at < value->text.len && status == PAWL_OK;) {
            struct piece piece;
            bool first = at == 0;
            status = next_piece(arena, value, &at, &piece, err);
            if (status == PAWL_OK && piece.is_reference) {
                struct template_use use = reference_use(&piece.reference, value, piece.fallback != NULL);
                use.alone = first && at == value->text.len;
                status = visit(self, &use, err);
            }
        }
    }
    for (size_t i = 0; i < value->count && status == PAWL_OK; i++)
        status = walk(arena, value->items[i], visit, self, err);
    return status;
}

pawl_status template_walk(const struct tree *value, template_visit visit, void *self, pawl_error *err) {
    struct arena *arena = arena_create(0);
    pawl_status status = walk(arena, value, visit, self, err);
    arena_free(arena);
    return status;
}

pawl_status template_resolve(pawl_str path, const struct template_scope *scope, const struct tree **value,
                             pawl_error *err) {

    struct reference reference;
    size_t at = 0;
    const char *why = reference_read(path, &at, &reference);
    if (why == NULL && at != path.len)
        why = "something follows the path";
    if (why != NULL)
        return tree_fault(NULL, "template", err, "the path '%.*s' is malformed at position %zu: %s",
                          STR_ARG(path), at + 1, why);
    *value = reference_follow(&reference, scope, NULL);
    return PAWL_OK;
}
