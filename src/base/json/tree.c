/* JSON values as a tree: creating, reading and writing them. */
#include "base/json/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"

const struct tree tree_null = {.kind = TREE_NULL, .nodes = 1};
const struct tree tree_empty = {.kind = TREE_OBJECT, .nodes = 1};

const char *tree_kind_name(enum tree_kind kind) {
    static const char *const names[] = {"null", "boolean", "boolean", "number", "string", "array", "object"};
    return names[kind];
}

const struct tree *tree_stray(const struct tree *tree, const char *const *keys) {
    for (size_t i = 0; i < tree->count; i++) {
        size_t k = 0;
        while (keys[k] != NULL && !str_equal_cstr(tree->items[i]->key, keys[k]))
            k++;
        if (keys[k] == NULL)
            return tree->items[i];
    }
    return NULL;
}

size_t tree_index(const struct tree *tree, pawl_str key) {
    size_t low = 0;
    size_t high = tree->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(tree->sorted[middle]->key, key);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return tree->count;
}

const struct tree *tree_get(const struct tree *tree, pawl_str key) {
    if (tree == NULL || tree->kind != TREE_OBJECT)
        return NULL;
    size_t index = tree_index(tree, key);
    return index < tree->count ? tree->sorted[index] : NULL;
}

const struct tree *tree_get_cstr(const struct tree *tree, const char *key) {
    return tree_get(tree, str_from(key));
}

bool tree_equal(const struct tree *a, const struct tree *b) {
    if (a == b)
        return true;
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == TREE_NUMBER)
        return tree_number_compare(a->text, b->text) == 0;
    if (a->kind == TREE_STRING)
        return str_equal(a->text, b->text);
    for (size_t i = 0; i < a->count; i++) {
        const struct tree *left = a->kind == TREE_OBJECT ? a->sorted[i] : a->items[i];
        const struct tree *right = a->kind == TREE_OBJECT ? b->sorted[i] : b->items[i];
        if ((a->kind == TREE_OBJECT && !str_equal(left->key, right->key)) || !tree_equal(left, right))
            return false;
    }
    return true;
}

static void write_items(struct buf *buf, const struct tree *tree) {
    bool object = tree->kind == TREE_OBJECT;
    buf_append_char(buf, object ? '{' : '[');
    for (size_t i = 0; i < tree->count && !buf->failed; i++) {
        if (i > 0)
            buf_append_char(buf, ',');
        if (object) {
            json_quote(buf, tree->items[i]->key);
            buf_append_char(buf, ':');
        }
        tree_write(buf, tree->items[i]);
    }
    buf_append_char(buf, object ? '}' : ']');
}

void tree_write(struct buf *buf, const struct tree *tree) {
    switch (tree->kind) {
    case TREE_NULL:
        buf_append_cstr(buf, "null");
        break;
    case TREE_FALSE:
        buf_append_cstr(buf, "false");
        break;
    case TREE_TRUE:
        buf_append_cstr(buf, "true");
        break;
    case TREE_NUMBER:
        buf_append_str(buf, tree->text);
        break;
    case TREE_STRING:
        json_quote(buf, tree->text);
        break;
    case TREE_ARRAY:
    case TREE_OBJECT:
        write_items(buf, tree);
        break;
    }
}

pawl_status tree_text(struct arena *arena, const struct tree *tree, size_t bytes_max, pawl_str *json,
                      pawl_error *err) {
    struct buf text;
    buf_init(&text, bytes_max);
    tree_write(&text, tree);
    pawl_status status = buf_status(&text, "tree", err);
    if (status == PAWL_OK)
        status = str_dup(arena, buf_str(&text), json, err);
    buf_free(&text);
    return status;
}

struct tree *tree_scalar(struct arena *arena, enum tree_kind kind, pawl_str text) {
    struct tree *tree = arena_alloc(arena, sizeof(*tree));
    if (tree == NULL)
        return NULL;
    tree->kind = kind;
    tree->nodes = 1;
    if (kind == TREE_NUMBER || kind == TREE_STRING) {
        const char *copy = arena_copy(arena, text.len > 0 ? text.ptr : "", text.len);
        if (copy == NULL)
            return NULL;
        tree->text = (pawl_str){copy, text.len};
    }
    return tree;
}

struct tree *tree_from_i64(struct arena *arena, int64_t value) {
    char text[24];
    int length = snprintf(text, sizeof(text), "%" PRId64, value);
    return tree_scalar(arena, TREE_NUMBER, (pawl_str){text, (size_t)length});
}

/* Adds up the values below; a sum that overflows is far beyond any limit anyway. */
static void sum_up(struct tree *tree) {
    tree->nodes = 1;
    for (size_t i = 0; i < tree->count; i++) {
        const struct tree *item = tree->items[i];
        tree->nodes = item->nodes > UINT32_MAX - tree->nodes ? UINT32_MAX : tree->nodes + item->nodes;
        if (item->depth >= tree->depth)
            tree->depth = item->depth + 1;
    }
}

static struct tree *make_container(struct arena *arena, enum tree_kind kind, const struct tree **items,
                                   size_t count) {
    struct tree *tree = arena_alloc(arena, sizeof(*tree));
    if (tree == NULL)
        return NULL;
    tree->kind = kind;
    tree->count = count;
    tree->items = arena_array(arena, count, sizeof(struct tree *));
    if (tree->items == NULL)
        return NULL;
    if (count > 0)
        memcpy(tree->items, items, count * sizeof(struct tree *));
    sum_up(tree);
    return tree;
}

struct tree *tree_array(struct arena *arena, const struct tree **items, size_t count) {
    return make_container(arena, TREE_ARRAY, items, count);
}

static int compare_keys(const void *a, const void *b) {
    return str_compare((*(const struct tree *const *)a)->key, (*(const struct tree *const *)b)->key);
}

struct tree *tree_object(struct arena *arena, const struct tree **items, size_t count) {
    struct tree *tree = make_container(arena, TREE_OBJECT, items, count);
    if (tree == NULL)
        return NULL;
    tree->sorted = arena_array(arena, count, sizeof(struct tree *));
    if (tree->sorted == NULL)
        return NULL;
    if (count > 0)
        memcpy(tree->sorted, items, count * sizeof(struct tree *));
    qsort(tree->sorted, count, sizeof(struct tree *), compare_keys);
    for (size_t i = 1; i < count; i++)
        if (str_equal(tree->sorted[i - 1]->key, tree->sorted[i]->key))
            return NULL;
    return tree;
}

struct tree *tree_with_key(struct arena *arena, const struct tree *tree, pawl_str key) {
    struct tree *copy = arena_copy(arena, tree, sizeof(*tree));
    const char *name = arena_copy(arena, key.len > 0 ? key.ptr : "", key.len);
    if (copy == NULL || name == NULL)
        return NULL;
    copy->key = (pawl_str){name, key.len};
    return copy;
}

const struct tree *tree_copy(struct arena *arena, const struct tree *tree) {
    struct tree *copy = arena_copy(arena, tree, sizeof(*tree));
    if (copy == NULL)
        return NULL;
    if (tree->key.ptr != NULL)
        copy->key.ptr = arena_copy(arena, tree->key.ptr, tree->key.len);
    if (tree->text.ptr != NULL)
        copy->text.ptr = arena_copy(arena, tree->text.ptr, tree->text.len);
    if ((tree->key.ptr != NULL && copy->key.ptr == NULL) ||
        (tree->text.ptr != NULL && copy->text.ptr == NULL))
        return NULL;
    if (tree->kind != TREE_ARRAY && tree->kind != TREE_OBJECT)
        return copy;
    const struct tree **items = arena_array(arena, tree->count, sizeof(struct tree *));
    if (items == NULL)
        return NULL;
    for (size_t i = 0; i < tree->count; i++) {
        items[i] = tree_copy(arena, tree->items[i]);
        if (items[i] == NULL)
            return NULL;
    }
    struct tree *container = tree->kind == TREE_OBJECT ? tree_object(arena, items, tree->count)
                                                       : tree_array(arena, items, tree->count);
    if (container == NULL)
        return NULL;
    container->key = copy->key;
    container->line = tree->line;
    container->column = tree->column;
    return container;
}
