/* Shared by the files of the option parser only (options*.c). */
#ifndef BASE_OPTIONS_OPTIONS_PARTS_H
#define BASE_OPTIONS_OPTIONS_PARTS_H

#include "base/options/options.h"

/* Where a value came from, for the error message. */
struct option_place {
    enum option_source source;
    const char *label; /* --lease, PAWL_LEASE, "lease in pawl.conf" */
    bool seconds;      /* a plain number is a number of seconds */
};

/* Text to value, with its range checked. text must outlive the value. */
PAWL_MUSTCHECK pawl_status option_value_parse(const struct option_row *row, pawl_str text,
                                              const struct option_place *place, struct option_value *value,
                                              pawl_error *err);

/* Whether min and max of the row mean anything. */
bool option_has_range(const struct option_row *row);

/* Reads the file into values that nothing stronger has set yet. */
PAWL_MUSTCHECK pawl_status options_file_read(struct arena *arena, const char *path, struct options *options,
                                             pawl_error *err);

/* A number as the row's type writes it: 5m, 256KiB, 12. Returns text. */
enum { OPTION_NUMBER_BYTES = 32 };
char *option_number_format(enum option_type type, int64_t number, char text[static OPTION_NUMBER_BYTES]);

#endif
