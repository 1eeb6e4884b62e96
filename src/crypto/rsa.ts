/**
 * RSA signing keys. Making one takes 50 ms to a second of a core, and creating a project needs two; the stock makes
 * them ahead of time, one at a time, so that the thread pool stays free for passwords and signatures.
 */
import { createHash, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

export interface SigningKeyPair {
  /** RFC 7638 thumbprint of the public key: equal keys have equal ids, and no two keys share one. */
  readonly kid: string;
  /** SPKI. */
  readonly publicKeyPem: string;
  /** PKCS #8; leaves the process only sealed. */
  readonly privateKeyPem: string;
  readonly publicJwk: { readonly kty: 'RSA'; readonly n: string; readonly e: string };
}

/** A fresh key pair of `bits` bits with the exponent 65537, made on the thread pool. */
export async function generateSigningKeyPair(bits: number): Promise<SigningKeyPair> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: bits, publicExponent: 0x10001 });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  return {
    kid: thumbprint(n, e),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicJwk: { kty: 'RSA', n, e },
  };
}

/** RFC 7638 §3: the required members in alphabetical order, no white space. */
const thumbprint = (n: string, e: string): string =>
  createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url');

export interface KeyPairStock {
  /** A key pair that nobody else gets: a ready one, or the next to be finished. */
  take(): Promise<SigningKeyPair>;
  /** Stops making keys ahead; who waits is still served, and so is a later `take`. */
  close(): void;
}

/** Keeps up to `size` key pairs ready; makes none before the first `take`. `make` is replaced in tests. */
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
  let wanted = size;
  let working = false;

  async function work(): Promise<void> {
    if (working) return;
    working = true;
    while (waiting.length > 0 || ready.length < wanted) {
      try {
        const pair = await make(bits);
        const first = waiting.shift();
        if (first) first.resolve(pair);
        else ready.push(pair);
      } catch (error) {
        // Told to those who wait. Nobody waiting: given up until the next take, which will see it if it lasts.
        if (waiting.length === 0) break;
        waiting.shift()?.reject(error);
      }
    }
    working = false;
  }

  return {
    take() {
      const pair = ready.shift();
      const taken = pair
        ? Promise.resolve(pair)
        : new Promise<SigningKeyPair>((resolve, reject) => waiting.push({ resolve, reject }));
      void work();
      return taken;
    },
    close() {
      wanted = 0;
    },
  };
}
