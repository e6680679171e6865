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

pawl_str tree_get_text(const struct tree *tree, const char *key) {
    const struct tree *member = tree_get_cstr(tree, key);
    return member != NULL && member->kind == TREE_STRING ? member->text : (pawl_str){NULL, 0};
}

int64_t tree_get_i64(const struct tree *tree, const char *key) {
    int64_t number = 0;
    return tree_to_i64(tree_get_cstr(tree, key), &number) ? number : 0;
}

bool tree_get_true(const struct tree *tree, const char *key) {
    const struct tree *member = tree_get_cstr(tree, key);
    return member != NULL && member->kind == TREE_TRUE;
}

const struct tree *tree_step(const struct tree *tree, pawl_str step) {
    uint64_t index = 0;
    if (tree->kind == TREE_ARRAY && str_to_u64(step, UINT32_MAX, &index) && index < tree->count)
        return tree->items[index];
    return tree_get(tree, step);
}

/* The items of a container in an order that does not depend on the document. */
static const struct tree *const *in_order(const struct tree *tree) {
    return tree->kind == TREE_OBJECT ? tree->sorted : tree->items;
}

int tree_compare(const struct tree *a, const struct tree *b) {
    if (a == b)
        return 0;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == TREE_NUMBER)
        return tree_number_compare(a->text, b->text);
    if (a->kind == TREE_STRING)
        return str_compare(a->text, b->text);
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    int order = 0;
    for (size_t i = 0; i < a->count && order == 0; i++) {
        const struct tree *left = in_order(a)[i], *right = in_order(b)[i];
        order = a->kind == TREE_OBJECT ? str_compare(left->key, right->key) : 0;
        if (order == 0)
            order = tree_compare(left, right);
    }
    return order;
}

static void write_value(struct buf *buf, const struct tree *tree, bool sorted) {
    static const char *const words[] = {"null", "false", "true"};
    bool object = tree->kind == TREE_OBJECT;
    if (tree->kind <= TREE_TRUE) {
        buf_append_cstr(buf, words[tree->kind]);
    } else if (tree->kind == TREE_NUMBER) {
        buf_append_str(buf, tree->text);
    } else if (tree->kind == TREE_STRING) {
        json_quote(buf, tree->text);
    } else {
        buf_append_char(buf, object ? '{' : '[');
        for (size_t i = 0; i < tree->count && !buf->failed; i++) {
            const struct tree *item = sorted ? in_order(tree)[i] : tree->items[i];
            if (i > 0)
                buf_append_char(buf, ',');
            if (object) {
                json_quote(buf, item->key);
                buf_append_char(buf, ':');
            }
            write_value(buf, item, sorted);
        }
        buf_append_char(buf, object ? '}' : ']');
    }
}

void tree_write(struct buf *buf, const struct tree *tree) { write_value(buf, tree, false); }

void tree_write_sorted(struct buf *buf, const struct tree *tree) { write_value(buf, tree, true); }

pawl_status tree_text(struct arena *arena, const struct tree *tree, size_t bytes_max, pawl_str *json,
                      pawl_error *err) {
    struct buf text;
    buf_init(&text, bytes_max);
    tree_write(&text, tree);
    return str_keep(arena, &text, "tree", json, err);
}

pawl_status tree_parse_buf(struct arena *arena, struct buf *written, const char *op, const struct tree **tree,
                           pawl_error *err) {
    pawl_status status = buf_status(written, op, err);
    if (status == PAWL_OK)
        status = tree_parse(arena, buf_str(written), NULL, tree, err);
    buf_free(written);
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

struct tree *tree_of_pairs(struct arena *arena, const struct tree_pair *pairs, size_t count) {
    const struct tree *items[TREE_PAIRS_MAX];
    size_t made = 0;
    for (size_t i = 0; i < count && made < TREE_PAIRS_MAX; i++) {
        if (pairs[i].value == NULL)
            continue;
        items[made] = tree_with_key(arena, pairs[i].value, str_from(pairs[i].key));
        if (items[made++] == NULL)
            return NULL;
    }
    return tree_object(arena, items, made);
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
