/* Columns of answers about housekeeping. */
#ifndef OPERATIONS_NOTES_H
#define OPERATIONS_NOTES_H

#include "view/output/output.h"

enum { UPKEEP_COLUMNS = 12 };
extern const struct column upkeep_columns[UPKEEP_COLUMNS];

#endif
