import type { AccessTokenProfile } from '../../schema/apps/access-token-profile.ts';

interface Facts {
  readonly clientId: string;
  /** Names of the granted scopes, separated by spaces; null: the token does not contain them. */
  readonly granted: string | null;
}

/** Returns the type and the claims of an access token in this profile. */
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
