import { pageOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';
import { AuditLogEntry } from '../../schema/events/audit-log-entry.ts';
import { exportEntries, exportFormat, exportOperation } from './export.ts';
import { auditFilters, auditPaging, entryConditions } from './filters.ts';

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
  ...exportOperation,
  rest: 'GET /audit-logs/export',
  whileImpersonating: 'allowed',
  admits: ['suspended-owner'],
  summary: 'Download the audit entries of a scope, oldest first',
  description:
    'A line of ndjson is an `AuditLogEntry`; `doorward audit verify` proves such a file. A line of csv has the same members, objects as JSON. The export is a mutation, because it writes an audit entry; without filters, that entry is the last line.',
  input: { scope: Scope, ...auditFilters, format: exportFormat },
  run: (ctx) => {
    const { scope: _, ...input } = ctx.input;
    return exportEntries(ctx, input, 'exportAuditLogs');
  },
});
