-- priority: a column and an index that no version has, for upgrade_test.py; it counts what was there before.
ALTER TABLE pawl.history ADD COLUMN priority integer NOT NULL DEFAULT 7;
CREATE INDEX history_priority ON pawl.history (priority);
CREATE TABLE pawl.upgraded AS SELECT count(*) AS messages FROM pawl.message;
