import type { PolicyDocument } from '@doorward/decision/document/document';
import {
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text as textColumn,
  unique,
  uuid as uuidColumn,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { tenantColumn, time } from '../columns.ts';
import { EventActor } from '../events/event-actor.ts';
import { entity, serverSet } from '../../kernel/entity.ts';

/** One row for each application of a policy document to a project; `policyDocuments` has the documents. */
export const policyVersions = pgTable(
  'policy_versions',
  {
    id: uuidColumn('id').primaryKey(),
    tenantId: tenantColumn(),
    number: integer('number').notNull(),
    /** The version of the project's rows right after the document was applied (`State.version`). */
    version: textColumn('version').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
    createdBy: jsonb('created_by').$type<z.output<typeof EventActor>>().notNull(),
    message: textColumn('message'),
    source: jsonb('source').$type<Source>(),
    counts: jsonb('counts').$type<Counts>().notNull(),
    rollbackOf: integer('rollback_of'),
    documentHash: textColumn('document_hash').notNull(),
  },
  (table) => [unique('policy_versions_number').on(table.tenantId, table.number)],
);

/** The latest policy documents, in a table of their own so that lists of versions do not read them. */
export const policyDocuments = pgTable(
  'policy_documents',
  {
    tenantId: tenantColumn(),
    number: integer('number').notNull(),
    document: jsonb('document').$type<PolicyDocument>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.number] })],
);

export const Source = z
  .strictObject({
    repository: z.string().max(255).optional().describe('Where the file is kept.'),
    commit: z.string().max(255).optional().describe('The commit of the file.'),
    url: z.string().max(255).optional().describe('A page about the change.'),
  })
  .meta({ id: 'PolicySource', description: 'Where a policy document comes from, as its caller says.' });
export type Source = z.output<typeof Source>;

const Counts = z
  .object({
    created: z.int().describe('Rows that were created.'),
    updated: z.int().describe('Rows that were changed or adopted.'),
    deleted: z.int().describe('Rows that were deleted.'),
  })
  .meta({ id: 'PolicyCounts', description: 'How many rows changed when the document was applied.' });
export type Counts = z.output<typeof Counts>;

/** One application of a policy document. */
export const PolicyVersion = entity('PolicyVersion', {
  table: policyVersions,
  doc: 'One application of a policy document to a project.',
  fields: {
    number: serverSet(z.int().describe('1 for the first application, and one more each time.')),
    version: serverSet(z.string().describe('The state of the rows right after it.')),
    createdBy: serverSet(EventActor.describe('Who applied it.')),
    message: serverSet(z.string().nullable().describe('Why, as the caller says.')),
    source: serverSet(Source.nullable().describe('Where the document comes from.')),
    counts: serverSet(Counts.describe('What it changed.')),
    rollbackOf: serverSet(
      z.int().nullable().describe('The version whose document was applied again; else null.'),
    ),
    documentHash: serverSet(z.string().describe('SHA-256 of the document.')),
  },
  without: ['updatedAt', 'deletedAt'],
  sort: ['number'],
  order: 'DESC',
});
