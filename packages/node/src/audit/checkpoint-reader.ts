/** Returns the claims of a signed checkpoint; null if none of the keys signed it. */
export type ReadCheckpoint = (jws: string) => Promise<Readonly<Record<string, unknown>> | null>;

/** A key of `/.well-known/audit-jwks.json`. */
export interface CheckpointKey {
  readonly kid: string;
  readonly n: string;
  readonly e: string;
}

const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

/** Derived from `importKey`, because Node and browsers have different names for this type. */
type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Returns a reader that verifies checkpoints (RS256) with the keys of `/.well-known/audit-jwks.json`. */
export function checkpointReader(keys: readonly CheckpointKey[]): ReadCheckpoint {
  const imported = new Map<string, Promise<ImportedKey>>();
  const keyOf = ({ kid, n, e }: CheckpointKey): Promise<ImportedKey> => {
    const key =
      imported.get(kid) ?? crypto.subtle.importKey('jwk', { kty: 'RSA', n, e }, algorithm, false, ['verify']);
    imported.set(kid, key);
    return key;
  };
  return async (jws) => {
    try {
      const [header = '', payload = '', signature = '', ...more] = jws.split('.');
      const { alg, kid } = objectOf(header);
      const key = keys.find((candidate) => candidate.kid === kid);
      if (alg !== 'RS256' || !key || more.length > 0) return null;
      const signed = new TextEncoder().encode(`${header}.${payload}`);
      const isTrue = await crypto.subtle.verify(algorithm, await keyOf(key), bytesOf(signature), signed);
      return isTrue ? objectOf(payload) : null;
    } catch {
      return null;
    }
  };
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

const objectOf = (part: string): Readonly<Record<string, unknown>> =>
  JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(part))) as Readonly<
    Record<string, unknown>
  >;
