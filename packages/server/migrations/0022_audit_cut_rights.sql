-- An entry is dated by the clock of the database, in the transaction that adds it. Nobody makes one that looks old: what
-- is old may be cut. Both clocks of the transaction count, since the clock may be set while it runs.
CREATE FUNCTION refuse_audit_date() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit_log: an entry is of the time when it is added' USING ERRCODE = 'DW002';
END $$;
--> statement-breakpoint
-- contract: a former version dates its entries by clock_timestamp() of the same transaction, which is let through
CREATE TRIGGER audit_log_date BEFORE INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.occurred_at < least(now(), clock_timestamp()) - interval '1 second'
    OR NEW.occurred_at > greatest(now(), clock_timestamp()) + interval '1 second')
  EXECUTE FUNCTION refuse_audit_date();
--> statement-breakpoint
-- Cuts only at a checkpoint that fits the log: it stands behind the entry that it signs, names its hash, and carries on
-- the entry before itself. Who has cut as far already finds nothing to do.
-- contract: a former version asks for cuts at such checkpoints alone, since it verifies their signatures first
CREATE OR REPLACE FUNCTION cut_audit_log(of_node uuid, up_to bigint, at_most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  gone integer;
BEGIN
  IF audit_retention_days() > 0 AND NOT EXISTS (SELECT FROM audit_log WHERE tenant_id = of_node AND sequence <= up_to)
  THEN
    RETURN 0;
  END IF;
  IF audit_retention_days() <= 0 OR NOT EXISTS (
    SELECT FROM audit_log c
      JOIN audit_log signed ON signed.tenant_id = of_node AND signed.sequence = up_to
        AND signed.hash = c.metadata->>'hash'
      JOIN audit_log before ON before.tenant_id = of_node AND before.sequence = c.sequence - 1
        AND before.hash = c.previous_hash
    WHERE c.tenant_id = of_node AND c.operation = 'auditCheckpoint' AND c.sequence > up_to
      AND c.occurred_at <= now() - make_interval(days => audit_retention_days())
      AND c.metadata @> jsonb_build_object('sequence', up_to)
  ) THEN
    RAISE EXCEPTION 'audit_log: no checkpoint that has had its time covers entry %', up_to USING ERRCODE = 'DW002';
  END IF;
  PERFORM set_config('doorward.cut_audit_log', of_node::text, true);
  WITH oldest AS (
    SELECT id FROM audit_log WHERE tenant_id = of_node AND sequence <= up_to ORDER BY sequence LIMIT at_most
  ), removed AS (
    DELETE FROM audit_log WHERE id IN (SELECT id FROM oldest) RETURNING 1
  ) SELECT count(*) INTO gone FROM removed;
  PERFORM set_config('doorward.cut_audit_log', '', true);
  RETURN gone;
END $$;
--> statement-breakpoint
-- It works with the rights of the owner, so who may call it is said one by one: at start, to the role of the service.
-- contract: processes of a former version work as that role, to which the new version grants it in the same start
REVOKE EXECUTE ON FUNCTION cut_audit_log(uuid, bigint, integer) FROM PUBLIC;
