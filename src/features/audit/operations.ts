import { z } from 'zod';
import { pageOf, paging } from '../../kernel/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { Scope } from '../../kernel/scope.ts';
import { AuditLogEntry } from './entry.ts';
import { exportOf } from './export.ts';
import { auditFilters, entriesAsked } from './filters.ts';

const common = {
  access: 'AuditLog:Query',
  tenants: ['account', 'organization', 'accountProject', 'organizationProject'],
} as const;

export const auditLogs = query({
  ...common,
  rest: 'GET /audit-logs',
  summary: 'List what was done in a scope, newest first',
  input: { scope: Scope, ...paging(AuditLogEntry), ...auditFilters },
  output: pageOf(AuditLogEntry),
  run: ({ db, input, scope }) => db.page(AuditLogEntry, input, entriesAsked(input, scope)),
});

export const exportAuditLogs = mutation({
  ...common,
  rest: 'GET /audit-logs/export',
  only: 'rest',
  bare: ['application/x-ndjson', 'text/csv'],
  summary: 'Download what was done in a scope, oldest first',
  description:
    'A line of ndjson is an `AuditLogEntry`; `npm run verify-audit` proves such a file. A line of csv has the same members, objects as JSON. It is recorded, so it is a mutation although it is read; without filters the last line is its own entry.',
  keepsRights: true,
  input: {
    scope: Scope,
    ...auditFilters,
    format: z
      .enum(['ndjson', 'csv'])
      .default('ndjson')
      .meta({ id: 'AuditFormat', description: 'One JSON object a line, or a table.' }),
  },
  output: z.string().meta({ description: 'A file.' }),
  limit: { class: 'export', key: () => '' },
  // Its entries are read after the commit of its own, while the file is sent.
  run: ({ input, scope, call, read, record }) => {
    const filters = entriesAsked(input, scope);
    const { scope: _, format, includeProjects, ...asked } = input;
    const metadata = { format, includeProjects, filters: JSON.parse(JSON.stringify(asked)) as object };
    record({ metadata });
    return exportOf(read, { scope, includeProjects, filters, format, requestId: call.requestId });
  },
});
