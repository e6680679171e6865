/* The findings of the doctor as rows. */
#ifndef OPERATIONS_FLEET_FLEET_H
#define OPERATIONS_FLEET_FLEET_H

#include "view/output/output.h"

struct doctor_finding;

enum { FINDING_COLUMNS = 5 };
extern const struct column finding_columns[FINDING_COLUMNS];
void finding_cells(const struct doctor_finding *finding, struct cell cells[static FINDING_COLUMNS]);

#endif
