CREATE INDEX "audit_log_checkpoints" ON "audit_log" USING btree ("tenant_id","occurred_at") WHERE operation = 'auditCheckpoint';--> statement-breakpoint
-- How many days entries are kept; 0: for ever. The owner of the tables says so at start (src/events/retention.ts). It is
-- a function and no row, because the role of the service may write rows.
CREATE FUNCTION audit_retention_days() RETURNS integer LANGUAGE sql STABLE AS 'select 0';
--> statement-breakpoint
-- contract: it refuses no more than before, and former versions never delete an entry
CREATE OR REPLACE FUNCTION keep_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  covered CONSTANT text[] := ARRAY['actor', 'changes', 'ip_address', 'user_agent', 'salt'];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.salt IS NULL AND NEW.ip_address IS NULL AND NEW.user_agent IS NULL
      AND NEW.actor = OLD.actor || '{"name": null}'::jsonb
      AND NEW.changes IS NOT DISTINCT FROM (CASE WHEN OLD.target->>'type' = 'User' THEN NULL ELSE OLD.changes END)
      AND to_jsonb(NEW) - covered = to_jsonb(OLD) - covered
    THEN
      RETURN NEW;
    END IF;
  END IF;
  -- A second change is let through: the cut of what has had its time, by cut_audit_log and nothing else.
  IF TG_OP = 'DELETE' THEN
    IF current_setting('doorward.cut_audit_log', true) = OLD.tenant_id::text AND public.audit_retention_days() > 0
      AND OLD.occurred_at <= now() - make_interval(days => public.audit_retention_days())
    THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'audit_log: entries are only added' USING ERRCODE = 'DW002';
END $$;
--> statement-breakpoint
-- Removes the oldest entries of a log, as far as a checkpoint has signed it that is itself older than the retention. It
-- works with the rights of the owner, since the role of the service has none to delete entries.
CREATE FUNCTION cut_audit_log(of_node uuid, up_to bigint, at_most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  gone integer;
BEGIN
  IF audit_retention_days() <= 0 OR NOT EXISTS (
    SELECT FROM audit_log WHERE tenant_id = of_node AND operation = 'auditCheckpoint' AND sequence > up_to
      AND occurred_at <= now() - make_interval(days => audit_retention_days())
      AND metadata @> jsonb_build_object('sequence', up_to)
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
