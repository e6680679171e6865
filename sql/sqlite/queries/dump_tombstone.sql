-- dump_tombstone: tombstones for the state dump.
SELECT id FROM tombstone ORDER BY id
