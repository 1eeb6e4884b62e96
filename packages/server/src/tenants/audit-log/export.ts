import { Readable } from 'node:stream';
import { z } from 'zod';
import { and, asc, desc, eq, gt, lte, sql, type SQL } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import { auditLog, AuditLogEntry } from '../../schema/events/audit-log-entry.ts';
import { projector } from '../../kernel/output/projector.ts';
import { bare, type BareReply } from '../../kernel/output/reply.ts';
import type { InputOf } from '../../kernel/operation.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Context } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { type auditFilters, entryConditions } from './filters.ts';
import { formats, type Format } from './export-format.ts';

/**
 * How many sequence numbers of a chain one statement reads. The window counts all entries, not only those that match
 * the filters, so that no statement runs long when few match. Each window takes a connection from the pool and
 * returns it before the file is sent on, so that a slow reader holds none. No snapshot is needed: chains only grow,
 * and entries before the end that was read first change only by the erasure of a person.
 */
const WINDOW = 500;

/** The entries to export, and their format. */
interface ExportRequest {
  readonly scope: ResolvedScope;
  readonly includeProjects: boolean;
  /** Conditions besides the tenant node. */
  readonly filters: readonly (SQL | undefined)[];
  readonly format: Format;
  /** The operation that exports, as the audit log names it. */
  readonly operation: 'exportAuditLogs' | 'exportInstallationAuditLogs';
  /**
   * Id of the exporting request: its own entry, already committed, is the last entry of the scope's chain in the file.
   */
  readonly requestId: string;
}

/** The declarations that all export operations share; `access`, `tenants` and the route differ. */
export const exportOperation = {
  only: 'rest',
  bare: ['application/x-ndjson', 'text/csv'],
  permissionChange: 'none',
  output: z.string().meta({ description: 'A file.' }),
  limit: { class: 'export', key: () => '' },
} as const;

export const exportFormat = z
  .enum(['ndjson', 'csv'])
  .default('ndjson')
  .meta({ id: 'AuditFormat', description: 'ndjson: one JSON object per line; csv: a table.' });

type Exporting = Pick<Context, 'call' | 'read' | 'record'> & { readonly scope: ResolvedScope };
type ExportInput = InputOf<typeof auditFilters> & { readonly format: Format };

/**
 * Records the export with its filters, and returns the file. `exportReply` reads the entries while it sends the file,
 * after the transaction committed the export's own entry.
 */
export function exportEntries(
  { scope, call, read, record }: Exporting,
  { format, includeProjects, ...requested }: ExportInput,
  operation: ExportRequest['operation'],
): BareReply {
  const filters = entryConditions({ ...requested, includeProjects }, scope);
  const metadata = { format, includeProjects, filters: JSON.parse(JSON.stringify(requested)) as object };
  record({ metadata });
  return exportReply(read, { scope, includeProjects, filters, format, operation, requestId: call.requestId });
}

type Read = Context['read'];

/**
 * Returns an attachment that streams the entries. Those of projects come first, so that the file ends with the export's
 * own entry.
 */
export function exportReply(read: Read, request: ExportRequest): BareReply {
  const { format, scope } = request;
  const name = `audit-${scope.tenant}-${scope.id.replaceAll(':', '-')}.${format}`;
  return bare(Readable.from(fileChunks(read, request)), {
    'content-type': formats[format].mediaType,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
  });
}

const toOutput = projector(AuditLogEntry.schema) as (row: unknown) => Record<string, unknown>;

async function* fileChunks(read: Read, request: ExportRequest): AsyncGenerator<string> {
  const { header, line } = formats[request.format];
  if (header) yield header;
  for (const { id, last } of await read((tx) => loadChains(tx, request))) {
    for (let after = await read((tx) => lastRemovedSequence(tx, id)); after < last; after += WINDOW) {
      const upTo = Math.min(after + WINDOW, last);
      const within = [eq(auditLog.tenantId, id), gt(auditLog.sequence, after), lte(auditLog.sequence, upTo)];
      const rows = await read((tx) =>
        tx
          .select()
          .from(auditLog)
          .where(and(...within, ...request.filters))
          .orderBy(asc(auditLog.sequence)),
      );
      if (rows.length > 0) yield rows.map((row) => line(toOutput(row))).join('');
    }
  }
}

/** Returns the chains to read, each with the last sequence number to read. */
async function loadChains(db: Executor, { scope, includeProjects, operation, requestId }: ExportRequest) {
  const [ownChain] = await db
    .select({ id: auditLog.tenantId, last: auditLog.sequence })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.tenantId, scope.nodeId),
        eq(auditLog.requestId, requestId),
        eq(auditLog.operation, operation),
      ),
    )
    .orderBy(desc(auditLog.sequence))
    .limit(1);
  if (!ownChain) throw new Error('an export is recorded before it is read');
  if (!includeProjects) return [ownChain];
  const projects = await db
    .select({ id: nodes.id, last: nodes.auditSequence })
    .from(nodes)
    .where(and(eq(nodes.parentId, scope.nodeId), sql`${nodes.kind} = 'project'`))
    .orderBy(asc(nodes.id));
  return [...projects, ownChain];
}

/** Returns the sequence number before the oldest retained entry; events/audit/retention.ts removes older ones. */
async function lastRemovedSequence(db: Executor, id: string): Promise<number> {
  const [first] = await db
    .select({ sequence: auditLog.sequence })
    .from(auditLog)
    .where(eq(auditLog.tenantId, id))
    .orderBy(asc(auditLog.sequence))
    .limit(1);
  return (first?.sequence ?? 1) - 1;
}
