/*
 * SQL about the organization that an app's session `s` is for, in project `n` of owner `o` (openid §12). The user
 * signed in as a member of the owner, or of a customer with a grant of the project.
 */

import { sql } from 'drizzle-orm';

/** Joins the customer's grant of the project as `pg`: the active one, or else the newest. The owner has no grant. */
export const grantOfSession = sql.raw(`left join lateral (select g.* from project_grants g
  where g.tenant_id = n.id and g.organization_id = s.organization_id and s.organization_id <> o.id
  order by g.status = 'active' desc, g.created_at desc limit 1) pg on true`);

/**
 * SQL condition: the session is for no organization, or its user may still use the project for it, as a member of the
 * owner, or as a member of a customer who has a role in the slice of an active grant.
 */
export const organizationAllows = sql.raw(`(s.organization_id is null or (
  exists (select 1 from organization_members m join nodes own on own.id = m.tenant_id and own.deleted_at is null
    where m.tenant_id = s.organization_id and m.user_id = s.user_id)
  and (s.organization_id = o.id or (pg.status = 'active' and pg.deleted_at is null
    and not exists (select 1 from organizations customer where customer.id = s.organization_id and customer.suspended_at is not null)
    and exists (select 1 from project_user_roles r where r.tenant_id = pg.id and r.user_id = s.user_id)))))`);
