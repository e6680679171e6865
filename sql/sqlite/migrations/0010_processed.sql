-- processed: how much an instance has done, as it says with its heartbeat.

ALTER TABLE pawl_instance ADD COLUMN processed INTEGER NOT NULL DEFAULT 0;
