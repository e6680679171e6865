-- pragma_trusted_schema: functions in the schema are not trusted.
PRAGMA trusted_schema = OFF
