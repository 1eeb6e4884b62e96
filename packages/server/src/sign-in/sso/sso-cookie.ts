import type { Run } from '../../services.ts';

/**
 * An entry of the cookie with the browser sign-ins of a browser (openid §8): an id and a secret per issuer, newest
 * first. There is one cookie for all issuers, because the prefix `__Host-` allows no path.
 */
export interface SsoEntry {
  readonly id: string;
  readonly secret: string;
}

/** With more issuers the oldest entry is dropped, so that the header stays small. */
const MAX_ENTRIES = 10;

const entryPattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{43})$/;

export function parseSsoCookie(cookie: string | null): SsoEntry[] {
  return (cookie ?? '')
    .split('~')
    .slice(0, MAX_ENTRIES)
    .flatMap((entry) => {
      const [, id = '', secret = ''] = entryPattern.exec(entry) ?? [];
      return id === '' ? [] : [{ id, secret }];
    });
}

/** Sets the cookie after the commit. `maxAgeSeconds` must be at least as long as any of its sessions can still live. */
export function setSsoCookie(ctx: Run, entries: readonly SsoEntry[], maxAgeSeconds: number): void {
  const value = entries
    .slice(0, MAX_ENTRIES)
    .map(({ id, secret }) => `${id}.${secret}`)
    .join('~');
  ctx.setCookies({ ssoCookie: value === '' ? 'clear' : { value, maxAgeSeconds } });
}
