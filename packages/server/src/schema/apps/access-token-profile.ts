import { z } from 'zod';

/**
 * Profiles of access tokens (openid §11). `rfc9068` is for resource servers with a verifier of the standard (RFC 9068),
 * which expects `scope` as a text; the scope of Doorward then has another name. This service takes both.
 */
export const accessTokenProfiles = ['doorward', 'rfc9068'] as const;

export type AccessTokenProfile = (typeof accessTokenProfiles)[number];

export const AccessTokenProfileName = z.enum(accessTokenProfiles).meta({
  id: 'AccessTokenProfile',
  description: 'doorward: the claims of this service; rfc9068: those of the standard, with `typ` `at+jwt`.',
});
