-- processed: how much an instance has done, as it says with its heartbeat.

ALTER TABLE pawl.instance ADD COLUMN processed bigint NOT NULL DEFAULT 0;
