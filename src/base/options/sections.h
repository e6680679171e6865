/* Files of sections, such as the handlers file and the transports file: [NAME], then lines "key = value". A
 * table of keys says which member of a struct each value goes to. */
#ifndef BASE_OPTIONS_SECTIONS_H
#define BASE_OPTIONS_SECTIONS_H

#include <stddef.h>

#include "base/arena.h"
#include "pawl.h"

enum section_value {
    SECTION_TEXT,         /* const char *: not empty */
    SECTION_ANY_TEXT,     /* const char *: may be empty */
    SECTION_NAME,         /* pawl_str: from 1 to max bytes */
    SECTION_SECRET,       /* const char *: KEY-env names a variable, KEY-file a file */
    SECTION_TEXT_SECRET,  /* the same, or KEY has it itself, perhaps empty */
    SECTION_MS,           /* int: a duration of at most max ms */
    SECTION_DURATION,     /* int64_t: the same; max 0 = any */
    SECTION_NUMBER,       /* int: from 1 to max */
    SECTION_LARGE_NUMBER, /* int64_t: from 1 to max */
    SECTION_SWITCH,       /* bool: the words for false and true in choices */
    SECTION_CHOICE,       /* int: the index in choices, plus max */
    SECTION_OTHER         /* read takes it */
};

struct section_file;

struct section_key {
    const char *key;
    enum section_value kind;
    size_t at;          /* of the member */
    const char *wanted; /* the sentence that refuses a value; a SECTION_SECRET has its own */
    int64_t max;
    const char *choices; /* "false|true" */
    bool (*read)(struct section_file *file, void *member, pawl_str value);
};

/* What every key has; the rest follows by name. */
#define SECTION_KEY(name, value, member, sentence)                                                           \
    .key = (name), .kind = (value), .at = (member), .wanted = (sentence)

/* Fill in the first part. Texts of values are in the arena. */
struct section_file {
    const char *op; /* for errors, such as "handlers file" */
    const char *path;
    const char *sections; /* what sections there are, for errors */
    struct arena *arena;
    void *self;
    /* A section begins: sets keys, key_count and into. */
    pawl_status (*begin)(struct section_file *file, pawl_str name, pawl_error *err);
    pawl_status (*end)(struct section_file *file, pawl_error *err);
    /* A key that is not in the table. */
    pawl_status (*stray)(struct section_file *file, pawl_str key, pawl_str value, pawl_error *err);

    const struct section_key *keys; /* of the section that is being read; NULL: none has begun */
    size_t key_count;               /* at most 32 */
    void *into;
    int line, section_line;
    uint32_t seen; /* a bit per key */
};

/* "PATH:LINE: reason" with the line that is being read, or with the one where the section began. */
pawl_status section_fault(const struct section_file *file, pawl_status status, const char *reason,
                          pawl_error *err);
pawl_status section_whole_fault(const struct section_file *file, pawl_status status, const char *reason,
                                pawl_error *err);

/* Reads the whole file. */
PAWL_MUSTCHECK pawl_status section_file_read(struct section_file *file, pawl_error *err);

#endif
