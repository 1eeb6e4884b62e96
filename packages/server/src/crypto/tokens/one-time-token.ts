/**
 * One-time tokens: verification, password reset, invitation, magic link, authorization codes (identity §1). 256 random
 * bits cannot be guessed, so a plain hash is stored; the stored row binds purpose, user and address.
 */
import { createHash, randomBytes } from 'node:crypto';

/** 43 characters of base64url. Sent in links only, never in an answer, log or event. */
export const newOneTimeToken = (): string => randomBytes(32).toString('base64url');

/** The stored form: SHA-256 of the token, hex. */
export const hashOneTimeToken = (text: string): string => createHash('sha256').update(text).digest('hex');
