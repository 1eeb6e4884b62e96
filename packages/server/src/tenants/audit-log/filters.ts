import { and, eq, gte, like, lt, or, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { auditLog, AuditLogEntry, AuditOutcome } from '../../schema/events/audit-log-entry.ts';
import { fail } from '../../errors.ts';
import type { InputOf } from '../../kernel/operation.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import { isoInput, uuid } from '../../kernel/input/values.ts';
import { paging } from '../../kernel/input/inputs.ts';

/** The paging parameters of audit entries. The lists of a scope and of the installation share them. */
export const auditPaging = paging(AuditLogEntry);

/** Filters of audit entries (events §7), shared by the list and the export. */
export const auditFilters = {
  actorId: uuid
    .optional()
    .meta({ description: 'Only what this user did, with any credential, or what this key did.' }),
  operation: z.string().min(1).max(100).optional().describe('Only this operation, e.g. `createRole`.'),
  event: z
    .string()
    .regex(/^[a-z_]+\.([a-z_]+|\*)$/)
    .max(100)
    .optional()
    .meta({ description: 'Only entries with this event: a name, or all events of a noun (`api_key.*`).' }),
  targetType: z.string().min(1).max(100).optional().describe('Only entries about this noun, e.g. `Role`.'),
  targetId: z.string().min(1).max(100).optional().describe('Only entries about the row with this id.'),
  outcome: AuditOutcome.optional().describe('Only entries with this outcome.'),
  from: isoInput.optional().meta({ description: 'Only from this time on.' }),
  to: isoInput.optional().meta({ description: 'Only before this time.' }),
  includeProjects: z
    .boolean()
    .default(false)
    .meta({ description: 'true: in an organization, the entries of its projects too.' }),
};

/**
 * The conditions for the entries that the filters select.
 * @throws VALIDATION_ERROR for `includeProjects` outside an organization
 */
export function entryConditions(
  input: InputOf<typeof auditFilters>,
  { tenant, nodeId }: ResolvedScope,
): (SQL | undefined)[] {
  const { actorId, operation, event, targetType, targetId, outcome, from, to, includeProjects } = input;
  if (includeProjects && tenant !== 'organization') {
    throw fail('VALIDATION_ERROR', { details: [{ path: 'includeProjects', code: 'not_allowed' }] });
  }
  return [
    includeProjects ? undefined : eq(auditLog.tenantId, nodeId),
    actorId === undefined
      ? undefined
      : or(sql`${auditLog.actor}->>'userId' = ${actorId}`, sql`${auditLog.actor}->>'id' = ${actorId}`),
    operation === undefined ? undefined : eq(auditLog.operation, operation),
    event === undefined ? undefined : eventCondition(event),
    targetType === undefined ? undefined : sql`${auditLog.target}->>'type' = ${targetType}`,
    targetId === undefined ? undefined : sql`${auditLog.target}->>'id' = ${targetId}`,
    outcome && eq(auditLog.outcome, outcome),
    and(from && gte(auditLog.occurredAt, from), to && lt(auditLog.occurredAt, to)),
  ];
}

/**
 * The exact name, or a prefix that ends with `*`. Event names contain `_`, which is a wildcard in LIKE, so it is
 * escaped.
 */
const eventCondition = (event: string): SQL =>
  event.endsWith('*')
    ? like(auditLog.event, `${event.slice(0, -1).replaceAll('_', '\\_')}%`)
    : eq(auditLog.event, event);
