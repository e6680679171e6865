-- block_list: every block, by chain and number.
SELECT chain, number, id, made_ms, previous, hash, entries FROM pawl_audit_block ORDER BY chain, number
