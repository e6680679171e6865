/* Memory, hash tables and ordered lists of the model; the things they hold carry their own links. */
#ifndef MODEL_TABLE_H
#define MODEL_TABLE_H

#include "pawl.h"

/* Zeroed memory, never NULL: an operation of the model cannot be undone half way, so it stops the process
 * instead of going on with a state that no protocol allows. Only tests and the simulator use the model. */
void *model_alloc(size_t size);
void *model_grow(void *ptr, size_t *cap, size_t need, size_t size);
pawl_str model_text(pawl_str text); /* a copy; absent stays absent */
void model_text_free(pawl_str text);

struct node {
    struct node *next;
    uint64_t hash;
    void *thing; /* what this node is part of */
};

struct table {
    struct node **buckets;
    size_t cap; /* a power of two, or 0 */
    size_t count;
};

void model_table_add(struct table *table, struct node *node, uint64_t hash, void *thing);
void model_table_remove(struct table *table, struct node *node);
/* The first node with that hash, and the next one; the caller compares the keys. */
struct node *model_table_first(const struct table *table, uint64_t hash);
struct node *model_table_next(const struct node *node);
/* Every node, in no order: start with NULL; do not change the table meanwhile. */
struct node *model_table_each(const struct table *table, const struct node *node);
void model_table_free(struct table *table); /* the buckets, not the things */

uint64_t model_hash_uuid(pawl_uuid id);
uint64_t model_hash_number(int64_t number);
uint64_t model_hash_pair(uint64_t a, uint64_t b);

struct record;

/* A list of records in seq order. */
struct link {
    struct link *prev, *next;
    struct record *record;
};

struct list {
    struct link *first, *last;
    size_t count;
};

void model_list_insert(struct list *list, struct link *link, struct record *record);
void model_list_remove(struct list *list, struct link *link);

#endif
