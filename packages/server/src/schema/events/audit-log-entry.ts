import { sql, eq, or, type SQL } from 'drizzle-orm';
import { bigint, char, index, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time } from '../columns.ts';
import { nodes } from '../nodes.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { ScopeOutput, type ResolvedScope } from '../../kernel/scope.ts';
import { iso, jsonObject } from '../../kernel/input/values.ts';

/**
 * The audit log. Entries are only inserted, except that the erasure of a user clears personal values, and expired
 * entries are deleted. Each tenant node has a gapless sequence of entries whose hashes form a chain (events §7).
 */
export const auditLog = pgTable(
  'audit_log',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id')
      .notNull()
      .references(() => nodes.id),
    sequence: bigint('sequence', { mode: 'number' }).notNull(),
    occurredAt: time('occurred_at').notNull(),
    scope: jsonb('scope').notNull(),
    operation: text('operation').notNull(),
    event: text('event'),
    outcome: text('outcome', { enum: ['success', 'denied', 'failed'] }).notNull(),
    code: text('code'),
    reason: text('reason'),
    actor: jsonb('actor').notNull(),
    target: jsonb('target'),
    changes: jsonb('changes'),
    metadata: jsonb('metadata').notNull(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    requestId: text('request_id').notNull(),
    previousHash: char('previous_hash', { length: 64 }).notNull(),
    hash: char('hash', { length: 64 }).notNull(),
    personalDigest: char('personal_digest', { length: 64 }).notNull(),
    salt: text('salt'),
  },
  (table) => [
    unique('audit_log_sequence').on(table.tenantId, table.sequence),
    index('audit_log_actor').on(sql`(actor->>'userId')`, table.id),
    index('audit_log_user')
      .on(sql`(target->>'id')`, table.id)
      .where(sql`target->>'type' = 'User'`),
    // Finds the checkpoints up to which entries may be deleted (src/events/audit/retention.ts).
    index('audit_log_checkpoints')
      .on(table.tenantId, table.occurredAt)
      .where(sql`operation = 'auditCheckpoint'`),
  ],
);

export const AuditOutcome = z.enum(['success', 'denied', 'failed']).meta({
  id: 'AuditOutcome',
  description: 'denied: the caller lacks the right (403); failed: a wrong secret.',
});

const AuditActor = z
  .object({
    type: z
      .enum(['user', 'apiKey', 'projectApp', 'system', 'anonymous'])
      .meta({ id: 'AuditActorType', description: 'What kind of caller it was.' }),
    id: z.string().nullable().describe('Id of the user, key or app; null if the caller is unknown.'),
    userId: z.string().nullable().describe('Id of the user for whom the caller acted.'),
    name: z.string().nullable().meta({ description: 'Name of the user at that time; null once erased.' }),
    impersonator: z
      .object({
        id: z.string().describe('Id of the operator.'),
        name: z.string().describe('What they are, not who.'),
      })
      .meta({ id: 'Impersonator', description: 'An operator who acted for a user.' })
      .nullish()
      .describe('The operator of the installation who acted for the user; absent if the user acted.'),
  })
  .meta({ id: 'AuditActor', description: 'The caller of the operation.' });

const AuditTarget = z
  .object({ type: z.string().describe('The noun, e.g. `Role`.'), id: z.string().describe('Id of the row.') })
  .meta({ id: 'AuditTarget', description: 'The row that the operation was about.' });

const nullableText = (description: string) => serverSet(z.string().nullable().describe(description));

/**
 * SQL condition: the entry belongs to a project of the organization. Deleted projects count too, because audit entries
 * outlive their target.
 */
const inProjectsOf = (nodeId: string): SQL =>
  sql`${auditLog.tenantId} in (select ${nodes.id} from ${nodes} where ${nodes.parentId} = ${nodeId} and ${nodes.kind} = 'project')`;

/** One entry in the audit chain of a tenant node, with everything needed to verify it (events §7). */
export const AuditLogEntry = entity('AuditLogEntry', {
  table: auditLog,
  doc: 'One recorded operation: who did what, and to which row. The entries of a tenant form a hash chain.',
  without: ['createdAt', 'updatedAt', 'deletedAt'],
  fields: {
    sequence: serverSet(z.int().describe('Number of the entry in the chain of its tenant, without gaps.')),
    occurredAt: serverSet(iso.describe('When it happened.')),
    scope: serverSet(ScopeOutput.describe('Where it happened.')),
    operation: serverSet(z.string().describe('Name of the operation.')),
    event: nullableText('The event that the operation emitted; null for none.'),
    outcome: serverSet(AuditOutcome.describe('Whether the operation succeeded, was denied or failed.')),
    code: nullableText('The error code of a refusal; null if the operation succeeded.'),
    reason: nullableText('The reason of a denied decision.'),
    actor: serverSet(AuditActor.describe('The caller of the operation.')),
    target: serverSet(
      AuditTarget.nullable().describe('The row that the operation was about; null if there is none.'),
    ),
    changes: serverSet(
      jsonObject
        .nullable()
        .meta({ description: 'What changed: {field: {from, to}}; null if nothing changed.' }),
    ),
    metadata: serverSet(jsonObject.describe('Further facts about the operation.')),
    ipAddress: nullableText('The network address of the caller; null once erased.'),
    userAgent: nullableText('The user agent of the caller; null once erased.'),
    requestId: serverSet(z.string().describe('Id of the request, from `X-Request-Id`.')),
    previousHash: serverSet(z.string().describe('Hash of the previous entry.')),
    hash: serverSet(z.string().describe('Hash of this entry, which includes the hash of the previous one.')),
    personalDigest: serverSet(
      z.string().describe('Digest of the personal values, which are erased with the person.'),
    ),
    salt: nullableText('Salt of the digest, so that the values cannot be guessed from it; null once erased.'),
  },
  within: ({ tenant, nodeId }: ResolvedScope) => {
    const own = eq(auditLog.tenantId, nodeId);
    return tenant === 'organization' ? or(own, inProjectsOf(nodeId)) : own;
  },
  sort: ['sequence'],
  order: 'DESC',
});
