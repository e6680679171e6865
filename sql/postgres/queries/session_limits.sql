-- session_limits: the limits of this transaction, where a pooler let us set none for the session.
-- params: statement_timeout text, lock_timeout text, idle_in_transaction_session_timeout text (milliseconds)
SELECT pg_catalog.set_config('statement_timeout', $1::text, true), pg_catalog.set_config('lock_timeout', $2::text, true),
       pg_catalog.set_config('idle_in_transaction_session_timeout', $3::text, true)
