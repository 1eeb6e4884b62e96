/**
 * The scopes of OpenID Connect (openid §2). An app need not name them, and they are never permissions: they decide only
 * what an app learns about the user, and whether it gets a refresh token.
 */
export const openidScopes = ['openid', 'profile', 'email', 'offline_access'] as const;

export type OpenidScope = (typeof openidScopes)[number];
