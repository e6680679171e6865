-- empty_batch: one turn with nothing to report, as any language would call it: the instance, and defaults for the rest.
SELECT * FROM pawl.process_work_batch($1::uuid, 'bench', 'bench', 1)
