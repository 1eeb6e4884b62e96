/**
 * Refresh tokens that only the server can interpret (identity §5):
 *
 *     dwr_ base64url( session id 16 │ generation 4 │ secret 32 │ tag 16 )     95 characters
 *
 * The session id finds the session without an index of tokens. The tag proves that this service issued the token, so
 * the reuse of an old generation is detected as theft although old tokens are not stored. The next token is computed
 * from the current one, so a client that lost the response gets the same token again. Only the hash of the newest token
 * is stored; a valid tag alone never opens a session.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const prefix = 'dwr_';
const sizes = { sessionId: 16, generation: 4, secret: 32, tag: 16 };
const bodyBytes = sizes.sessionId + sizes.generation + sizes.secret;
const totalBytes = bodyBytes + sizes.tag;

/** The result of `kek.deriveAll('refresh-token')`: the current key first; never empty. */
type RefreshKeys = readonly Buffer[];

interface RefreshToken {
  /** UUID, lower case. */
  readonly sessionId: string;
  /** 0 for the token of the sign-in; each refresh adds 1. */
  readonly generation: number;
  /** All 68 bytes of the token. */
  readonly bytes: Buffer;
}

/** Creates the token of generation 0. @throws RangeError if `sessionId` is not a UUID */
export function firstRefreshToken(keys: RefreshKeys, sessionId: string): string {
  return encodeToken(keys, Buffer.from(sessionId.replaceAll('-', ''), 'hex'), 0, randomBytes(sizes.secret));
}

/**
 * Computes the token of the next generation. The result is always the same as long as the current key stays the same,
 * and cannot be computed without the key.
 *
 * @throws RangeError if `token` is not a refresh token
 */
export function successorOf(keys: RefreshKeys, token: string): string {
  const parsed = parseRefreshToken(token);
  if (!parsed) throw new RangeError('Not a refresh token.');
  const secret = mac(currentOf(keys), 'next', parsed.bytes);
  return encodeToken(keys, parsed.bytes.subarray(0, sizes.sessionId), parsed.generation + 1, secret);
}

/** Parses a token; null for any other text. Checks only the format; see `isAuthentic`. */
export function parseRefreshToken(text: string): RefreshToken | null {
  if (!/^dwr_[A-Za-z0-9_-]{91}$/.test(text)) return null;
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
  // The last character has two unused bits. Only one encoding is accepted, so that a token has one hash.
  if (bytes.toString('base64url') !== text.slice(prefix.length)) return null;
  const sessionId = bytes
    .toString('hex', 0, sizes.sessionId)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { sessionId, generation: bytes.readUInt32BE(sizes.sessionId), bytes };
}

/** Whether this service issued the token, with the current or an old key. */
export function isAuthentic(keys: RefreshKeys, text: string): boolean {
  const bytes = parseRefreshToken(text)?.bytes;
  if (!bytes) return false;
  const tag = bytes.subarray(bodyBytes);
  return keys.some((key) => timingSafeEqual(tagOf(key, bytes.subarray(0, bodyBytes)), tag));
}

/** The stored form: the SHA-256 of the token in hexadecimal. */
export const hashRefreshToken = (text: string): string => createHash('sha256').update(text).digest('hex');

function encodeToken(keys: RefreshKeys, sessionId: Buffer, generation: number, secret: Buffer): string {
  if (sessionId.length !== sizes.sessionId) throw new RangeError('A session id is a UUID.');
  const counter = Buffer.alloc(sizes.generation);
  counter.writeUInt32BE(generation);
  const body = Buffer.concat([sessionId, counter, secret]);
  const token = Buffer.concat([body, tagOf(currentOf(keys), body)], totalBytes);
  return prefix + token.toString('base64url');
}

// The label separates the two uses of a key, so that a tag is never valid as a secret.
const mac = (key: Buffer, label: 'tag' | 'next', bytes: Buffer): Buffer =>
  createHmac('sha256', key).update(label).update(bytes).digest();

const tagOf = (key: Buffer, body: Buffer): Buffer => mac(key, 'tag', body).subarray(0, sizes.tag);

function currentOf(keys: RefreshKeys): Buffer {
  const [current] = keys;
  if (!current) throw new RangeError('A refresh key is needed.');
  return current;
}
