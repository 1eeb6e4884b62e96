import { sql } from 'drizzle-orm';
import { index, pgTable, text as textColumn, uniqueIndex } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { deletedIndex, rowColumns, tenantColumn, time } from '../columns.ts';
import { entity, fixed, serverSet } from '../../kernel/entity.ts';
import { domainName } from '../../kernel/input/domain-name.ts';
import { iso } from '../../kernel/input/values.ts';

const states = ['pending', 'verified', 'lapsed'] as const;
export const OrganizationDomainStatus = z.enum(states).meta({
  id: 'OrganizationDomainStatus',
  description:
    'pending: not verified yet; verified: the record was seen; lapsed: its record has been gone for three days. Only a verified domain is a proof.',
});

/** Domains of organizations. Several organizations may list the same domain, but at most one has verified it. */
export const organizationDomains = pgTable(
  'organization_domains',
  {
    ...rowColumns(),
    tenantId: tenantColumn(),
    /** In the canonical form that domains have in addresses. */
    domain: textColumn('domain').notNull(),
    status: textColumn('status', { enum: states }).notNull().default('pending'),
    /** Published by the organization, so it is not a secret. Each organization has its own token. */
    token: textColumn('token').notNull(),
    verifiedAt: time('verified_at'),
    /** When the name servers last answered, with or without the record. */
    checkedAt: time('checked_at'),
    /** Time of the first check without the record since the last check that found it. */
    missingSince: time('missing_since'),
    /** When the job checks the record again; null before the first verification. */
    nextCheckAt: time('next_check_at'),
  },
  (table) => [
    deletedIndex('organization_domains', table),
    index('organization_domains_tenant').on(table.tenantId, table.createdAt, table.id),
    index('organization_domains_check').on(table.nextCheckAt),
    uniqueIndex('domains_domain_taken')
      .on(table.tenantId, table.domain)
      .where(sql`deleted_at is null`),
    // Decides which of two concurrently verifying organizations gets the domain.
    uniqueIndex('domains_verified_taken')
      .on(table.domain)
      .where(sql`status = 'verified' and deleted_at is null`),
  ],
);

const record = sql`json_build_object('type', 'TXT', 'name', '_doorward.' || ${organizationDomains.domain},
  'value', 'doorward-domain=' || ${organizationDomains.token})`;

const DomainRecord = z
  .object({
    type: z.literal('TXT').describe('Kind of the record.'),
    name: z.string().meta({ description: 'Its name.', examples: ['_doorward.example.com'] }),
    value: z.string().meta({ description: 'Its text.', examples: ['doorward-domain=Zk3vT1a9mXc0'] }),
  })
  .meta({ id: 'DomainRecord', description: 'A DNS record that proves control of a domain.' });

/** A domain of mail addresses that an organization claims to control, and whether it has proved that. */
export const OrganizationDomain = entity('OrganizationDomain', {
  table: organizationDomains,
  doc: 'A domain of mail addresses, and whether the organization has proved that it controls it.',
  fields: {
    domain: fixed(
      domainName.meta({
        description: 'The domain behind the @ of addresses; domains below it do not count.',
        examples: ['example.com'],
      }),
    ),
    status: serverSet(OrganizationDomainStatus),
    record: serverSet(DomainRecord.describe('The record that proves it, to be kept.')),
    verifiedAt: serverSet(iso.nullable().describe('When it was first proved; null if it was not.')),
    checkedAt: serverSet(iso.nullable().describe('When the name servers last answered; null if never.')),
  },
  computed: { record },
  search: ['domain'],
  sort: ['domain', 'createdAt', 'status'],
});
