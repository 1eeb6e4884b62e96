import { openidScopes, type OpenidScope } from '../../schema/apps/openid-scope.ts';

const isOpenidScope = (scope: string): scope is OpenidScope =>
  (openidScopes as readonly string[]).includes(scope);

interface RequestedScopes {
  readonly openid: readonly OpenidScope[];
  /** Permissions; null if the request has no `scope`, which means all that the app may request. */
  readonly permissions: readonly string[] | null;
}

/** Parses the parameter `scope`: names separated by spaces. Returns each scope once. */
export function parseScopes(sent: string | undefined): RequestedScopes {
  const names = [...new Set((sent ?? '').split(' ').filter(Boolean))];
  const permissions = names.filter((name) => !isOpenidScope(name));
  return {
    openid: openidScopes.filter((scope) => names.includes(scope)),
    permissions: names.length === 0 ? null : permissions,
  };
}

/**
 * Whether the app gets a refresh token. Without `openid` it always gets one, as OAuth 2.0 apps expect; with `openid`
 * only if it requests `offline_access`.
 */
export const isOffline = (openid: readonly OpenidScope[]): boolean =>
  !openid.includes('openid') || openid.includes('offline_access');
