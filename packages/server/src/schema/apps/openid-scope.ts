/**
 * The scopes of OpenID Connect (openid §2). They need not be among the scopes of an app and are never permissions: they
 * only decide what an app learns about the user, and whether it gets a refresh token.
 */
export const openidScopes = ['openid', 'profile', 'email', 'offline_access'] as const;

export type OpenidScope = (typeof openidScopes)[number];
