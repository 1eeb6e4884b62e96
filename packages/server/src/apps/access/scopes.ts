import { sql } from 'drizzle-orm';
import { indexPermissions, evaluateWithoutConditions, type Grants } from '@doorward/decision/evaluate';
import { loadHeldPermissions } from '../../access/grants/grants.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Services } from '../../services.ts';
import { unknownScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { LiveApp } from './app.ts';

/** A scope of an app (`slug:action` of its project, or a built-in `Noun:Action`) with a name to show to users. */
export interface NamedScope {
  readonly scope: string;
  readonly name: string;
  readonly description: string | null;
}

/**
 * Returns the scopes with their names, in the given order. The name is that of the permission: of the oldest one if
 * several have the same resource and action, and of a built-in one before all others. The name of a scope without a
 * permission is the scope itself.
 */
export async function namedScopes(
  db: Executor,
  { tenantId }: Pick<LiveApp, 'tenantId'>,
  scopes: readonly string[],
): Promise<NamedScope[]> {
  if (scopes.length === 0) return [];
  const rows = await rowsOf<NamedScope>(
    db,
    sql`
    select distinct on (1) s.slug || ':' || p.action as scope, p.name, p.description
    from permissions p join resources s on s.id = p.resource_id and s.deleted_at is null
    where p.deleted_at is null and p.tenant_id in (${tenantId}::uuid, ${SYSTEM_NODE}::uuid)
      and s.slug || ':' || p.action in (select jsonb_array_elements_text(${JSON.stringify(scopes)}::text::jsonb))
    order by 1, p.tenant_id = ${SYSTEM_NODE}::uuid desc, p.created_at, p.id`,
  );
  const named = new Map(rows.map((row) => [row.scope, row]));
  return scopes.map((scope) => {
    const { name, description } = named.get(scope) ?? { name: scope, description: null };
    return { scope, name, description };
  });
}

/**
 * The user who consents; null for a user who is not created yet. `joins`: the user joins the project by this sign-in,
 * with the sign-up role of the app alone.
 */
interface ScopeSubject {
  readonly userId: string | null;
  readonly joins: boolean;
}

/**
 * Returns the scopes that consent can grant: those that are requested and allowed to the app. Null: not restricted, so
 * the app may do everything that the user may do. The scopes are a ceiling (openid §7): the app can use only those that
 * the user holds at that time. The ceiling does not rise when the app gets more scopes.
 */
export function ceilingOf(
  { scopes }: Pick<LiveApp, 'scopes'>,
  requested: readonly string[] | null,
): readonly string[] | null {
  return scopes && requested ? requested.filter((scope) => scopes.includes(scope)) : (requested ?? scopes);
}

/** Returns the scopes that the user does not hold now, not even with a condition. */
export async function scopesNotHeld(
  db: Executor,
  services: Services,
  app: LiveApp,
  subject: ScopeSubject,
  scopes: readonly string[],
): Promise<string[]> {
  const held = heldScopes(await loadGrants(db, services, app, subject), scopes);
  return scopes.filter((scope) => !held.includes(scope));
}

async function loadGrants(
  db: Executor,
  { builtIns, resolver }: Services,
  { scope, signUpRoleId }: LiveApp,
  { userId, joins }: ScopeSubject,
): Promise<Grants> {
  if (userId === null || joins) {
    const roleIds = signUpRoleId === null ? [] : [signUpRoleId];
    const held = indexPermissions(
      await loadHeldPermissions(db, roleIds, { level: 'project' }),
      builtIns.nouns,
    );
    return { membership: 'active', user: null, scope: {}, held };
  }
  const project = await resolver.scopeOf(scope, db);
  if (!project) throw unknownScope();
  return (await resolver.rightsOfUser(project, userId, db)).grants;
}

/** Returns the scopes that the user holds, with or without a condition. */
const heldScopes = (grants: Grants, scopes: readonly string[]): string[] =>
  scopes.filter((scope) => {
    const [resource = '', action = ''] = scope.split(':');
    const decision = evaluateWithoutConditions(grants, { resource, action });
    return decision === 'conditional' || decision.authorized;
  });
