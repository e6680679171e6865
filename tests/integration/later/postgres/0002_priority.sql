-- priority: a column and an index that no version has, for upgrade_test.py; it counts what was there before.
ALTER TABLE pawl_internal.history ADD COLUMN priority integer NOT NULL DEFAULT 7;
CREATE INDEX history_priority ON pawl_internal.history (priority);
CREATE TABLE pawl_internal.upgraded AS SELECT count(*) AS messages FROM pawl_internal.message;
