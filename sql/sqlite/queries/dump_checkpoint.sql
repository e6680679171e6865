-- dump_checkpoint: checkpoints for the state dump.
SELECT stream, perspective, version, status, attempts, error FROM pawl_checkpoint ORDER BY stream, perspective
