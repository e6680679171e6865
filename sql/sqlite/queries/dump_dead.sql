-- dump_dead: dead letters for the state dump.
SELECT kind, lane, id, stream, attempts, deaths, reason, error, died_ms FROM pawl_dead ORDER BY kind, lane, seq
