import { and, eq, isNull, sql } from 'drizzle-orm';
import { relink } from '../../db/query/relations.ts';
import { fail } from '../../errors.ts';
import type { Context } from '../../services.ts';
import type { Relation, RowOf } from '../../kernel/entity.ts';
import type { Changes, Recording } from '../../kernel/event.ts';
import { projector } from '../../kernel/output/projector.ts';
import type { ScopedDb } from '../../kernel/scoped-db.ts';
import type { MembershipRun } from '../../members/role-assignment.ts';
import {
  assertCanChangeMetadata,
  changeMetadata,
  changeRoles,
  lockMembership,
} from '../../members/scope-membership.ts';
import { User, users } from '../../schema/people/user.ts';

type Row = RowOf<typeof User>;

interface UserProfile {
  readonly name?: string | undefined;
  readonly pictureUrl?: string | null | undefined;
  readonly status?: 'active' | 'disabled' | undefined;
}

type UpdateUserRun = MembershipRun &
  Pick<Context, 'unchanged'> & {
    readonly db: ScopedDb;
    readonly input: UserProfile & {
      readonly id: string;
      readonly metadata?: Record<string, unknown> | undefined;
      readonly roleIds?: readonly string[] | undefined;
      readonly tagIds?: readonly string[] | undefined;
    };
  };

/**
 * Changes the profile of a managed user, and the metadata, tags and roles that the scope has assigned to the user. Only
 * values that differ count as changes, so sending back the values of a response is never refused.
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export async function changeUser(ctx: UpdateUserRun): Promise<Row> {
  const { db, input } = ctx;
  const membership = await lockMembership(ctx, input.id);
  const before = await db.get(User, input.id);
  const changes: Changes = {
    ...(await changeProfile(ctx, before)),
    ...(input.metadata && (await changeMetadata(ctx, input.id, membership.metadata, input.metadata))),
    ...(await changeTags(ctx, input.id, input.tagIds)),
  };
  const roleRecordings: Recording[] = [];
  const collecting = { ...ctx, record: (recording: Recording) => void roleRecordings.push(recording) };
  if (input.roleIds) Object.assign(changes, await changeRoles(collecting, input.id, input.roleIds));
  const row = await db.get(User, input.id);
  if (Object.keys(changes).length > 0) {
    ctx.record({
      event: 'user.updated',
      data: projector(User.schema)(row) as Record<string, unknown>,
      // The first recording becomes the audit entry, so it contains all changes.
      changes: { ...changes, ...roleRecordings[0]?.changes },
      target: { type: 'User', id: row.id },
    });
  } else if (roleRecordings.length === 0) ctx.unchanged();
  roleRecordings.forEach(ctx.record);
  return row;
}

/** @throws FORBIDDEN if this scope does not manage the user, PRIVILEGE_ESCALATION */
async function changeProfile(ctx: UpdateUserRun, before: Row): Promise<Changes> {
  const { tx, scope, input } = ctx;
  const { name = before.name, pictureUrl = before.pictureUrl, status = before.status } = input;
  const after = { name, pictureUrl, status };
  const changed = (Object.keys(after) as (keyof typeof after)[]).filter((key) => after[key] !== before[key]);
  if (changed.length === 0) return {};
  const isManagedHere = and(
    eq(users.id, before.id),
    eq(users.isManaged, true),
    eq(users.managedBy, scope.nodeId),
    isNull(users.deletedAt),
  );
  const [managed] = await tx.select({ status: users.status }).from(users).where(isManagedHere).for('update');
  if (!managed) {
    throw fail('FORBIDDEN', {
      fix: 'name, pictureUrl and status can be changed only by the user, or by the scope that manages the user.',
    });
  }
  await assertCanChangeMetadata(ctx, before.id);
  if (changed.includes('status') && managed.status === 'suspended') {
    throw fail('INVALID_STATE', {
      params: { state: 'suspended' },
      fix: 'An operator of the installation suspended this user, and only an operator can reactivate them.',
    });
  }
  // Writes only what has changed, so that a concurrent suspension is not overwritten.
  await tx
    .update(users)
    .set({ ...Object.fromEntries(changed.map((key) => [key, after[key]])), updatedAt: sql`now()` })
    .where(isManagedHere);
  ctx.invalidate(`user:${before.id}`);
  return Object.fromEntries(changed.map((key) => [key, { from: before[key], to: after[key] }]));
}

/** Replaces the tags of the user in this scope. No authorization decision reads tags. @throws NOT_FOUND */
export async function changeTags(
  { tx, scope }: MembershipRun,
  userId: string,
  tagIds: readonly string[] | undefined,
): Promise<Changes> {
  if (!tagIds) return {};
  const relation = User.relations['tags'] as Relation & { readonly kind: 'links' };
  const change = await relink({ tx, scope }, relation, userId, tagIds);
  return change ? { tagIds: change } : {};
}
