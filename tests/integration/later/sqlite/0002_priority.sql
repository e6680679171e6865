-- priority: a column and an index that no version has, for upgrade_test.py; it counts what was there before.
ALTER TABLE pawl_history ADD COLUMN priority INTEGER NOT NULL DEFAULT 7;
CREATE INDEX pawl_history_priority ON pawl_history (priority);
CREATE TABLE pawl_upgraded AS SELECT count(*) AS messages FROM pawl_message;
