-- block_list: every block, by chain and number.
SELECT chain, number, previous, hash, hashes FROM pawl_audit_block ORDER BY chain, number
