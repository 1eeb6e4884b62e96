/* Verifies the signed documents of packages §8.2. Nothing in a document is used before it is verified. */

import type { ChangesClaims, SnapshotClaims } from '@doorward/decision';
import { compactVerify, decodeProtectedHeader, type CryptoKey } from 'jose';
import type { Issuer } from '../tokens/issuer.ts';

export type DocumentType = 'doorward-snapshot+jwt' | 'doorward-changes+jwt';
export type DocumentClaims = SnapshotClaims | ChangesClaims;

interface DocumentChecks {
  readonly type: DocumentType;
  readonly issuer: Issuer;
  readonly projectId: string;
  readonly keyOf: (issuer: Issuer, kid: string) => Promise<CryptoKey | undefined>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Thrown for a document that must not be used. `why` is a code for logs and metrics, and contains no content. */
export class RefusedDocument extends Error {
  override readonly name = 'RefusedDocument';
  readonly why: string;

  constructor(why: string) {
    super(`The document was refused: ${why}.`);
    this.why = why;
  }
}

/**
 * Verifies a document and returns its claims.
 *
 * @throws RefusedDocument unless the service signed it for this project and purpose
 * @throws DoorwardError if the keys cannot be read
 */
export async function verifyDocument(text: string, checks: DocumentChecks): Promise<DocumentClaims> {
  const { issuer, type, projectId } = checks;
  const kid = kidOf(text, type);
  const key = await checks.keyOf(issuer, kid);
  if (!key) throw new RefusedDocument('KID');
  const { payload } = await compactVerify(text, key, { algorithms: ['RS256'] }).catch(() => {
    throw new RefusedDocument('SIGNATURE');
  });
  const claims = claimsOf(payload);
  const must = (holds: boolean, why: string): void => {
    if (!holds) throw new RefusedDocument(why);
  };
  must(claims.iss === issuer.id, 'ISS');
  must(claims.aud === 'doorward-snapshot', 'AUD');
  must(claims.sub === projectId, 'SUB');
  must(claims.format === 1, 'FORMAT');
  must(typeof claims.exp === 'number' && claims.exp * 1000 > checks.now, 'EXP');
  must(Number.isSafeInteger(claims.sequence), 'SEQUENCE');
  must(typeof claims.asOf === 'number' && Number.isFinite(claims.asOf), 'AS_OF');
  return claims;
}

function kidOf(text: string, type: DocumentType): string {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(text);
  } catch {
    throw new RefusedDocument('FORM');
  }
  const names = Object.keys(header).sort().join();
  // Requires exactly the header that the service writes, so that a document cannot bring a key (`jwk`) or the address
  // of one (`jku`, `x5u`).
  if (names !== 'alg,kid,typ' || header.alg !== 'RS256') throw new RefusedDocument('HEADER');
  if (header.typ !== type) throw new RefusedDocument('TYP');
  if (typeof header.kid !== 'string' || !/^[\w.-]{1,255}$/.test(header.kid)) throw new RefusedDocument('KID');
  return header.kid;
}

function claimsOf(payload: Uint8Array): DocumentClaims {
  try {
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (typeof claims === 'object' && claims !== null) return claims as DocumentClaims;
  } catch {
    // Falls through: the signature is valid, but the content is not JSON.
  }
  throw new RefusedDocument('FORM');
}
