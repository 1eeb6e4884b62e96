import { Readable } from 'node:stream';
import { and, asc, desc, eq, gt, lte, sql, type SQL } from 'drizzle-orm';
import { nodes } from '../../db/nodes.ts';
import { auditLog } from '../../events/tables.ts';
import { projector } from '../../kernel/project.ts';
import { bare, type BareReply } from '../../kernel/reply.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Context } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { formats, type Format } from './export-format.ts';
import { AuditLogEntry } from './entry.ts';

/**
 * The log as a file, however long it is. Entries are only ever added, so no snapshot is needed: where each chain ends is
 * read once, and what is before that does not change but for the erasure of a person. A connection is taken for one
 * window at a time and not while the reader is slow.
 *
 * A window is so many numbers of a chain, whether or not its entries are asked for: no statement runs long because a
 * filter lets little through.
 */
const WINDOW = 500;

export interface Exported {
  readonly scope: ResolvedScope;
  readonly includeProjects: boolean;
  /** What is asked for beside the nodes. */
  readonly filters: readonly (SQL | undefined)[];
  readonly format: Format;
  /** Of the call that exports: its entry, written by now, is the last of the scope's chain that is read. */
  readonly requestId: string;
}

type Read = Context['read'];

/**
 * An attachment that is read while it is sent. The chains of projects come first, so that the file ends with the
 * export's own entry.
 */
export function exportOf(read: Read, exported: Exported): BareReply {
  const { format, scope } = exported;
  const name = `audit-${scope.tenant}-${scope.id.replaceAll(':', '-')}.${format}`;
  return bare(Readable.from(textOf(read, exported)), {
    'content-type': formats[format].mediaType,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
  });
}

const project = projector(AuditLogEntry.schema) as (row: unknown) => Record<string, unknown>;

async function* textOf(read: Read, exported: Exported): AsyncGenerator<string> {
  const { header, line } = formats[exported.format];
  if (header) yield header;
  for (const { id, last } of await read((tx) => chains(tx, exported))) {
    for (let after = await read((tx) => cutUpTo(tx, id)); after < last; after += WINDOW) {
      const upTo = Math.min(after + WINDOW, last);
      const within = [eq(auditLog.tenantId, id), gt(auditLog.sequence, after), lte(auditLog.sequence, upTo)];
      const rows = await read((tx) =>
        tx
          .select()
          .from(auditLog)
          .where(and(...within, ...exported.filters))
          .orderBy(asc(auditLog.sequence)),
      );
      if (rows.length > 0) yield rows.map((row) => line(project(row))).join('');
    }
  }
}

/** The nodes to read, and up to which number of each. */
async function chains(db: Executor, { scope, includeProjects, requestId }: Exported) {
  const [own] = await db
    .select({ id: auditLog.tenantId, last: auditLog.sequence })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.tenantId, scope.nodeId),
        eq(auditLog.requestId, requestId),
        eq(auditLog.operation, 'exportAuditLogs'),
      ),
    )
    .orderBy(desc(auditLog.sequence))
    .limit(1);
  if (!own) throw new Error('an export is recorded before it is read');
  if (!includeProjects) return [own];
  const projects = await db
    .select({ id: nodes.id, last: nodes.auditSequence })
    .from(nodes)
    .where(and(eq(nodes.parentId, scope.nodeId), sql`${nodes.kind} = 'project'`))
    .orderBy(asc(nodes.id));
  return [...projects, own];
}

/** What is older than the retention is gone (src/events/retention.ts): the number before the first that is there. */
async function cutUpTo(db: Executor, id: string): Promise<number> {
  const [first] = await db
    .select({ sequence: auditLog.sequence })
    .from(auditLog)
    .where(eq(auditLog.tenantId, id))
    .orderBy(asc(auditLog.sequence))
    .limit(1);
  return (first?.sequence ?? 1) - 1;
}
