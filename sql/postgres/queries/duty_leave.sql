-- duty_leave: see functions/duty_leave.sql
SELECT pawl.duty_leave($1, $2)
