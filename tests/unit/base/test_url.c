/* Addresses are shown without their secrets. */
#include "support/check.h"

#include <string.h>

#include "base/buf.h"
#include "base/options/url.h"
#include "base/str.h"

static void assert_redacted(const char *url, const char *expected) {
    struct buf buf;
    buf_init(&buf, 0);
    url_redact(&buf, str_from(url));
    assert_string_equal(buf.ptr, expected);
    buf_free(&buf);
}

TEST(passwords_in_addresses) {
    assert_redacted("postgres://joe:s3cret@db:5432/app", "postgres://joe:***@db:5432/app");
    assert_redacted("postgres://joe@db/app", "postgres://joe@db/app");
    assert_redacted("postgres://:s3cret@/app", "postgres://:***@/app");
    assert_redacted("postgres://joe:@db/app", "postgres://joe:***@db/app");
    assert_redacted("postgres://db/app", "postgres://db/app");
    assert_redacted("postgres://", "postgres://");
}

TEST(passwords_that_were_not_encoded) {
    assert_redacted("postgres://joe:p@ss/w@db/app", "postgres://joe:***@db/app");
    assert_redacted("postgres://joe:a:b@db/app", "postgres://joe:***@db/app");
    assert_redacted("postgres://joe:p?x@db/app", "postgres://joe:***@db/app");
}

TEST(secret_parameters) {
    assert_redacted("postgres://db/app?sslmode=require&password=x&user=joe",
                    "postgres://db/app?sslmode=require&password=***&user=joe");
    assert_redacted("postgres://db/app?SSLPassword=x", "postgres://db/app?SSLPassword=***");
    assert_redacted("postgres://joe:x@db/app?options=a@b&", "postgres://joe:***@db/app?options=a@b&");
    assert_redacted("postgres://db/app?password", "postgres://db/app?password");
}

TEST(connection_strings) {
    assert_redacted("host=db password=s3cret dbname=app", "host=db password=*** dbname=app");
    assert_redacted("host = db password = s3cret dbname=app", "host = db password = *** dbname=app");
    assert_redacted("password =", "password =***");
    assert_redacted("postgres:s3cret@db/app", "postgres:***@db/app");
    assert_redacted("postgresql:joe:s3cret@db/app", "postgres:***@db/app");
    assert_redacted("password='two words \\' more' host=db", "password=*** host=db");
    assert_redacted("  host=db   Password=x", "  host=db   Password=***");
    assert_redacted("password='no end", "password=***");
    assert_redacted("password=", "password=***");
}

TEST(files_stay_as_they_are) {
    assert_redacted("pawl.db", "pawl.db");
    assert_redacted("/var/lib/pawl/a b.db", "/var/lib/pawl/a b.db");
    assert_redacted("sqlite:pawl.db", "sqlite:pawl.db");
    assert_redacted("", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_in_addresses), cmocka_unit_test(passwords_that_were_not_encoded),
        cmocka_unit_test(secret_parameters),      cmocka_unit_test(connection_strings),
        cmocka_unit_test(files_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
