#!/usr/bin/env python3
"""A database of version 1 with work in it is migrated to a version 2 that only this test has (later/): the next program asks for
the migration, makes it once and keeps the work, and the older program then says that it is too old.

Usage: upgrade_test.py PAWL HELPER ROOT sqlite|postgres NEXT_PAWL [NAME]
"""
import sys

from cli_support import EXIT_CODES, CliTest, Setup, main

NEXT = sys.argv.pop(5)


class Upgrade(CliTest):
    def setUp(self):
        super().setUp()
        self.now = Setup.pawl
        self.addCleanup(setattr, Setup, "pawl", self.now)

    def program(self, path):
        Setup.pawl = path

    def numbers(self, query):
        return [int(row[0]) for row in self.sql(query)]

    def test_version_1_with_work_becomes_version_2(self):
        self.assertEqual(self.migrate()["version"], 1)
        ids = [self.ok("send", "order.placed", "--stream", f"order-{n}")["id"] for n in range(5)]
        before = self.ok("message", "list")

        self.program(NEXT)
        for args in (["send", "T"], ["messages"], ["check"]):
            self.assertIn("pawl migrate", self.refused(EXIT_CODES["conflict"], "version 1", *args).err)
        made = self.migrate()
        self.assertEqual((made["version"], made["applied"]), (2, 1))
        self.assertEqual(self.migrate()["applied"], 0)
        self.assertEqual(self.numbers("SELECT version FROM pawl_internal.schema_migration ORDER BY version"), [1, 2])

        self.assertEqual(self.numbers("SELECT messages FROM pawl_internal.upgraded"), [5])
        self.assertEqual(self.numbers("SELECT count(*) FROM pawl_internal.history WHERE priority = 7"), [0])
        self.assertEqual(self.ok("message", "list"), before)
        ids.append(self.ok("send", "order.paid", "--stream", "order-0")["id"])
        self.assertEqual(sorted(row["id"] for row in self.ok("message", "list")), sorted(ids))
        self.ok("check")

        self.program(self.now)
        for args in (["send", "T"], ["messages"], ["migrate"]):
            self.assertIn("upgrade pawl", self.refused(EXIT_CODES["conflict"], "version 2", *args).err)

    def test_a_new_database_gets_all_versions(self):
        self.program(NEXT)
        made = self.migrate()
        self.assertEqual((made["version"], made["applied"]), (2, 2))
        self.ok("check")

    def test_a_version_1_of_another_text_is_not_migrated(self):
        self.migrate()
        self.sql("UPDATE pawl_internal.schema_migration SET checksum = 'edited'")
        self.program(NEXT)
        self.refused(EXIT_CODES["conflict"], "0001_schema", "migrate")
        self.assertEqual(self.numbers("SELECT version FROM pawl_internal.schema_migration"), [1])


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
