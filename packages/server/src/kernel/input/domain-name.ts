import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { z } from 'zod';
import { refusal } from './values.ts';

/** Together with the label of a DNS record in front of it, a name must not exceed 253 characters. */
const MAX_LENGTH = 240;

// Letters of any script, but no character that the URL parser in domainToASCII interprets (`/`, `:`, `%`, `[` …).
const typedDomain = /^[\p{L}\p{M}\p{N}.-]+$/u;
const asciiDomain =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Whether customers register names directly below the domain: `listed` if the public suffix list names it, `default` if
 * only the list's default rule applies, undefined if they do not.
 */
export function publicSuffix(domain: string): 'listed' | 'default' | undefined {
  const { publicSuffix: suffix, isIcann, isPrivate } = parse(domain, { allowPrivateDomains: true });
  if (suffix !== domain) return undefined;
  return isIcann === true || isPrivate === true ? 'listed' : 'default';
}

/**
 * A domain in the canonical form that the domains of e-mail addresses have: lower case, with A-labels. A public suffix
 * (`com`, `github.io`) is refused, because it belongs to all its customers together.
 */
export const domainName = z
  .string()
  .check((payload) => {
    const typed = payload.value.trim().replace(/\.$/, '');
    if (typed.length > MAX_LENGTH) {
      payload.issues.push(refusal('too_long', payload.value));
      return;
    }
    const ascii = typedDomain.test(typed) ? domainToASCII(typed.normalize('NFC').toLowerCase()) : '';
    if (!asciiDomain.test(ascii)) payload.issues.push(refusal('format', payload.value));
    else if (ascii.length > MAX_LENGTH) payload.issues.push(refusal('too_long', payload.value));
    else if (publicSuffix(ascii)) payload.issues.push(refusal('not_allowed', payload.value));
    else payload.value = ascii;
  })
  .meta({ maxLength: MAX_LENGTH });
