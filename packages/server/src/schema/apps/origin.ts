import { z } from 'zod';
import { refusal } from '../../kernel/input/values.ts';

/*
 * Web origins whose pages may call the API for an app by script (model §3). Patterns and `null` are rejected, because
 * they would admit pages that the app does not name.
 */

const secure = /^https:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Plain http only on loopback hosts: on any other network a page can be modified in transit. */
const local = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/**
 * Returns the origin as browsers send it (RFC 6454 §6.2): in lower case, without the default port of its scheme. Null
 * for anything that is not an origin.
 */
export function originOf(typed: string): string | null {
  if (!secure.test(typed) && !local.test(typed)) return null;
  return URL.canParse(typed) ? new URL(typed).origin : null;
}

/** An origin, stored as browsers send it in `Origin`. */
export const webOrigin = z
  .string()
  .max(255)
  .transform((typed, { issues }) => {
    const origin = originOf(typed);
    if (origin !== null) return origin;
    issues.push(refusal('format', typed));
    return z.NEVER;
  })
  .meta({ description: 'https, or http for localhost, 127.0.0.1 and [::1]; without a path.' });
