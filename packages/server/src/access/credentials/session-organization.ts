import { sql } from 'drizzle-orm';

/**
 * SQL about the organization of session `s` of an app in project `n` of owner `o` (openid §12): its user signed in for the
 * owner, or for a customer with a grant of the project.
 */

/** Joins `pg`, the newest grant of the project for the customer, an active one first. The owner has none. */
export const grantOfSession = sql.raw(`left join lateral (select g.* from project_grants g
  where g.tenant_id = n.id and g.organization_id = s.organization_id and s.organization_id <> o.id
  order by g.status = 'active' desc, g.created_at desc limit 1) pg on true`);

/**
 * Whether the session is for no organization, or its user may still use the project for it: as a member of the owner, or as
 * a member of a customer who has a role in the slice of an active grant.
 */
export const organizationAllows = sql.raw(`(s.organization_id is null or (
  exists (select 1 from organization_members m join nodes own on own.id = m.tenant_id and own.deleted_at is null
    where m.tenant_id = s.organization_id and m.user_id = s.user_id)
  and (s.organization_id = o.id or (pg.status = 'active' and pg.deleted_at is null
    and not exists (select 1 from organizations customer where customer.id = s.organization_id and customer.suspended_at is not null)
    and exists (select 1 from project_user_roles r where r.tenant_id = pg.id and r.user_id = s.user_id)))))`);
