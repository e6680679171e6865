-- run_item_has_partition: an item belongs to a partition of its run.
SELECT 'item ' || i.key || ' of run ' || i.run FROM pawl_run_item i
 WHERE NOT EXISTS (SELECT 1 FROM pawl_run_partition p WHERE p.run = i.run AND p.part = i.part)
