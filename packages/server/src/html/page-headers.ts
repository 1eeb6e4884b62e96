import type { FastifyInstance } from 'fastify';

/** Returns the headers of a page or a file: its content security policy, and how long a browser may cache it. */
export const pageHeaders = (policy: string, cacheControl: string): Record<string, string> => ({
  'cache-control': cacheControl,
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});

/** Returns a policy that allows files of this origin, but no inline scripts and styles. `more`: further directives. */
export const filesPolicy = (...more: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...more,
  ].join('; ');

/**
 * Registers routes whose responses with a status below 400 have these headers. They take precedence over the headers of
 * earlier hooks.
 */
export function withHeaders(
  app: FastifyInstance,
  headers: Record<string, string>,
  routes: (scope: FastifyInstance) => void,
): void {
  app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      if (reply.statusCode < 400) reply.headers(headers);
    });
    routes(scope);
  });
}
