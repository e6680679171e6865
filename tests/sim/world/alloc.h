/* Memory of the simulator: there is enough, or the program ends. */
#ifndef SIM_ALLOC_H
#define SIM_ALLOC_H

#include <stddef.h>

void *sim_alloc(size_t size); /* zeroed */
void *sim_grow(void *items, size_t *capacity, size_t wanted, size_t size);

#endif
