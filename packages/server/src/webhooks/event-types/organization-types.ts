import { z } from 'zod';
import { uuid } from '../../kernel/input/values.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { OrganizationConnection } from '../../schema/tenants/organization-connection.ts';
import { OrganizationDomain } from '../../schema/tenants/organization-domain.ts';
import { eventType, publicFields, type EventType } from './event-type.ts';
import { deleted } from './examples.ts';

const domain = publicFields(OrganizationDomain);
const connection = publicFields(OrganizationConnection);

const at = new Date('2026-01-15T09:30:00.000Z');
const verifiedDomain = {
  id: '0190b6f0-0000-7000-8000-000000000090',
  createdAt: at,
  updatedAt: at,
  deletedAt: null,
  domain: 'example.com',
  status: 'verified' as const,
  record: {
    type: 'TXT' as const,
    name: '_doorward.example.com',
    value: 'doorward-domain=hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM',
  },
  verifiedAt: at,
  checkedAt: at,
};

const createdConnection = {
  id: '0190b6f0-0000-7000-8000-000000000095',
  createdAt: at,
  updatedAt: at,
  deletedAt: null,
  name: 'Acme',
  issuer: 'https://login.example.com',
  clientId: 'doorward',
  scopes: ['openid', 'email', 'profile'],
  domainIds: [verifiedDomain.id],
  defaultRoleId: roleIdOf('Organization Viewer'),
  justInTime: true,
  enforced: false,
  trustMfa: false,
  status: 'draft' as const,
  callbackPath: '/api/auth/connections/0190b6f0-0000-7000-8000-000000000095/callback',
  provedAt: null,
  lastUsedAt: null,
};

/** Event types of the domains and connections of organizations. */
export const organizationTypes: readonly EventType[] = [
  eventType(
    'organization_domain.verified',
    'An organization proved that it controls a domain, or proved it again.',
    domain,
    verifiedDomain,
  ),
  eventType(
    'organization_domain.lapsed',
    'The record of a verified domain has been gone for three days.',
    domain,
    {
      ...verifiedDomain,
      status: 'lapsed' as const,
      checkedAt: new Date('2026-02-15T09:30:00.000Z'),
    },
  ),
  eventType(
    'organization_domain.deleted',
    'A domain of an organization was deleted.',
    domain,
    deleted(verifiedDomain),
  ),
  eventType(
    'organization_connection.created',
    'The identity provider of an organization was connected.',
    connection,
    createdConnection,
  ),
  eventType('organization_connection.updated', 'A connection of an organization was changed.', connection, {
    ...createdConnection,
    status: 'active' as const,
    updatedAt: new Date('2026-02-15T09:30:00.000Z'),
  }),
  eventType(
    'organization_connection.bypassed',
    'An owner entered an organization around the identity provider on which it insists.',
    z.object({
      id: uuid.describe('Id of their session.'),
      userId: uuid.describe('Id of the owner.'),
    }),
    { id: '0190b6f0-0000-7000-8000-000000000096', userId: '0190b6f0-0000-7000-8000-000000000001' },
  ),
  eventType(
    'organization_connection.deleted',
    'A connection of an organization was deleted.',
    connection,
    deleted(createdConnection),
  ),
];
