import { sql } from 'drizzle-orm';
import { indexPermissions, preliminary, type Grants } from '../../access/evaluate.ts';
import { loadHeld } from '../../access/grants.ts';
import { SYSTEM_NODE } from '../../db/nodes.ts';
import { rowsOf } from '../../db/rows.ts';
import type { Services } from '../../kernel/context.ts';
import { unknownScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { LiveApp } from './app.ts';

/** Scopes of an app: `slug:action` of its project, or a built-in `Noun:Action`. */

/** A scope as a person reads it. */
export interface NamedScope {
  readonly scope: string;
  readonly name: string;
  readonly description: string | null;
}

/**
 * In the order given. Of several permissions for one pair the oldest names it; a built-in pair is named by its built-in
 * permission, whatever permissions a customer made for it; one whose permission is gone, by itself.
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
  const known = new Map(rows.map((row) => [row.scope, row]));
  return scopes.map((scope) => {
    const { name, description } = known.get(scope) ?? { name: scope, description: null };
    return { scope, name, description };
  });
}

/** A user, or with null somebody who is none yet; `joins`: he has nothing in the project but what its sign-up gives. */
interface Wearer {
  readonly userId: string | null;
  readonly joins: boolean;
}

/**
 * What the app can be allowed: what it may ask for, and does, and the user holds, be it under a condition. Null: it is
 * not restricted, so it may do what the user may. Of what was asked for nothing grows when the app does.
 */
export async function grantable(
  db: Executor,
  services: Services,
  app: LiveApp,
  wearer: Wearer,
  requested: readonly string[] | null,
): Promise<string[] | null> {
  const { scopes } = app;
  const wanted =
    scopes && requested ? requested.filter((scope) => scopes.includes(scope)) : (requested ?? scopes);
  return wanted && heldOf(await grantsOf(db, services, app, wearer), wanted);
}

async function grantsOf(
  db: Executor,
  { builtIns, resolver }: Services,
  { scope, signUpRoleId }: LiveApp,
  { userId, joins }: Wearer,
): Promise<Grants> {
  if (userId === null || joins) {
    const roleIds = signUpRoleId === null ? [] : [signUpRoleId];
    const held = indexPermissions(await loadHeld(db, roleIds, 'project'), builtIns.nouns);
    return { standing: 'active', user: null, scope: {}, held };
  }
  const project = await resolver.scopeOf(scope, db);
  if (!project) throw unknownScope();
  return (await resolver.rightsOfUser(project, userId, db)).grants;
}

/** Those of the scopes that are held, be it under a condition. */
const heldOf = (grants: Grants, scopes: readonly string[]): string[] =>
  scopes.filter((scope) => {
    const [resource = '', action = ''] = scope.split(':');
    const decision = preliminary(grants, { resource, action });
    return decision === 'conditional' || decision.authorized;
  });
