import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CookieEffect } from '../kernel/context.ts';

/** The two cookies of the service, read and written only where they are wanted: few requests have one. */
type Of = 'refresh' | 'flow';

/** `__Host-` binds a cookie to https, this host and the root path (RFC 6265bis §4.1.3.2). */
const nameOf = (of: Of, https: boolean): string => `${https ? '__Host-' : ''}doorward_${of}`;

export function readCookie(
  { headers }: Pick<FastifyRequest, 'headers'>,
  of: Of,
  https: boolean,
): string | null {
  if (headers.cookie === undefined) return null;
  return parseCookie(headers.cookie)[nameOf(of, https)] ?? null;
}

/** Set twice on one answer, the second counts. */
export function writeCookie(reply: FastifyReply, of: Of, https: boolean, effect: CookieEffect): void {
  const name = nameOf(of, https);
  const [value, life] =
    effect === 'clear'
      ? ['', { maxAge: 0, expires: new Date(0) }]
      : [effect.value, { maxAge: effect.maxAgeSeconds }];
  const set = stringifySetCookie({
    name,
    value,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: https,
    ...life,
  });
  const others = [reply.getHeader('set-cookie') ?? []]
    .flat()
    .filter((one) => !`${one}`.startsWith(`${name}=`));
  reply.removeHeader('set-cookie').header('set-cookie', others.length > 0 ? [...others, set] : set);
}
