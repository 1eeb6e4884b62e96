-- Audit entries are only added. The rule stands here too, so that neither a slip of the service nor a statement by hand
-- changes what was recorded. One change is let through: the erasure of a person (src/events/erasure.ts), which empties
-- exactly what personal_digest covers, and the salt.
CREATE FUNCTION keep_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
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
  RAISE EXCEPTION 'audit_log: entries are only added' USING ERRCODE = 'DW002';
END $$;
--> statement-breakpoint
CREATE TRIGGER audit_log_keep BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();
--> statement-breakpoint
CREATE TRIGGER audit_log_keep_all BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_entry();
