-- dump_lanes: section 4 of the state dump.
SELECT l.kind::integer, l.lane, l.owner, l.draining FROM pawl.lane l WHERE l.owner IS NOT NULL ORDER BY l.kind, l.lane
