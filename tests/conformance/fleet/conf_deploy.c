/* Deploys: when the audit says that a service runs something else from now on. */
#include "conformance/harness.h"

/* Instance n of a service begins to run what metadata says. */
static void starts(struct conf *c, int n, pawl_str service, pawl_str metadata) {
    struct instance_new in = instance_named(n, KIND_BIT(KIND_OUTBOX));
    in.service = service;
    in.metadata = metadata;
    join_with(c, in);
}

static void stops(struct conf *c, int n) {
    ok(c, c->core->instance_deregister(c->store, instance_named(n, 0).id, &c->err));
}

static size_t deploys(struct conf *c, struct audit_rows *rows) {
    ok(c, c->store->ops->relay->audits(c->store, 0, 10, c->arena, rows, &c->err));
    return rows->count;
}

static const pawl_str OLD = STR_INIT("{\"version\":\"1.4\",\"pawl_version\":\"0.1.0\"}"),
                      NEW = STR_INIT("{\"pawl_version\":\"0.1.0\",\"team\":\"x\",\"version\":\"1.5\"}");

static void a_version_that_appears_is_a_deploy_once(void **state) {
    struct conf *c = *state;
    struct audit_rows rows;
    starts(c, 1, STR("orders"), OLD);
    starts(c, 2, STR("orders"), OLD);
    assert_int_equal(deploys(c, &rows), 1);
    assert_true(str_equal_cstr(rows.rows[0].actor, "orders"));
    assert_true(str_equal_cstr(rows.rows[0].action, "deploy"));
    assert_true(str_equal_cstr(rows.rows[0].detail, "version 1.4, pawl 0.1.0"));
    assert_int_equal(rows.rows[0].at_ms, c->now_ms);
    advance(c, 1000);
    starts(c, 3, STR("orders"), NEW);
    starts(c, 4, STR("orders"), NEW);
    starts(c, 5, STR("orders"), OLD); /* one of the old ones restarts while the new ones come */
    assert_int_equal(deploys(c, &rows), 2);
    assert_true(str_equal_cstr(rows.rows[0].detail, "version 1.5, pawl 0.1.0"));
    assert_int_equal(rows.rows[0].at_ms, c->now_ms);
}

static void a_restart_of_everything_is_none_and_going_back_is_one(void **state) {
    struct conf *c = *state;
    struct audit_rows rows;
    starts(c, 1, STR("orders"), OLD);
    stops(c, 1);
    starts(c, 2, STR("orders"), OLD);
    assert_int_equal(deploys(c, &rows), 1);
    starts(c, 3, STR("orders"), NEW);
    stops(c, 2);
    starts(c, 4, STR("orders"), OLD);
    assert_int_equal(deploys(c, &rows), 3);
    assert_true(str_equal_cstr(rows.rows[0].detail, "version 1.4, pawl 0.1.0"));
}

static void each_service_has_its_own_and_who_says_nothing_has_none(void **state) {
    struct conf *c = *state;
    struct audit_rows rows;
    starts(c, 1, STR("orders"), (pawl_str){0});
    starts(c, 2, STR("orders"), STR("{}"));
    starts(c, 3, STR("orders"), STR("{\"version\":null,\"team\":\"x\"}"));
    assert_int_equal(deploys(c, &rows), 0);
    starts(c, 4, STR("orders"), STR("{\"pawl_version\":\"0.1.0\"}"));
    starts(c, 5, STR("billing"), STR("{\"pawl_version\":\"0.1.0\"}"));
    assert_int_equal(deploys(c, &rows), 2);
    assert_true(str_equal_cstr(rows.rows[0].actor, "billing"));
    assert_true(str_equal_cstr(rows.rows[0].detail, "pawl 0.1.0"));
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_version_that_appears_is_a_deploy_once),
    CONF_TEST(a_restart_of_everything_is_none_and_going_back_is_one),
    CONF_TEST(each_service_has_its_own_and_who_says_nothing_has_none),
};

CONF_GROUP(deploy, tests);
