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
    type: z
      .enum(['user', 'apiKey', 'projectApp', 'system', 'anonymous'])
      .meta({ id: 'AuditActorType', description: 'What kind of caller it was.' }),
    id: z.string().nullable().describe('Id of the user, key or app; null for nobody known.'),
    userId: z.string().nullable().describe('Id of the user for whom it acted.'),
    name: z.string().nullable().meta({ description: 'What they were called; null once erased.' }),
  })
  .meta({ id: 'AuditActor', description: 'Who did it.' });

const AuditTarget = z
  .object({ type: z.string().describe('Its noun, e.g. `Role`.'), id: z.string().describe('Its id.') })
  .meta({ id: 'AuditTarget', description: 'What it was done to.' });

const nullable = (description: string) => serverSet(z.string().nullable().describe(description));

/** Entries of the projects of an organization, deleted ones too: what was done does not go with what it was done to. */
const ofProjects = (nodeId: string): SQL =>
  sql`${auditLog.tenantId} in (select ${nodes.id} from ${nodes} where ${nodes.parentId} = ${nodeId} and ${nodes.kind} = 'project')`;

/** One entry of the chain of a tenant node, with all that is needed to verify it (events §7). */
export const AuditLogEntry = entity('AuditLogEntry', {
  table: auditLog,
  doc: 'What was done, by whom, to what; chained by hash per tenant.',
  without: ['createdAt', 'updatedAt', 'deletedAt'],
  fields: {
    sequence: serverSet(z.int().describe('Counts the entries of the tenant without a gap.')),
    occurredAt: serverSet(iso.describe('When it happened.')),
    scope: serverSet(ScopeOutput.describe('Where it happened.')),
    operation: serverSet(z.string().describe('Name of the operation.')),
    event: nullable('The event that it caused; null for none.'),
    outcome: serverSet(AuditOutcome.describe('Whether the operation succeeded, was denied or failed.')),
    code: nullable('Why it was refused; null if it was not.'),
    reason: nullable('The reason of a denied decision.'),
    actor: serverSet(AuditActor.describe('Who did it.')),
    target: serverSet(
      AuditTarget.nullable().describe('What it was done to; null for nothing in particular.'),
    ),
    changes: serverSet(
      jsonObject.nullable().meta({ description: 'What changed: {field: {from, to}}; null if nothing did.' }),
    ),
    metadata: serverSet(jsonObject.describe('More about it.')),
    ipAddress: nullable('The address of the caller; null once erased.'),
    userAgent: nullable('The program of the caller; null once erased.'),
    requestId: serverSet(z.string().describe('The request, as `X-Request-Id` names it.')),
    previousHash: serverSet(z.string().describe('Hash of the entry before.')),
    hash: serverSet(z.string().describe('Hash of this entry, in which the one before is contained.')),
    personalDigest: serverSet(z.string().describe('Digest of what is erased with the person.')),
    salt: nullable('What makes the digest unguessable; null once erased.'),
  },
  within: ({ tenant, nodeId }: ResolvedScope) => {
    const own = eq(auditLog.tenantId, nodeId);
    return tenant === 'organization' ? (or(own, ofProjects(nodeId)) as SQL) : own;
  },
  sort: ['sequence'],
  order: 'DESC',
});
