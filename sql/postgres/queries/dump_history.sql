-- dump_history: section 14 of the state dump.
SELECT h.kind::integer, h.id FROM pawl.history h ORDER BY h.kind, h.seq
