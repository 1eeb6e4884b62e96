/**
 * Returns the token of an offer, given the link in the mail or only the token; null if there is none. In links to an
 * application of the installation (`SECURITY_FRONTEND_URL`), the token is the end of the path.
 */
export const tokenIn = (text: unknown): string | null =>
  /(?:^|[?&]token=|\/)([\w-]{20,128})$/.exec(String(text).trim())?.[1] ?? null;
