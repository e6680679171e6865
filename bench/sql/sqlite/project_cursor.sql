-- project_cursor: how far the read model is, in the transaction that writes it.
UPDATE cursor SET position = ?1
