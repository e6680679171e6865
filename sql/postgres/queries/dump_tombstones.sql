-- dump_tombstones: section 3 of the state dump.
SELECT t.id FROM pawl.tombstone t ORDER BY t.id
