import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { installationRoles } from '../../access/installation-roles.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { pageOf } from '../../kernel/input/inputs.ts';
import { iso, uuid } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';
import { AuditLogEntry } from '../../schema/events/audit-log-entry.ts';
import { exportEntries, exportFormat, exportOperation } from '../../tenants/audit-log/export.ts';
import { auditFilters, auditPaging, entryConditions } from '../../tenants/audit-log/filters.ts';
import { installation as common } from './inputs.ts';

const Counts = z
  .object({
    users: z.int().describe('Number of users.'),
    accounts: z.int().describe('Number of accounts.'),
    organizations: z.int().describe('Number of organizations.'),
    projects: z.int().describe('Number of projects.'),
  })
  .meta({ id: 'InstallationCounts', description: 'How large the installation is.' });

const RequestQueue = z
  .object({
    name: z.string().describe('The scarce resource.'),
    waiting: z.int().describe('Requests that wait.'),
    running: z.int().describe('Requests that are worked on.'),
    refused: z.int().describe('Requests refused since the start.'),
  })
  .meta({ id: 'InstallationQueue', description: 'A queue of requests in this process.' });

const Backlog = z
  .object({ name: z.string().describe('What waits.'), value: z.number().describe('How much, or how long.') })
  .meta({ id: 'InstallationBacklog', description: 'Work in the database that is not done yet.' });

const Check = z
  .object({
    name: z.string().describe('What is checked.'),
    ok: z.boolean().describe('Whether it is as it must be.'),
  })
  .meta({ id: 'InstallationCheck', description: 'A requirement for serving requests.' });

const Role = z
  .object({
    id: uuid.describe('Id of the role.'),
    name: z.string().describe('Its name.'),
    permissions: z.array(z.string()).describe('What it holds, each as `Noun:Action`.'),
  })
  .meta({ id: 'InstallationRole', description: 'A built-in role of the installation.' });

export const installation = query({
  ...common,
  rest: 'GET /installation',
  access: 'Installation:Query',
  summary: 'Read the state of the installation',
  input: { scope: Scope },
  output: z
    .object({
      version: z.string().describe('Version of the service.'),
      startedAt: iso.describe('When the process that answers was started.'),
      counts: Counts.describe('How large the installation is.'),
      queues: z.array(RequestQueue).describe('The queues of the process that answers.'),
      backlogs: z.array(Backlog).describe('Mails, events and deliveries that wait, and since when.'),
      checks: z.array(Check).describe('The requirements for serving requests.'),
      warnings: z.array(z.string()).describe('Protections that could not be set up at the start.'),
      roles: z.array(Role).describe('The roles that an operator can have.'),
    })
    .meta({ id: 'InstallationState', description: 'The state of the installation.' }),
  run: async ({ tx, services }) => {
    const { version, startedAt, queues, warnings } = services.process;
    const [counts] = await rowsOf<z.output<typeof Counts>>(
      tx,
      sql`select (select count(*)::int from users where deleted_at is null) as users,
        (select count(*)::int from accounts where deleted_at is null) as accounts,
        (select count(*)::int from organizations where deleted_at is null) as organizations,
        (select count(*)::int from projects where deleted_at is null) as projects`,
    );
    if (!counts) throw new Error('a select without from has one row');
    const { checks } = await services.readiness();
    return {
      version,
      startedAt,
      counts,
      queues: [...queues()],
      backlogs: (await services.gauges()).map(({ name, value }) => ({ name, value })),
      checks: Object.entries(checks).map(([name, state]) => ({ name, ok: state === 'ok' })),
      warnings: [...warnings],
      roles: installationRoles.map((role) => ({ ...role, permissions: [...role.permissions] })),
    };
  },
});

const { includeProjects: _, ...filters } = auditFilters;

export const installationAuditLogs = query({
  ...common,
  rest: 'GET /installation/audit-logs',
  access: 'InstallationAudit:Query',
  summary: 'List the audit entries of the installation, newest first',
  description: 'What operators did and looked at, and what the service did by itself.',
  input: { scope: Scope, ...auditPaging, ...filters },
  output: pageOf(AuditLogEntry),
  run: ({ db, input, scope }) =>
    db.page(AuditLogEntry, input, entryConditions({ ...input, includeProjects: false }, scope)),
});

export const exportInstallationAuditLogs = mutation({
  ...common,
  ...exportOperation,
  rest: 'GET /installation/audit-logs/export',
  access: 'InstallationAudit:Query',
  summary: 'Download the audit entries of the installation, oldest first',
  description:
    'As `exportAuditLogs` answers those of a tenant, and verified in the same way. It writes an audit entry, which without filters is the last line.',
  input: { scope: Scope, ...filters, format: exportFormat },
  run: (ctx) => {
    const { scope: _, ...input } = ctx.input;
    return exportEntries(ctx, { ...input, includeProjects: false }, 'exportInstallationAuditLogs');
  },
});
