-- dump_tombstone: tombstones for the state dump.
SELECT id FROM pawl_tombstone ORDER BY id
