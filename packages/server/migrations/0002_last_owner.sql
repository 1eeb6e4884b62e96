-- An organization always has an active, verified member with the built-in role Organization Owner. The rule stands
-- here, and not only in the operations, because two that each take away one of two owners cannot see each other:
-- the lock of the tenant's node puts them in a row, and whoever comes second is refused.
CREATE FUNCTION assert_organization_owner(organization uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM nodes WHERE id = organization AND deleted_at IS NULL FOR UPDATE;
  -- The node of a deleted organization is marked before its members go.
  IF FOUND AND NOT EXISTS (
    SELECT 1 FROM organization_members m JOIN users u ON u.id = m.user_id
    WHERE m.tenant_id = organization AND m.role_id = 'c5cc088b-24e6-53e6-87de-eb140a185c70'
      AND u.status = 'active' AND u.email_verified AND u.deleted_at IS NULL
  ) THEN
    RAISE EXCEPTION 'organization % would have no owner', organization USING ERRCODE = 'DW001';
  END IF;
END $$;
--> statement-breakpoint
CREATE FUNCTION keep_owner_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM assert_organization_owner(OLD.tenant_id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER organization_members_keep_owner AFTER DELETE OR UPDATE OF role_id ON organization_members
  FOR EACH ROW WHEN (OLD.role_id = 'c5cc088b-24e6-53e6-87de-eb140a185c70') EXECUTE FUNCTION keep_owner_member();
--> statement-breakpoint
CREATE FUNCTION keep_owner_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM assert_organization_owner(m.tenant_id) FROM (
    SELECT tenant_id FROM organization_members WHERE user_id = OLD.id AND role_id = 'c5cc088b-24e6-53e6-87de-eb140a185c70' ORDER BY tenant_id
  ) m;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER users_keep_owner AFTER UPDATE OF status, email_verified, deleted_at ON users
  FOR EACH ROW WHEN (NEW.status <> 'active' OR NOT NEW.email_verified OR NEW.deleted_at IS NOT NULL)
  EXECUTE FUNCTION keep_owner_user();
