import { z } from 'zod';
import { refusal } from '../../kernel/input/values.ts';

const maxLength = 512;

/** An absolute URI with the characters of RFC 3986, without a fragment, and without `*`, which looks like a pattern. */
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?[\]@!$&'()+,;=]|%[0-9A-Fa-f]{2})+$/;

/** Whether a text is a valid URI of a resource server. */
const isResourceUri = (typed: string): boolean => typed.length <= maxLength && absolute.test(typed);

/**
 * A resource server that access tokens name as audience (RFC 8707, openid §3). Stored as typed, because verifiers
 * compare audiences character by character.
 */
export const resourceUri = z
  .string()
  .check(({ value, issues }) => {
    if (!isResourceUri(value)) issues.push(refusal('format', value));
  })
  .meta({ maxLength: 512, description: 'An absolute URI without fragment, at most 512 characters.' });
