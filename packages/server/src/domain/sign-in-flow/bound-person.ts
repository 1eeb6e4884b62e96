import type { IdentifiedPerson } from './flow-data.ts';

/**
 * The organization whose provider said who the person is; undefined: they proved it by a way of their own. For such a person
 * nothing may change that the organization has no say in: the provider can name any of its members.
 */
export const boundOrganization = ({ proof }: Pick<IdentifiedPerson, 'proof'>): string | undefined =>
  proof.provider === 'sso'
    ? proof.boundTo
    : 'identity' in proof
      ? proof.identity.connection?.organizationId
      : undefined;
