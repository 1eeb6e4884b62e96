import { and, asc, getTableColumns, gt, sql } from 'drizzle-orm';
import { z } from 'zod';
import { auditLog } from '../../events/tables.ts';
import { ScopeOutput } from '../../kernel/scope.ts';
import { iso, jsonObject, uuid } from '../../values.ts';
import { pages } from './section.ts';

/** An audit entry without what only proves the chain: that is for who may read the log. */
const Act = z
  .object({
    id: uuid,
    sequence: z.int(),
    occurredAt: iso,
    scope: ScopeOutput,
    operation: z.string(),
    event: z.string().nullable(),
    outcome: z.enum(['success', 'denied', 'failed']),
    code: z.string().nullable(),
    reason: z.string().nullable(),
    actor: z.object({
      type: z.string(),
      id: z.string().nullable(),
      userId: z.string().nullable(),
      name: z.string().nullable(),
    }),
    target: z.object({ type: z.string(), id: z.string() }).nullable(),
    changes: jsonObject.nullable(),
    metadata: jsonObject,
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    requestId: z.string(),
  })
  .meta({ id: 'ExportedAuditEntry', description: 'What the user did, himself or through a key.' });

const PAGE = 500;
const ofUser = sql`${auditLog.target}->>'type' = 'User'`;

/**
 * What he did, in order of time; ids are drawn in that order, and an index of actor and id leads from page to page. What
 * he changed of other people is theirs: of that the entry says only that it was changed.
 */
export const acts = pages(Act, async function* ({ tx, userId }) {
  const isHis = sql`${auditLog.actor}->>'userId' = ${userId}`;
  const changes = sql<unknown>`case when ${ofUser} and ${auditLog.target}->>'id' <> ${userId} then null else ${auditLog.changes} end`;
  for (let after: string | null = null; ;) {
    const page: { readonly id: string }[] = await tx
      .select({ ...getTableColumns(auditLog), changes })
      .from(auditLog)
      .where(and(isHis, after === null ? undefined : gt(auditLog.id, after)))
      .orderBy(asc(auditLog.id))
      .limit(PAGE);
    yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
  }
});
