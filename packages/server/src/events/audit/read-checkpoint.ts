import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';

/** Returns the claims of a checkpoint, or null if its signature is invalid. */
type ReadCheckpoint = (jws: string) => Promise<Readonly<Record<string, unknown>> | null>;

/**
 * Returns a reader that verifies checkpoints with the published keys of the service (`/.well-known/audit-jwks.json`).
 */
export function checkpointReader(jwks: JSONWebKeySet): ReadCheckpoint {
  const keys = createLocalJWKSet(jwks);
  return async (jws) => {
    try {
      const { payload } = await compactVerify(jws, keys, { algorithms: ['RS256'] });
      const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
      return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : null;
    } catch {
      return null;
    }
  };
}
