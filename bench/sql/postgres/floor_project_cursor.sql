-- floor_project_cursor: how far the read model is, in the transaction that writes it.
UPDATE bench.cursor SET position = $1::bigint
