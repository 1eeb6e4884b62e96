import { and, eq, isNull, sql } from 'drizzle-orm';
import { ACCOUNT_OWNER, resourceIdOf } from '../../access/built-in.ts';
import { rowsOf } from '../../db/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projects } from '../projects/project.ts';
import { webhookSubscriptions } from '../webhook-subscriptions/subscription.ts';
import type { At, Told } from './occasions.ts';

/** Of a webhook that does not work those are told who can do something about it. */
async function subscriptionOf({ tx, event }: At) {
  const { id } = event.body.data;
  const [found] = await tx
    .select({
      url: webhookSubscriptions.url,
      createdBy: webhookSubscriptions.createdBy,
      failingSince: webhookSubscriptions.failingSince,
      project: projects,
    })
    .from(webhookSubscriptions)
    .innerJoin(projects, eq(projects.id, webhookSubscriptions.tenantId))
    .where(
      and(
        eq(webhookSubscriptions.id, String(id)),
        eq(webhookSubscriptions.tenantId, event.tenantId),
        isNull(webhookSubscriptions.deletedAt),
        isNull(projects.deletedAt),
      ),
    );
  if (!found) return undefined;
  return {
    // No path and no query: they may be all the secret that a receiver has.
    words: { project: found.project.name, receiver: new URL(found.url).hostname },
    since: found.failingSince ?? event.occurredAt,
    userIds: await managersOf(tx, found.project, found.createdBy),
    target: { type: 'WebhookSubscription', id: String(id) },
  };
}

export async function webhookFailing(at: At): Told {
  const found = await subscriptionOf(at);
  if (!found) return undefined;
  const { words, since, ...told } = found;
  return { type: 'webhook_failing', ...told, words: { ...words, since } };
}

export async function webhookDisabled(at: At): Told {
  const found = await subscriptionOf(at);
  if (!found) return undefined;
  const { words, since: _, ...told } = found;
  const gone = at.event.body.data['disabledReason'] === 'gone';
  return { type: 'webhook_disabled', ...told, words: { ...words, gone } };
}

/**
 * Who may change webhook subscriptions of the project without a condition, and the creator of this one, if the project
 * is still his business.
 */
async function managersOf(
  tx: Executor,
  { id, ownerId }: typeof projects.$inferSelect,
  creatorId: string,
): Promise<string[]> {
  const rows = await rowsOf<{ userId: string }>(
    tx,
    sql`
    with wearers as (
      select m.user_id, m.role_id from organization_members m where m.tenant_id = ${ownerId}::uuid
      union select r.user_id, r.role_id from project_user_roles r where r.tenant_id = ${id}::uuid
      union select a.owner_id, ${ACCOUNT_OWNER}::uuid from accounts a
        where a.id = ${ownerId}::uuid and a.deleted_at is null),
    managing as (
      select rg.role_id from role_groups rg
      join roles r on r.id = rg.role_id and r.deleted_at is null
      join groups g on g.id = rg.group_id and g.deleted_at is null
      join group_permissions gp on gp.group_id = g.id
      join permissions p on p.id = gp.permission_id and p.deleted_at is null
      where p.resource_id = ${resourceIdOf('WebhookSubscription')}::uuid and p.action = 'Update'
        and (p.condition is null or p.condition = '{}'::jsonb))
    select user_id as "userId" from wearers
      where role_id in (select role_id from managing) or user_id = ${creatorId}::uuid
    union select u.user_id from project_users u where u.tenant_id = ${id}::uuid and u.user_id = ${creatorId}::uuid`,
  );
  return rows.map(({ userId }) => userId);
}
