import { and, eq, isNull, sql } from 'drizzle-orm';
import { fail, type DetailCode } from '../errors.ts';
import type { RowOf } from '../kernel/entity.ts';
import type { Executor, ScopedDb } from '../kernel/scoped-db.ts';
import { delegatesRole, type SignUp } from './settings/sign-up.ts';
import { rolesToAssign, type MembershipRun } from '../members/role-assignment.ts';
import { ProjectApp, projectApps } from '../schema/apps/project-app.ts';

type Row = RowOf<typeof ProjectApp>;

/** Returns the app, locked until the commit. @throws NOT_FOUND */
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

/** Replaces the secret, even if a policy document locks the app, because documents contain no secrets. */
export async function storeSecret(
  { tx, db }: { readonly tx: Executor; readonly db: ScopedDb },
  id: string,
  secretHash: Buffer,
): Promise<Row> {
  await tx
    .update(projectApps)
    .set({ secretHash, updatedAt: sql`now()` })
    .where(and(eq(projectApps.tenantId, db.scope.nodeId), eq(projectApps.id, id)));
  return db.get(ProjectApp, id);
}

const refuse = (path: string, code: DetailCode, fix: string) =>
  fail('VALIDATION_ERROR', { details: [{ path, code }], fix });

interface SignUpColumns {
  readonly allowSignUp: boolean;
  readonly signUpRoleId: string | null;
}

const signUpOf = ({ allowSignUp, signUpRoleId: role }: SignUpColumns): SignUp => ({ allowSignUp, role });

/**
 * Checks that the caller may delegate the sign-up role, if the change does that. Returns the column with the tenant of
 * the role if the role changes, otherwise {}.
 * @throws VALIDATION_ERROR, NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function signUpRoleToSet(
  ctx: MembershipRun,
  after: SignUpColumns,
  before: SignUpColumns,
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
  if (!delegatesRole(signUpOf(before), signUpOf(after))) return {};
  const [role] = await rolesToAssign(ctx, [signUpRoleId]);
  return isSame || !role ? {} : { signUpRoleTenantId: role.tenantId };
}
