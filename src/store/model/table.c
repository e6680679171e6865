/* Memory, hash tables and ordered lists of the model. */
#include "store/model/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/model/state.h"

void *model_alloc(size_t size) {
    void *ptr = calloc(1, size > 0 ? size : 1);
    if (ptr == NULL)
        abort();
    return ptr;
}

void *model_grow(void *ptr, size_t *cap, size_t need, size_t size) {
    if (need <= *cap)
        return ptr;
    size_t wanted = *cap < 8 ? 8 : *cap * 2;
    if (wanted < need)
        wanted = need;
    ptr = reallocarray(ptr, wanted, size);
    if (ptr == NULL)
        abort();
    *cap = wanted;
    return ptr;
}

pawl_str model_text(pawl_str text) {
    if (text.ptr == NULL)
        return (pawl_str){NULL, 0};
    char *copy = model_alloc(text.len + 1);
    memcpy(copy, text.ptr, text.len);
    return (pawl_str){copy, text.len};
}

void model_text_free(pawl_str text) { free((void *)(uintptr_t)text.ptr); }

static void table_link(struct table *table, struct node *node) {
    struct node **bucket = &table->buckets[node->hash & (table->cap - 1)];
    node->next = *bucket;
    *bucket = node;
}

static void table_resize(struct table *table) {
    struct table bigger = {.cap = table->cap == 0 ? 64 : table->cap * 2, .count = table->count};
    bigger.buckets = model_alloc(bigger.cap * sizeof(struct node *));
    for (size_t i = 0; i < table->cap; i++) {
        for (struct node *node = table->buckets[i], *next; node != NULL; node = next) {
            next = node->next;
            table_link(&bigger, node);
        }
    }
    free(table->buckets);
    *table = bigger;
}

void model_table_add(struct table *table, struct node *node, uint64_t hash, void *thing) {
    if (table->count >= table->cap)
        table_resize(table);
    node->hash = hash;
    node->thing = thing;
    table_link(table, node);
    table->count++;
}

void model_table_remove(struct table *table, struct node *node) {
    struct node **at = &table->buckets[node->hash & (table->cap - 1)];
    while (*at != node) {
        assert(*at != NULL);
        at = &(*at)->next;
    }
    *at = node->next;
    node->next = NULL;
    table->count--;
}

struct node *model_table_first(const struct table *table, uint64_t hash) {
    if (table->cap == 0)
        return NULL;
    struct node *node = table->buckets[hash & (table->cap - 1)];
    while (node != NULL && node->hash != hash)
        node = node->next;
    return node;
}

struct node *model_table_next(const struct node *node) {
    struct node *next = node->next;
    while (next != NULL && next->hash != node->hash)
        next = next->next;
    return next;
}

struct node *model_table_each(const struct table *table, const struct node *node) {
    size_t bucket = 0;
    if (node != NULL) {
        if (node->next != NULL)
            return node->next;
        bucket = (node->hash & (table->cap - 1)) + 1;
    }
    for (; bucket < table->cap; bucket++) {
        if (table->buckets[bucket] != NULL)
            return table->buckets[bucket];
    }
    return NULL;
}

void model_table_free(struct table *table) {
    free(table->buckets);
    *table = (struct table){NULL, 0, 0};
}

uint64_t model_hash_number(int64_t number) {
    uint64_t x = (uint64_t)number + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t model_hash_uuid(pawl_uuid id) { return fnv1a64((pawl_str){(const char *)id.b, sizeof id.b}); }

uint64_t model_hash_pair(uint64_t a, uint64_t b) {
    return model_hash_number((int64_t)(a ^ model_hash_number((int64_t)b)));
}

/* Most insertions are at one of the ends: new messages behind, a failed head in front. */
void model_list_insert(struct list *list, struct link *link, struct record *record) {
    link->record = record;
    struct link *before = list->last;
    if (list->first != NULL && record->seq < list->first->record->seq)
        before = NULL;
    while (before != NULL && before->record->seq > record->seq)
        before = before->prev;
    link->prev = before;
    link->next = before != NULL ? before->next : list->first;
    *(link->prev != NULL ? &link->prev->next : &list->first) = link;
    *(link->next != NULL ? &link->next->prev : &list->last) = link;
    list->count++;
}

void model_list_remove(struct list *list, struct link *link) {
    *(link->prev != NULL ? &link->prev->next : &list->first) = link->next;
    *(link->next != NULL ? &link->next->prev : &list->last) = link->prev;
    *link = (struct link){NULL, NULL, NULL};
    list->count--;
}
