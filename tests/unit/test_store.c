/* Tests of opening a store by its address: what is understood, and what a wrong address is told. */
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "store/store.h"
#include "support/check.h"

static void refused_(const char *url, const char *words, int line) {
    pawl_error err = {0};
    struct store *store = NULL;
    const struct store_config config = {.url = url};
    pawl_status status = store_open(&config, &store, &err);
    if (status != PAWL_INVALID || store != NULL || strstr(err.text, words) == NULL)
        fail_msg("line %d: status %d, text \"%s\", wanted \"%s\"", line, (int)status, err.text, words);
}
#define refused(url, words) refused_(url, words, __LINE__)

TEST(a_wrong_address_is_told_what_to_write) {
    refused(NULL, "no database is named");
    refused("", "give a file path for SQLite or postgres://");
    refused("mysql://host/db", "mysql:// is not a database pawl knows");
    refused("postgres:host/db", "needs two slashes");
    refused("sqlite:", "names no file");
    refused("model:/tmp/x", "has no path");
    refused("model:?lanes=0", "lanes='0' is not a number from 1 to 4096");
    refused("model:?color=red", "'color' is no option of model:");
    refused("model:?partitions=4&lanes=8", "8 lanes are more than 4 partitions");
}

TEST(a_password_never_appears_in_the_message) {
    pawl_error err = {0};
    struct store *store = NULL;
    const struct store_config config = {.url = "oracle://user:secret@host/db"};
    assert_int_equal(store_open(&config, &store, &err), PAWL_INVALID);
    assert_null(strstr(err.text, "secret"));
}

TEST(the_address_of_a_model_sets_its_counts) {
    pawl_error err = {0};
    struct store *store = NULL;
    struct settings settings = {0};
    const struct store_config config = {.url = "model:?partitions=100&lanes=8"};
    assert_int_equal(store_open(&config, &store, &err), PAWL_OK);
    assert_string_equal(store->dialect, "model");
    assert_int_equal(store->ops->core.settings_read(store, &settings, &err), PAWL_OK);
    assert_int_equal(settings.partition_count, 100);
    assert_int_equal(settings.lane_count, 8);
    store_close(store);
    store_close(NULL);
}

/* covers: W17 */
TEST(a_call_that_names_another_partition_count_is_refused) {
    pawl_error err = {0};
    struct store *store = NULL;
    const struct store_config config = {.url = "model:"};
    assert_int_equal(store_open(&config, &store, &err), PAWL_OK);
    struct instance_grant grant;
    struct instance_new in = {.id = {{1}}, .service = STR("shop"), .partition_count = 1000};
    assert_int_equal(store->ops->core.instance_register(store, &in, &grant, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "differs from the schema's 10000"));
    in.partition_count = 10000;
    assert_int_equal(store->ops->core.instance_register(store, &in, &grant, &err), PAWL_OK);
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_address_is_told_what_to_write),
        cmocka_unit_test(a_password_never_appears_in_the_message),
        cmocka_unit_test(the_address_of_a_model_sets_its_counts),
        cmocka_unit_test(a_call_that_names_another_partition_count_is_refused),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
