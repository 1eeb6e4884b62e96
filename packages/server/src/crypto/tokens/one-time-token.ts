/**
 * Random tokens: verification, password reset, invitation, magic link, authorization and device codes (identity §1).
 * 256 random bits cannot be guessed, so a plain hash is enough for storage; the stored row binds purpose, user and
 * address.
 */
import { createHash, randomBytes } from 'node:crypto';

/** Returns 43 characters of base64url. A token is sent only to its holder, and never appears in a log or an event. */
export const newOneTimeToken = (): string => randomBytes(32).toString('base64url');

/** The stored form: the SHA-256 of the token in hexadecimal. */
export const hashOneTimeToken = (text: string): string => createHash('sha256').update(text).digest('hex');
