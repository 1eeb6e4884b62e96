import { and, eq, isNull, sql } from 'drizzle-orm';
import { organizationNouns } from '@doorward/decision/policy/organization-nouns';
import { assertNoEscalation } from '../../access/delegation/escalation.ts';
import { rowsOf } from '../../db/query/rows.ts';
import { fail, type DetailCode } from '../../errors.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { rolesToAssign, type MembershipRun } from '../../domain/memberships/role-assignment.ts';
import { ProjectApp, projectApps } from './project-app.ts';

type Row = RowOf<typeof ProjectApp>;

/** The app, locked until the transaction ends. @throws NOT_FOUND */
export async function lockApp(
  { tx, db }: { readonly tx: Executor; readonly db: ScopedDb },
  id: string,
): Promise<Row> {
  await tx
    .select({ id: projectApps.id })
    .from(projectApps)
    .where(
      and(eq(projectApps.tenantId, db.scope.nodeId), eq(projectApps.id, id), isNull(projectApps.deletedAt)),
    )
    .for('no key update');
  return db.get(ProjectApp, id);
}

const refuse = (path: string, code: DetailCode, fix: string) =>
  fail('VALIDATION_ERROR', { details: [{ path, code }], fix });

/**
 * The scopes in the spelling of the permissions that they name, without duplicates. The caller must hold each added
 * scope; an unrestricted app counts as having every scope of the project plane. A scope whose permission was deleted may
 * stay, and grants nothing.
 *
 * @throws VALIDATION_ERROR, PRIVILEGE_ESCALATION
 */
export async function scopesToSet(
  ctx: MembershipRun,
  requested: readonly string[] | null,
  before: readonly string[] | null,
): Promise<string[] | null> {
  if (requested === null) return null;
  const spelled = await spellScopes(ctx, requested, before ?? []);
  const { nouns } = ctx.services.builtIns;
  const wanted = spelled.map((scope) => {
    const [resource = '', action = ''] = scope.split(':');
    return { scope, resource, action, managementPlane: nouns.has(resource), condition: null };
  });
  const added = wanted.filter(({ scope, managementPlane }) =>
    before === null ? managementPlane : !before.includes(scope),
  );
  assertNoEscalation(ctx.rights.projectGrants ?? ctx.rights.grants, added);
  return spelled;
}

async function spellScopes(
  { tx, scope, services }: MembershipRun,
  requested: readonly string[],
  before: readonly string[],
): Promise<string[]> {
  const { nouns, permissions } = services.builtIns;
  /** Case matters in a built-in noun but not in a customer's slug, as in authorization checks. */
  const keyOf = (name: string): string => {
    const [resource = ''] = name.split(':');
    return (nouns.has(resource) ? resource : '') + name.toLowerCase();
  };
  const own = await rowsOf<{ name: string }>(
    tx,
    sql`select distinct r.slug || ':' || p.action as name
      from permissions p join resources r on r.id = p.resource_id and r.deleted_at is null
      where p.tenant_id = ${scope.nodeId}::uuid and p.deleted_at is null and not r.is_system
        and r.slug || ':' || p.action in (
          select lower(jsonb_array_elements_text(${JSON.stringify(requested)}::text::jsonb)))`,
  );
  const names = [...before, ...[...own, ...permissions].map(({ name }) => name)];
  const spellings = new Map(names.map((name) => [keyOf(name), name]));
  const spelled = requested.map((typed, index) => {
    const name = spellings.get(keyOf(typed));
    const path = `scopes.${index}`;
    if (name === undefined) {
      throw refuse(
        path,
        'enum',
        'Name permissions of the project as slug:action, built-in ones as Noun:Action.',
      );
    }
    if (organizationNouns.has(name.split(':')[0] ?? '')) {
      throw refuse(path, 'not_allowed', 'Leave it out: it has no effect in a project.');
    }
    return name;
  });
  return [...new Set(spelled)];
}

interface SignUp {
  readonly allowSignUp: boolean;
  readonly signUpRoleId: string | null;
}

/**
 * Columns of the role that people get when they sign up. Allowing sign-up delegates the role to strangers, so a caller who
 * sets the role or turns sign-up on must hold all its permissions.
 *
 * @throws VALIDATION_ERROR, NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function signUpRoleToSet(
  ctx: MembershipRun,
  after: SignUp,
  before: SignUp,
): Promise<{ signUpRoleTenantId?: string | null }> {
  const { allowSignUp, signUpRoleId } = after;
  const isSame = signUpRoleId === before.signUpRoleId;
  if (signUpRoleId === null) {
    if (allowSignUp) {
      throw refuse(
        'signUpRoleId',
        'required',
        'Name the role for people who sign up, or set allowSignUp to false.',
      );
    }
    return isSame ? {} : { signUpRoleTenantId: null };
  }
  if (isSame && (!allowSignUp || before.allowSignUp)) return {};
  const [role] = await rolesToAssign(ctx, [signUpRoleId]);
  return isSame || !role ? {} : { signUpRoleTenantId: role.tenantId };
}
