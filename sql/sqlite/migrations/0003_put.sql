-- put: what makes a single put cheap on PostgreSQL; nothing is needed here, the number stays the same in both dialects.
SELECT 1;
