/* What every cmocka test program needs, in the order that cmocka wants it. */
#ifndef SUPPORT_CHECK_H
#define SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* An unused `void **fixture` in every test would only be noise. */
#define TEST(name) static void name(void **fixture __attribute__((unused)))

#endif
