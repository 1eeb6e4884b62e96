/**
 * Tokens that work once: verification, reset, invitation, magic link, codes of a redirect (identity §1). 256 random
 * bits cannot be guessed, so a plain hash is enough at rest; purpose, user and address are bound by the stored row.
 */
import { createHash, randomBytes } from 'node:crypto';

/** 43 characters of base64url; goes into a link, never into an answer, log or event. */
export const newOneTimeToken = (): string => randomBytes(32).toString('base64url');

/** What is stored and looked up: SHA-256 of the text, hex. */
export const hashOneTimeToken = (text: string): string => createHash('sha256').update(text).digest('hex');
