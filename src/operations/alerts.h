/* Columns of answers about alerts that are not rows of the store. */
#ifndef OPERATIONS_ALERTS_H
#define OPERATIONS_ALERTS_H

#include "view/output/output.h"

enum { ALERT_TEST_COLUMNS = 2 };
extern const struct column alert_test_columns[ALERT_TEST_COLUMNS];

#endif
