-- dump_lane: owned lanes for the state dump.
SELECT kind, lane, owner, draining FROM pawl_lane WHERE owner IS NOT NULL ORDER BY kind, lane
