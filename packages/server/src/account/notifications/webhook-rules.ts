import { and, eq, isNull, sql } from 'drizzle-orm';
import { ACCOUNT_OWNER, resourceIdOf } from '../../schema/rights/built-in-ids.ts';
import { rolePermissions } from '../../access/grants/role-permissions.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projectGrants } from '../../schema/tenants/project-grant.ts';
import { projects } from '../../schema/tenants/project.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';
import type { DraftResult, RuleInput } from './notification-draft.ts';

/** Returns the failing subscription and the users who can repair it. */
async function subscriptionOf({ tx, event }: RuleInput) {
  const { id } = event.body.data;
  const [row] = await tx
    .select({
      url: webhookSubscriptions.url,
      createdBy: webhookSubscriptions.createdBy,
      failingSince: webhookSubscriptions.failingSince,
      project: projects,
      organizationId: projectGrants.organizationId,
    })
    .from(webhookSubscriptions)
    .leftJoin(projectGrants, eq(projectGrants.id, webhookSubscriptions.tenantId))
    .innerJoin(
      projects,
      eq(projects.id, sql`coalesce(${projectGrants.tenantId}, ${webhookSubscriptions.tenantId})`),
    )
    .where(
      and(
        eq(webhookSubscriptions.id, String(id)),
        eq(webhookSubscriptions.tenantId, event.tenantId),
        isNull(webhookSubscriptions.deletedAt),
        isNull(projects.deletedAt),
      ),
    );
  if (!row) return undefined;
  return {
    // The URL is shown without path and query, which may contain the only secret of the receiver.
    words: { project: row.project.name, receiver: new URL(row.url).hostname },
    since: row.failingSince ?? event.occurredAt,
    userIds: await managersOf(
      tx,
      { id: event.tenantId, ownerId: row.organizationId ?? row.project.ownerId },
      row.createdBy,
    ),
    target: { type: 'WebhookSubscription', id: String(id) },
  };
}

export async function onWebhookFailing(input: RuleInput): DraftResult {
  const subscription = await subscriptionOf(input);
  if (!subscription) return undefined;
  const { words, since, ...draft } = subscription;
  return { type: 'webhook_failing', ...draft, words: { ...words, since } };
}

export async function onWebhookDisabled(input: RuleInput): DraftResult {
  const subscription = await subscriptionOf(input);
  if (!subscription) return undefined;
  const { words, since: _, ...draft } = subscription;
  const gone = input.event.body.data['disabledReason'] === 'gone';
  return { type: 'webhook_disabled', ...draft, words: { ...words, gone } };
}

/**
 * Returns the users who may change webhook subscriptions of the project without a condition, and the creator of this
 * subscription if they still have access to the project.
 */
async function managersOf(
  tx: Executor,
  { id, ownerId }: { readonly id: string; readonly ownerId: string },
  creatorId: string,
): Promise<string[]> {
  const rows = await rowsOf<{ userId: string }>(
    tx,
    sql`
    with assignees as (
      select m.user_id, m.role_id from organization_members m where m.tenant_id = ${ownerId}::uuid
      union select r.user_id, r.role_id from project_user_roles r where r.tenant_id = ${id}::uuid
      union select a.owner_id, ${ACCOUNT_OWNER}::uuid from accounts a
        where a.id = ${ownerId}::uuid and a.deleted_at is null),
    managing as (
      select rg.role_id from ${rolePermissions}
      where p.resource_id = ${resourceIdOf('WebhookSubscription')}::uuid and p.action = 'Update'
        and (p.condition is null or p.condition = '{}'::jsonb))
    select user_id as "userId" from assignees
      where role_id in (select role_id from managing) or user_id = ${creatorId}::uuid
    union select u.user_id from project_users u where u.tenant_id = ${id}::uuid and u.user_id = ${creatorId}::uuid`,
  );
  return rows.map(({ userId }) => userId);
}
