-- project_sum: what the read model holds in the end.
SELECT sum(quantity) FROM total
