import { OrganizationDomain } from '../../features/organization-domains/domain.ts';
import { base, type, type EventType } from './event-type.ts';
import { deleted } from './examples.ts';

/** Event types of the domains of organizations. */
const domain = base(OrganizationDomain);

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

export const organizationTypes: readonly EventType[] = [
  type(
    'organization_domain.verified',
    'An organization proved that it controls a domain, or proved it again.',
    domain,
    verifiedDomain,
  ),
  type(
    'organization_domain.lapsed',
    'The record of a verified domain has been gone for three days.',
    domain,
    {
      ...verifiedDomain,
      status: 'lapsed' as const,
      checkedAt: new Date('2026-02-15T09:30:00.000Z'),
    },
  ),
  type(
    'organization_domain.deleted',
    'A domain of an organization was deleted.',
    domain,
    deleted(verifiedDomain),
  ),
];
