-- lane_reads: what makes reading and noting lanes cheap, also while a long-open transaction keeps every old version.

-- Grows with every change while old versions pile up: the newest version of a lane is then the first of its index.
ALTER TABLE pawl.lane ADD COLUMN era bigint NOT NULL DEFAULT 0;
CREATE INDEX lane_era ON pawl.lane (kind, lane, era DESC);

-- Only our functions write these two tables, and `pawl check` looks for the same; a CHECK is read and compiled anew by
-- every statement that writes a row, a tenth of what a claim costs.
ALTER TABLE pawl.lane DROP CONSTRAINT lane_kind_known, DROP CONSTRAINT lane_free_is_not_draining;
ALTER TABLE pawl.claim DROP CONSTRAINT claim_state_known, DROP CONSTRAINT claim_source_known,
    DROP CONSTRAINT claim_active_has_items;
