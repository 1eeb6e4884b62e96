import { and, eq, isNull, sql } from 'drizzle-orm';
import { organizationNouns } from '../../access/grants.ts';
import { assertHolds } from '../../access/subset.ts';
import { rowsOf } from '../../db/rows.ts';
import { fail, type DetailCode } from '../../errors.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { rolesToGive, type MembershipRun } from '../memberships/giving-roles.ts';
import { ProjectApp, projectApps } from './project-app.ts';

type Row = RowOf<typeof ProjectApp>;

/** The app as it is, and nobody changes it before this transaction ends. @throws NOT_FOUND */
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
 * The scopes in the spelling of the permissions they name, each once. Only those that the app had not before need to be
 * held by whoever adds them; a name whose permission is gone may stay, and grants nothing. An app that was not restricted
 * had every scope of the project plane.
 *
 * @throws VALIDATION_ERROR, PRIVILEGE_ESCALATION
 */
export async function scopesToSet(
  ctx: MembershipRun,
  asked: readonly string[] | null,
  before: readonly string[] | null,
): Promise<string[] | null> {
  if (asked === null) return null;
  const spelled = await spelling(ctx, asked, before ?? []);
  const { nouns } = ctx.services.builtIns;
  const wanted = spelled.map((scope) => {
    const [resource = '', action = ''] = scope.split(':');
    return { scope, resource, action, managementPlane: nouns.has(resource), condition: null };
  });
  const added = wanted.filter(({ scope, managementPlane }) =>
    before === null ? managementPlane : !before.includes(scope),
  );
  assertHolds(ctx.rights.projectGrants ?? ctx.rights.grants, added);
  return spelled;
}

async function spelling(
  { tx, scope, services }: MembershipRun,
  asked: readonly string[],
  before: readonly string[],
): Promise<string[]> {
  const { nouns, permissions } = services.builtIns;
  /** A built-in noun is written as it is, a customer's slug in any case: as in every question (`locate`). */
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
          select lower(jsonb_array_elements_text(${JSON.stringify(asked)}::text::jsonb)))`,
  );
  const names = [...before, ...[...own, ...permissions].map(({ name }) => name)];
  const known = new Map(names.map((name) => [keyOf(name), name]));
  const spelled = asked.map((typed, index) => {
    const name = known.get(keyOf(typed));
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
 * Columns of the role that strangers get who sign up. To let them do so is to give it: whoever names the role, or opens
 * the door to it, must hold all of it.
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
        'Name the role of those who sign up, or set allowSignUp to false.',
      );
    }
    return isSame ? {} : { signUpRoleTenantId: null };
  }
  if (isSame && (!allowSignUp || before.allowSignUp)) return {};
  const [role] = await rolesToGive(ctx, [signUpRoleId]);
  return isSame || !role ? {} : { signUpRoleTenantId: role.tenantId };
}
