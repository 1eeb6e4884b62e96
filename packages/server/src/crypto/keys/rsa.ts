/**
 * RSA signing keys. Generating one takes 50 ms to one second of CPU time, and creating a project needs two. The stock
 * generates them ahead of time, one after the other, so that the thread pool stays free for passwords and signatures.
 */
import { createHash, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

export interface SigningKeyPair {
  /** RFC 7638 thumbprint of the public key, which identifies the key. */
  readonly kid: string;
  /** In SPKI format. */
  readonly publicKeyPem: string;
  /** In PKCS #8 format. Only its sealed form may leave the process. */
  readonly privateKeyPem: string;
  readonly publicJwk: { readonly kty: 'RSA'; readonly n: string; readonly e: string };
}

/** Generates a key pair of `bits` bits with the exponent 65537, on the thread pool. */
export async function generateSigningKeyPair(bits: number): Promise<SigningKeyPair> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: bits, publicExponent: 0x10001 });
  return signingKeyPair(publicKey, privateKey);
}

/** Converts a key pair to the formats in which the service stores and publishes it. */
export function signingKeyPair(publicKey: KeyObject, privateKey: KeyObject): SigningKeyPair {
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  return {
    kid: thumbprint(n, e),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicJwk: { kty: 'RSA', n, e },
  };
}

/** The RFC 7638 §3 thumbprint: a hash of the required members in alphabetical order, without white space. */
const thumbprint = (n: string, e: string): string =>
  createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url');

/** Key pairs that are generated ahead of time. */
export interface KeyPairStock {
  /** Returns a key pair for this caller only, from the stock or newly generated. */
  take(): Promise<SigningKeyPair>;
  /** Stops generating keys ahead of time. Waiting and later calls of `take` still get a key. */
  close(): void;
}

/** Keeps up to `size` key pairs ready, but generates none before the first `take`. Tests replace `make`. */
export function createKeyPairStock({
  bits,
  size,
  make = generateSigningKeyPair,
}: {
  readonly bits: number;
  readonly size: number;
  readonly make?: (bits: number) => Promise<SigningKeyPair>;
}): KeyPairStock {
  const ready: SigningKeyPair[] = [];
  const waiting: { resolve(pair: SigningKeyPair): void; reject(error: unknown): void }[] = [];
  let targetSize = size;
  let filling = false;

  async function fill(): Promise<void> {
    if (filling) return;
    filling = true;
    while (waiting.length > 0 || ready.length < targetSize) {
      try {
        const pair = await make(bits);
        const first = waiting.shift();
        if (first) first.resolve(pair);
        else ready.push(pair);
      } catch (error) {
        // Rejects the caller that has waited longest. If none waits, stops; the next `take` sees the error if it
        // persists.
        if (waiting.length === 0) break;
        waiting.shift()?.reject(error);
      }
    }
    filling = false;
  }

  return {
    take() {
      const pair = ready.shift();
      const taken = pair
        ? Promise.resolve(pair)
        : new Promise<SigningKeyPair>((resolve, reject) => waiting.push({ resolve, reject }));
      void fill();
      return taken;
    },
    close() {
      targetSize = 0;
    },
  };
}
