import { z } from 'zod';
import { pageOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { Scope } from '../../kernel/scope.ts';
import { AuditLogEntry } from './entry.ts';
import { exportReply } from './export.ts';
import { auditFilters, auditPaging, entryConditions } from '../../domain/audit-log/filters.ts';

const common = {
  access: 'AuditLog:Query',
  tenants: ['account', 'organization', 'accountProject', 'organizationProject'],
} as const;

export const auditLogs = query({
  ...common,
  rest: 'GET /audit-logs',
  summary: 'List the audit entries of a scope, newest first',
  input: { scope: Scope, ...auditPaging, ...auditFilters },
  output: pageOf(AuditLogEntry),
  run: ({ db, input, scope }) => db.page(AuditLogEntry, input, entryConditions(input, scope)),
});

export const exportAuditLogs = mutation({
  ...common,
  rest: 'GET /audit-logs/export',
  whileImpersonating: 'allowed',
  whileSuspended: 'owners',
  only: 'rest',
  bare: ['application/x-ndjson', 'text/csv'],
  summary: 'Download the audit entries of a scope, oldest first',
  description:
    'A line of ndjson is an `AuditLogEntry`; `npm run verify-audit` verifies such a file. A line of csv has the same members, objects as JSON. The export is a mutation, because it writes an audit entry; without filters, that entry is the last line.',
  leavesPermissions: true,
  input: {
    scope: Scope,
    ...auditFilters,
    format: z
      .enum(['ndjson', 'csv'])
      .default('ndjson')
      .meta({ id: 'AuditFormat', description: 'ndjson: one JSON object per line; csv: a table.' }),
  },
  output: z.string().meta({ description: 'A file.' }),
  limit: { class: 'export', key: () => '' },
  // `exportReply` reads the entries while it sends the file, after this transaction committed the export's own entry.
  run: ({ input, scope, call, read, record }) => {
    const filters = entryConditions(input, scope);
    const { scope: _, format, includeProjects, ...requested } = input;
    const metadata = { format, includeProjects, filters: JSON.parse(JSON.stringify(requested)) as object };
    record({ metadata });
    return exportReply(read, { scope, includeProjects, filters, format, requestId: call.requestId });
  },
});
