-- synchronous_normal: a commit may be lost with the power.
SELECT 'synchronous is ' || s.synchronous FROM pragma_synchronous s WHERE s.synchronous < 2
