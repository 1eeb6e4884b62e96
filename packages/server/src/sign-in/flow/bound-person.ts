import type { IdentifiedPerson } from './flow-data.ts';

/**
 * The organization whose provider said who the person is; undefined: they proved it by a way of their own. The provider can claim to
 * be any member of the organization. So a sign-in through it must change nothing that counts outside of it, such as a second factor.
 */
export const boundOrganization = ({ proof }: Pick<IdentifiedPerson, 'proof'>): string | undefined =>
  proof.provider === 'sso'
    ? proof.boundTo
    : 'identity' in proof
      ? proof.identity.connection?.organizationId
      : undefined;
