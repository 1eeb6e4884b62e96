import { and, asc, getTableColumns, gt, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { nodes } from '../../schema/nodes.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { ScopeOutput } from '../../kernel/scope.ts';
import { iso, jsonObject, uuid } from '../../kernel/input/values.ts';
import { apiKeys } from '../../schema/machines/api-key.ts';
import { accounts } from '../../schema/people/account.ts';
import { organizationMembers, projectUsers } from '../../schema/rights/membership.ts';
import { batchedList } from './section.ts';

/** An audit entry without the members of the hash chain, which only readers of the log need. */
const AuditEntry = z
  .object({
    id: uuid.describe('Id of the entry.'),
    sequence: z.int().describe('Its number in the log of the tenant.'),
    occurredAt: iso.describe('When it happened.'),
    scope: ScopeOutput.describe('Where it happened.'),
    operation: z.string().describe('Name of the operation.'),
    event: z.string().nullable().describe('The event that it caused.'),
    outcome: z
      .enum(['success', 'denied', 'failed'])
      .describe('Whether the operation succeeded, was denied or failed.'),
    code: z.string().nullable().describe('Why it was refused.'),
    reason: z.string().nullable().describe('The reason of a denied decision.'),
    actor: z
      .object({
        type: z.string().describe('What kind of caller it was.'),
        id: z.string().nullable().describe('Id of the user, key or app.'),
        userId: z.string().nullable().describe('Id of the user for whom it acted.'),
        name: z.string().nullable().describe('What they were called.'),
      })
      .describe('Who did it.'),
    target: z
      .object({ type: z.string().describe('Its noun.'), id: z.string().describe('Its id.') })
      .nullable()
      .describe('What it was done to.'),
    changes: jsonObject.nullable().describe('What changed: {field: {from, to}}.'),
    metadata: jsonObject.describe('More about it.'),
    ipAddress: z.string().nullable().describe('The address of the caller.'),
    userAgent: z.string().nullable().describe('The program of the caller.'),
    requestId: z.string().describe('The request, as `X-Request-Id` names it.'),
  })
  .meta({ id: 'ExportedAuditEntry', description: 'What the user did, directly or through a key.' });

const BATCH_SIZE = 500;
const ofUser = sql`${auditLog.target}->>'type' = 'User'`;

/**
 * SQL condition: the user acted through a key of their own. What a project key does belongs to the project, even if the
 * user created the key: it keeps working after they have left, and the export must not reveal what happens in the
 * project.
 */
const byOwnKey = (userId: string): SQL => sql`(${auditLog.actor}->>'type' = 'apiKey' and exists (
  select from ${apiKeys} where ${apiKeys.id}::text = ${auditLog.actor}->>'id'
    and ${apiKeys.scopeTenant} = 'ProjectUser' and ${apiKeys.userId} = ${userId}))`;

/**
 * SQL condition: the user still belongs to the tenant of the entry, as its owner or member, or as owner or member of
 * the project's owner.
 */
const belongsThere = (userId: string): SQL => sql`exists (
  select from ${nodes} n where n.id = ${auditLog.tenantId} and (
    exists (select from ${accounts} a where a.id in (n.id, n.parent_id) and a.owner_id = ${userId})
    or exists (select from ${organizationMembers} m where m.tenant_id in (n.id, n.parent_id) and m.user_id = ${userId})
    or exists (select from ${projectUsers} p where p.tenant_id = n.id and p.user_id = ${userId})))`;

/**
 * Returns the user's audit entries in order of time. Ids are assigned in that order, and an index on actor and id
 * serves the batches. Changes to other people belong to those people, and changes in a tenant that the user has left
 * belong to the tenant: in both cases the entry omits the changed values.
 */
export const auditEntries = batchedList(AuditEntry, async function* ({ tx, userId }) {
  const isByUser = sql`${auditLog.actor}->>'userId' = ${userId}
    and (${auditLog.actor}->>'type' <> 'apiKey' or ${byOwnKey(userId)})`;
  const changes = sql<unknown>`case when ${ofUser} and ${auditLog.target}->>'id' <> ${userId} or not ${belongsThere(userId)}
    then null else ${auditLog.changes} end`;
  const metadata = sql<unknown>`case when ${belongsThere(userId)} then ${auditLog.metadata} else '{}'::jsonb end`;
  for (let after: string | null = null; ;) {
    const batch: { readonly id: string }[] = await tx
      .select({ ...getTableColumns(auditLog), changes, metadata })
      .from(auditLog)
      .where(and(isByUser, after === null ? undefined : gt(auditLog.id, after)))
      .orderBy(asc(auditLog.id))
      .limit(BATCH_SIZE);
    yield batch;
    const last = batch.at(-1);
    if (!last || batch.length < BATCH_SIZE) return;
    after = last.id;
  }
});
