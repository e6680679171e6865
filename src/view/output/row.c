/* Turning the members of a row into cells. */
#include "view/output/row.h"

static struct cell number_cell(const struct column *column, int64_t number) {
    if (column->words != NULL) {
        bool known = number >= 0 && (size_t)number < column->word_count;
        return known ? cell_cstr(column->words[number]) : cell_none();
    }
    if ((column->absent == ABSENT_BELOW_ZERO && number < 0) || (column->absent == ABSENT_ZERO && number <= 0))
        return cell_none();
    return column->type == CELL_TIME ? cell_time(number) : cell_int(number);
}

static struct cell member_cell(const struct column *column, const void *row) {
    const char *at = (const char *)row + column->member.offset;
    switch ((enum member_type)column->member.type) {
    case MEMBER_INT:
    case MEMBER_SMALL:
        return number_cell(column, *(const int *)at);
    case MEMBER_BIG:
        return number_cell(column, *(const int64_t *)at);
    case MEMBER_BOOL:
        return cell_bool(*(const bool *)at);
    case MEMBER_TEXT:
    case MEMBER_JSON:
        return cell_text(*(const pawl_str *)at);
    case MEMBER_UUID:
        return cell_uuid(*(const pawl_uuid *)at);
    case MEMBER_NONE:
        break;
    }
    return cell_none();
}

void row_cells(const struct column *columns, size_t count, const void *row, const struct cell *made,
               struct cell *cells) {
    for (size_t i = 0; i < count; i++) {
        bool computed = columns[i].member.type == MEMBER_NONE && made != NULL;
        cells[i] = computed ? *made++ : member_cell(&columns[i], row);
    }
}
