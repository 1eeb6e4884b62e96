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

interface Facts {
  readonly clientId: string;
  /** Names of what was granted, separated by spaces; null: the token does not say it. */
  readonly granted: string | null;
}

/** The type and the claims of an access token in this profile. */
export function inProfile<C extends { readonly scope: object }>(
  profile: AccessTokenProfile,
  claims: C,
  { clientId, granted }: Facts,
): { readonly typ: 'JWT' | 'at+jwt'; readonly claims: Readonly<Record<string, unknown>> } {
  if (profile === 'doorward') return { typ: 'JWT', claims };
  const { scope, ...others } = claims;
  return {
    typ: 'at+jwt',
    claims: {
      ...others,
      client_id: clientId,
      ...(granted === null ? {} : { scope: granted }),
      doorward_scope: scope,
    },
  };
}
