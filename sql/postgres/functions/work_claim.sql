-- work_claim: claimed messages in the sources' JSON form.
-- params: as claim, without the policy of the grant
-- returns: a JSON array; Token is what every report about the message must name
-- tables: those of claim
-- locks: those of claim
CREATE OR REPLACE FUNCTION pawl.work_claim(
    p_instance uuid, p_kind smallint, p_max integer, p_lease_ms bigint, p_request uuid) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- PL/pgSQL keeps the plan; a SQL function would make it anew in every call.
    RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object(
               'MessageId', i.id, 'Token', i.token, 'Seq', i.seq, 'LeaseUntilMs', i.lease_until_ms, 'MessageType', i.type,
               'Payload', i.payload, 'Headers', i.headers, 'Topic', i.topic, 'StreamKey', i.stream, 'Partition', i.partition,
               'CorrelationId', i.correlation_id, 'CausationId', i.causation_id, 'Traceparent', i.traceparent,
               'Attempt', i.attempt, 'OutOfOrder', i.out_of_order, 'PutMs', i.put_ms) ORDER BY i.token, i.seq), '[]')
      FROM pawl.claim(p_instance, p_kind, p_max, p_lease_ms, 0::smallint, 0, p_request) i);
END
$$;
