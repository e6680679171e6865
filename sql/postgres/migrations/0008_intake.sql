-- intake: what SQLite needs a table for is pawl.send here; notes of receptors are removed by their age.

CREATE INDEX receptor_updated ON pawl.receptor (updated_ms);
