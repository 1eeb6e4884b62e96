import { eq, or, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { nodes } from '../../db/nodes.ts';
import { auditLog } from '../../events/tables.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { ScopeOutput, type ResolvedScope } from '../../kernel/scope.ts';
import { iso, jsonObject } from '../../values.ts';

export const AuditOutcome = z
  .enum(['success', 'denied', 'failed'])
  .meta({ id: 'AuditOutcome', description: 'denied: a 403; failed: a wrong secret.' });

const AuditActor = z
  .object({
    type: z.enum(['user', 'apiKey', 'projectApp', 'system', 'anonymous']).meta({ id: 'AuditActorType' }),
    id: z.string().nullable(),
    userId: z.string().nullable(),
    name: z.string().nullable().meta({ description: 'null once the user was erased.' }),
  })
  .meta({ id: 'AuditActor', description: 'Who did it.' });

const AuditTarget = z
  .object({ type: z.string(), id: z.string() })
  .meta({ id: 'AuditTarget', description: 'What it was done to.' });

const nullable = serverSet(z.string().nullable());

/** Entries of the projects of an organization, deleted ones too: what was done does not go with what it was done to. */
const ofProjects = (nodeId: string): SQL =>
  sql`${auditLog.tenantId} in (select ${nodes.id} from ${nodes} where ${nodes.parentId} = ${nodeId} and ${nodes.kind} = 'project')`;

/** One entry of the chain of a tenant node, with all that is needed to verify it (events §7). */
export const AuditLogEntry = entity('AuditLogEntry', {
  table: auditLog,
  doc: 'What was done, by whom, to what; chained by hash per tenant.',
  without: ['createdAt', 'updatedAt', 'deletedAt'],
  fields: {
    sequence: serverSet(z.int()),
    occurredAt: serverSet(iso),
    scope: serverSet(ScopeOutput),
    operation: serverSet(z.string()),
    event: nullable,
    outcome: serverSet(AuditOutcome),
    code: nullable,
    reason: nullable,
    actor: serverSet(AuditActor),
    target: serverSet(AuditTarget.nullable()),
    changes: serverSet(jsonObject.nullable().meta({ description: '{field: {from, to}}' })),
    metadata: serverSet(jsonObject),
    ipAddress: nullable,
    userAgent: nullable,
    requestId: serverSet(z.string()),
    previousHash: serverSet(z.string()),
    hash: serverSet(z.string()),
    personalDigest: serverSet(z.string()),
    salt: nullable,
  },
  within: ({ tenant, nodeId }: ResolvedScope) => {
    const own = eq(auditLog.tenantId, nodeId);
    return tenant === 'organization' ? (or(own, ofProjects(nodeId)) as SQL) : own;
  },
  sort: ['sequence'],
  order: 'DESC',
});
