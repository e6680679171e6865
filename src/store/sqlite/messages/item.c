/* Reading messages out of rows. */
#include "store/sqlite/messages/item.h"

void item_read(struct statement *s, int first, struct arena *arena, struct item *item) {
    *item = (struct item){
        .id = column_uuid(s, first),
        .partition = (int)column_int(s, first + 1),
        .put_ms = column_int(s, first + 2),
        .stream = column_copy(s, first + 3, arena),
        .topic = column_copy(s, first + 4, arena),
        .type = column_copy(s, first + 5, arena),
        .consumer = column_copy(s, first + 6, arena),
        .correlation_id = column_uuid(s, first + 7),
        .causation_id = column_uuid(s, first + 8),
        .traceparent = column_copy(s, first + 9, arena),
        .headers = column_copy(s, first + 10, arena),
        .payload = column_copy(s, first + 11, arena),
    };
}
