import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import type { CookieEffect } from '../../kernel/context.ts';

/* The cookies of the service. They are parsed on demand, because few requests have one. */

type CookieKind = 'refresh' | 'flow' | 'sso' | 'account' | 'device';

/** `__Host-` binds a cookie to https, this host and the root path (RFC 6265bis §4.1.3.2). */
export const nameOf = (kind: CookieKind, https: boolean): string =>
  `${https ? '__Host-' : ''}doorward_${kind}`;

/** The value of a cookie in the request; null if it is missing. */
export function readCookie(
  { headers }: Pick<FastifyRequest, 'headers'>,
  kind: CookieKind,
  https: boolean,
): string | null {
  if (headers.cookie === undefined) return null;
  return parseCookie(headers.cookie)[nameOf(kind, https)] ?? null;
}

/** Sets or clears a cookie. A second call for the same cookie replaces the header of the first. */
export function writeCookie(
  reply: FastifyReply,
  kind: CookieKind,
  https: boolean,
  effect: CookieEffect,
): void {
  writeCookieNamed(reply, nameOf(kind, https), https, effect);
}

/** Sets or clears a cookie by its full name, like `writeCookie`. */
export function writeCookieNamed(
  reply: FastifyReply,
  name: string,
  https: boolean,
  effect: CookieEffect,
): void {
  const [value, lifetime] =
    effect === 'clear'
      ? ['', { maxAge: 0, expires: new Date(0) }]
      : [effect.value, { maxAge: effect.maxAgeSeconds }];
  const cookie = stringifySetCookie({
    name,
    value,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: https,
    ...lifetime,
  });
  const others = [reply.getHeader('set-cookie') ?? []]
    .flat()
    .filter((item) => !`${item}`.startsWith(`${name}=`));
  reply.removeHeader('set-cookie').header('set-cookie', others.length > 0 ? [...others, cookie] : cookie);
}

const DEVICE_SECONDS = 86_400;

/** Sets a cookie that tells this browser from others of its network when wrong user codes are counted. */
export function nameBrowser(request: FastifyRequest, reply: FastifyReply, https: boolean): void {
  if (readCookie(request, 'device', https) !== null) return;
  writeCookie(reply, 'device', https, { value: newOneTimeToken(), maxAgeSeconds: DEVICE_SECONDS });
}
