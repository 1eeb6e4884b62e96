import { z } from 'zod';

/**
 * Profiles of access tokens (openid §11). `rfc9068` is for resource servers whose verifier follows RFC 9068, which
 * requires `scope` to be a string, so the Doorward scope is in `doorward_scope`. This service accepts both profiles.
 */
export const accessTokenProfiles = ['doorward', 'rfc9068'] as const;

export type AccessTokenProfile = (typeof accessTokenProfiles)[number];

export const AccessTokenProfileName = z.enum(accessTokenProfiles).meta({
  id: 'AccessTokenProfile',
  description: 'doorward: the claims of this service; rfc9068: those of the standard, with `typ` `at+jwt`.',
});
