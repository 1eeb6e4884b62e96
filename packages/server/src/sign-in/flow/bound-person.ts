import type { IdentifiedPerson } from './flow-data.ts';

/**
 * The organization whose provider identified the person; undefined if they used a sign-in method of their own. The
 * provider can identify a person as any member of the organization, so a sign-in through it must not change anything
 * that counts outside the organization, such as a second factor.
 */
export const boundOrganization = ({ proof }: Pick<IdentifiedPerson, 'proof'>): string | undefined =>
  proof.provider === 'sso'
    ? proof.boundTo
    : 'identity' in proof
      ? proof.identity.connection?.organizationId
      : undefined;
