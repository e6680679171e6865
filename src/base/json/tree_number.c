/* JSON numbers, exactly: as decimal digits, however many there are. */
#include <string.h>

#include "base/json/tree.h"
#include "base/limits.h"
#include "base/str.h"

/* digits × 10^exponent; no zeros on either side, so that equal numbers have equal parts. Zero has no digits.
 */
struct decimal {
    bool negative;
    size_t count;
    int64_t exponent;
    char digits[PAWL_JSON_NUMBER_BYTES_MAX];
};

static int64_t read_exponent(pawl_str text, size_t at) {
    if (at >= text.len)
        return 0;
    bool negative = text.ptr[at] == '-';
    if (negative || text.ptr[at] == '+')
        at++;
    int64_t exponent = 0;
    for (; at < text.len && exponent < 1000000; at++)
        exponent = exponent * 10 + (text.ptr[at] - '0');
    return negative ? -exponent : exponent;
}

static void read_decimal(pawl_str text, struct decimal *decimal) {
    size_t at = 0;
    bool fraction = false;
    decimal->negative = text.len > 0 && text.ptr[0] == '-';
    decimal->count = 0;
    decimal->exponent = 0;
    for (at = decimal->negative ? 1 : 0; at < text.len; at++) {
        char c = text.ptr[at];
        if (c == '.') {
            fraction = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        if ((decimal->count > 0 || c != '0') && decimal->count < sizeof(decimal->digits))
            decimal->digits[decimal->count++] = c;
        decimal->exponent -= fraction ? 1 : 0;
    }
    decimal->exponent += read_exponent(text, at + 1);
    while (decimal->count > 0 && decimal->digits[decimal->count - 1] == '0') {
        decimal->count--;
        decimal->exponent++;
    }
    if (decimal->count == 0) {
        decimal->negative = false;
        decimal->exponent = 0;
    }
}

static int compare_sizes(const struct decimal *a, const struct decimal *b) {
    int64_t a_places = (int64_t)a->count + a->exponent;
    int64_t b_places = (int64_t)b->count + b->exponent;
    if (a->count == 0 || b->count == 0)
        return a->count == b->count ? 0 : a->count == 0 ? -1 : 1;
    if (a_places != b_places)
        return a_places < b_places ? -1 : 1;
    return str_compare((pawl_str){a->digits, a->count}, (pawl_str){b->digits, b->count});
}

int tree_number_compare(pawl_str a, pawl_str b) {
    struct decimal left;
    struct decimal right;
    read_decimal(a, &left);
    read_decimal(b, &right);
    if (left.negative != right.negative)
        return left.negative ? -1 : 1;
    int order = compare_sizes(&left, &right);
    order = order < 0 ? -1 : order > 0 ? 1 : 0;
    return left.negative ? -order : order;
}

bool tree_number_is_integer(pawl_str number) {
    struct decimal decimal;
    read_decimal(number, &decimal);
    return decimal.exponent >= 0;
}

/* (a × b) mod m without overflow. */
static uint64_t times_modulo(uint64_t a, uint64_t b, uint64_t modulus) {
    return (uint64_t)(__extension__(unsigned __int128) a * b % modulus);
}

bool tree_number_is_multiple(pawl_str number, pawl_str divisor) {
    struct decimal value;
    struct decimal unit;
    read_decimal(number, &value);
    read_decimal(divisor, &unit);
    if (value.count == 0)
        return true;
    if (unit.count == 0 || unit.count > 18)
        return false;
    uint64_t modulus = 0;
    for (size_t i = 0; i < unit.count; i++)
        modulus = modulus * 10 + (uint64_t)(unit.digits[i] - '0');
    /* The value has no trailing zeros, so a unit with a larger power of ten cannot divide it. */
    if (value.exponent < unit.exponent)
        return false;
    uint64_t rest = 0;
    for (size_t i = 0; i < value.count; i++)
        rest = (times_modulo(rest, 10, modulus) + (uint64_t)(value.digits[i] - '0')) % modulus;
    uint64_t power = 10 % modulus;
    for (uint64_t left = (uint64_t)(value.exponent - unit.exponent); left > 0; left >>= 1) {
        if ((left & 1) != 0)
            rest = times_modulo(rest, power, modulus);
        power = times_modulo(power, power, modulus);
    }
    return rest == 0;
}

bool tree_to_i64(const struct tree *tree, int64_t *value) {
    struct decimal decimal;
    if (tree == NULL || tree->kind != TREE_NUMBER)
        return false;
    read_decimal(tree->text, &decimal);
    if (decimal.exponent < 0 || (int64_t)decimal.count + decimal.exponent > 19)
        return false;
    uint64_t size = 0;
    for (size_t i = 0; i < decimal.count + (size_t)decimal.exponent; i++)
        size = size * 10 + (i < decimal.count ? (uint64_t)(decimal.digits[i] - '0') : 0);
    if (size > (uint64_t)INT64_MAX + (decimal.negative ? 1 : 0))
        return false;
    *value = decimal.negative ? (int64_t)(-size) : (int64_t)size;
    return true;
}
