/* Tests of opening a store by its address: what is understood, and what a wrong address is told. */
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/file/memory.h"
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
    refused(":memory:", "name a file");
}

TEST(a_password_never_appears_in_the_message) {
    pawl_error err = {0};
    struct store *store = NULL;
    const struct store_config config = {.url = "oracle://user:secret@host/db"};
    assert_int_equal(store_open(&config, &store, &err), PAWL_INVALID);
    assert_null(strstr(err.text, "secret"));
}

static struct store *memory_open(const struct migrate_config *counts) {
    static const int64_t now_ms = INT64_C(1700000000000);
    pawl_error err = {0};
    struct store *store = NULL;
    if (sqlite_memory_open(counts, &now_ms, &store, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return store;
}

TEST(a_store_in_memory_has_its_counts_and_its_clock) {
    pawl_error err = {0};
    struct settings settings = {0};
    int64_t now_ms = 0;
    struct store *store = memory_open(&(struct migrate_config){100, 8});
    assert_int_equal(store->ops->core.settings_read(store, &settings, &err), PAWL_OK);
    assert_int_equal(settings.partition_count, 100);
    assert_int_equal(settings.lane_count, 8);
    assert_int_equal(store->ops->core.clock_read(store, &now_ms, &err), PAWL_OK);
    assert_int_equal(now_ms, INT64_C(1700000000000));
    store_close(store);
    store_close(NULL);
}

/* covers: W17 */
TEST(a_call_that_names_another_partition_count_is_refused) {
    pawl_error err = {0};
    struct store *store = memory_open(&(struct migrate_config){0});
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
        cmocka_unit_test(a_store_in_memory_has_its_counts_and_its_clock),
        cmocka_unit_test(a_call_that_names_another_partition_count_is_refused),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
