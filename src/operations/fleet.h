/* Columns of answers about the fleet that are not rows of the store. */
#ifndef OPERATIONS_FLEET_H
#define OPERATIONS_FLEET_H

#include "view/output/output.h"

struct doctor_finding;

enum { EVICTED_COLUMNS = 2, PLACE_COLUMNS = 10, TRANSPORT_COLUMNS = 7, DOCTOR_COLUMNS = 5 };
extern const struct column evicted_columns[EVICTED_COLUMNS];
/* The last two are for programs: they cost queries that a person asks for apart. */
extern const struct column place_columns[PLACE_COLUMNS];
extern const struct column transport_columns[TRANSPORT_COLUMNS];
extern const struct column doctor_check_columns[DOCTOR_COLUMNS];

extern const struct column finding_columns[DOCTOR_COLUMNS];
void finding_cells(const struct doctor_finding *finding, struct cell cells[static DOCTOR_COLUMNS]);

#endif
