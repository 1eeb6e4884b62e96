import { pgTable, text as textColumn, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { time, userColumn } from '../columns.ts';
import { iso, uuid } from '../../kernel/input/values.ts';

/**
 * Operators whom another operator or the command line has added, and the first user of a development installation.
 * Operators in `OPERATORS` have no row: `operatorRows` (src/access/operators.ts) adds them.
 */
export const operatorsTable = pgTable('operators', {
  userId: userColumn().primaryKey(),
  /** One of the built-in roles of the installation, which are not rows (src/access/installation-roles.ts). */
  roleId: uuidColumn('role_id').notNull(),
  source: textColumn('source', { enum: ['api', 'commandLine', 'development'] }).notNull(),
  createdBy: uuidColumn('created_by'),
  createdAt: time('created_at').notNull().defaultNow(),
});

/**
 * Addresses for which the command line has prepared an operator, because no user had verified them. A user who verifies
 * such an address becomes an operator within a minute (`operators/prepared.ts`).
 */
export const preparedOperators = pgTable('prepared_operators', {
  address: textColumn('address').primaryKey(),
  roleId: uuidColumn('role_id').notNull(),
  reason: textColumn('reason'),
  /** The preparation ends, so that a stranger who later registers a mistyped address does not become an operator. */
  expiresAt: time('expires_at').notNull(),
  createdAt: time('created_at').notNull().defaultNow(),
});

export const OperatorSource = z.enum(['configuration', 'api', 'commandLine', 'development']).meta({
  id: 'OperatorSource',
  description:
    'configuration: their address is in OPERATORS; api: another operator made them; commandLine: the command line on the machine of the service did; development: the first user of an installation that is not in production.',
});

/** An operation by an operator that affects a user or an organization. It selects the text of the notification. */
export const OperatorAct = z.enum([
  'userSuspended',
  'userReactivated',
  'sessionsEnded',
  'factorResetPlanned',
  'factorReset',
  'passwordResetSent',
  'operatorAdded',
  'organizationSuspended',
  'organizationReactivated',
]);
export type OperatorAct = z.output<typeof OperatorAct>;

export const Operator = z
  .object({
    userId: uuid.describe('Id of the user.'),
    name: z.string().describe('Their name.'),
    email: z.string().nullable().describe('Their primary address.'),
    role: z
      .object({ id: uuid.describe('Id of the role.'), name: z.string().describe('Name of the role.') })
      .meta({ id: 'OperatorRole', description: 'A built-in role of the installation.' })
      .describe('What the operator may do.'),
    source: OperatorSource.describe('Why they are an operator; those of the configuration end with it only.'),
    createdBy: uuid.nullable().describe('Id of the operator who made them; null for the other sources.'),
    createdAt: iso.describe('Since when they are an operator, or own the configured address.'),
  })
  .meta({ id: 'Operator', description: 'A user who runs the installation.' });
