-- hot_paths: what makes some paths cheap on PostgreSQL; nothing is needed here, the number stays the same in both dialects.
SELECT 1;
