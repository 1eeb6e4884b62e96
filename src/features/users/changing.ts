import { and, eq, isNull, sql } from 'drizzle-orm';
import { relink } from '../../db/relations.ts';
import { fail } from '../../errors.ts';
import type { Context } from '../../kernel/context.ts';
import type { Relation, RowOf } from '../../kernel/entity.ts';
import type { Changes, Recording } from '../../kernel/event.ts';
import { projector } from '../../kernel/project.ts';
import type { ScopedDb } from '../../kernel/scoped-db.ts';
import type { MembershipRun } from '../memberships/giving-roles.ts';
import { assertHoldsAllRead, changeMetadata, changeRoles, lockMembership } from '../memberships/in-scope.ts';
import { User, users } from './user.ts';

type Row = RowOf<typeof User>;

interface Identity {
  readonly name?: string | undefined;
  readonly pictureUrl?: string | null | undefined;
  readonly status?: Row['status'] | undefined;
}

type Changing = MembershipRun &
  Pick<Context, 'unchanged'> & {
    readonly db: ScopedDb;
    readonly input: Identity & {
      readonly id: string;
      readonly metadata?: Record<string, unknown> | undefined;
      readonly roleIds?: readonly string[] | undefined;
      readonly tagIds?: readonly string[] | undefined;
    };
  };

/**
 * What a scope may change of a user: who he is, if it manages him; what it says of him; his roles in it. Only what
 * differs is a change, so whoever sends back what he read changes nothing and is refused nothing.
 * @throws FORBIDDEN, NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, LAST_OWNER
 */
export async function change(ctx: Changing): Promise<Row> {
  const { db, input } = ctx;
  const membership = await lockMembership(ctx, input.id);
  const before = await db.get(User, input.id);
  const changes = {
    ...(await changeIdentity(ctx, before)),
    ...(input.metadata && (await changeMetadata(ctx, input.id, membership.metadata, input.metadata))),
    ...(await changeTags(ctx, input.id, input.tagIds)),
  };
  const ofRoles: Recording[] = [];
  const noting = { ...ctx, record: (recording: Recording) => void ofRoles.push(recording) };
  if (input.roleIds) await changeRoles(noting, input.id, input.roleIds);
  const row = await db.get(User, input.id);
  if (Object.keys(changes).length > 0) {
    ctx.record({
      event: 'user.updated',
      data: projector(User.schema)(row) as Record<string, unknown>,
      // The first recording is the audit entry, which tells all that was changed.
      changes: { ...changes, ...ofRoles[0]?.changes },
      target: { type: 'User', id: row.id },
    });
  } else if (ofRoles.length === 0) ctx.unchanged();
  ofRoles.forEach(ctx.record);
  return row;
}

/** @throws FORBIDDEN unless this very scope manages the user, PRIVILEGE_ESCALATION */
async function changeIdentity(ctx: Changing, before: Row): Promise<Changes> {
  const { tx, scope, input } = ctx;
  const { name = before.name, pictureUrl = before.pictureUrl, status = before.status } = input;
  const after = { name, pictureUrl, status };
  const changed = (Object.keys(after) as (keyof typeof after)[]).filter((key) => after[key] !== before[key]);
  if (changed.length === 0) return {};
  const ours = and(
    eq(users.id, before.id),
    eq(users.isManaged, true),
    eq(users.managedBy, scope.nodeId),
    isNull(users.deletedAt),
  );
  const [managed] = await tx.select({ id: users.id }).from(users).where(ours).for('update');
  if (!managed) {
    throw fail('FORBIDDEN', {
      fix: 'name, pictureUrl and status belong to the user himself, or to the scope that manages him.',
    });
  }
  await assertHoldsAllRead(ctx, before.id);
  await tx
    .update(users)
    .set({ ...after, updatedAt: sql`now()` })
    .where(ours);
  ctx.touch(`user:${before.id}`);
  return Object.fromEntries(changed.map((key) => [key, { from: before[key], to: after[key] }]));
}

/** Replaces the tags that this scope put on the user. They are labels: no decision reads them. @throws NOT_FOUND */
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
