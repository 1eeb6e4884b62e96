import { pageOf, paging } from '../../kernel/inputs.ts';
import { query } from '../../kernel/operation.ts';
import { Scope } from '../../kernel/scope.ts';
import { AuditLogEntry } from './entry.ts';
import { auditFilters, entriesAsked } from './filters.ts';

export const auditLogs = query({
  rest: 'GET /audit-logs',
  access: 'AuditLog:Query',
  summary: 'List what was done in a scope, newest first',
  tenants: ['account', 'organization', 'accountProject', 'organizationProject'],
  input: { scope: Scope, ...paging(AuditLogEntry), ...auditFilters },
  output: pageOf(AuditLogEntry),
  run: ({ db, input, scope }) => db.page(AuditLogEntry, input, entriesAsked(input, scope)),
});
