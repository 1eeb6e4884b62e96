import { isoCBOR } from '@simplewebauthn/server/helpers';
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/**
 * An authenticator in software (WebAuthn, 6), together with the browser that asks it. It answers like a careful one;
 * each test says in what its attacker differs.
 */

type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

interface KeptKey {
  readonly id: Buffer;
  readonly privateKey: KeyObject;
  readonly algorithm: Algorithm;
  readonly userHandle: string;
  counter: number;
}

/** In what an answer differs from a careful one. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly userPresent?: boolean;
  readonly userVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | undefined;
  readonly attestation?: { readonly fmt: string; readonly attStmt: ReadonlyMap<string, unknown> };
}

interface Options {
  readonly challenge: string;
  readonly [member: string]: unknown;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const fromJwk = (member: string | undefined): Uint8Array =>
  Uint8Array.from(Buffer.from(member ?? '', 'base64url'));

function newKeyPair(algorithm: Algorithm) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return algorithm === 'EdDSA'
    ? generateKeyPairSync('ed25519')
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** RFC 9052 and RFC 8230: 1 = key type, 3 = algorithm. */
function coseOf(publicKey: KeyObject, algorithm: Algorithm): Map<number, unknown> {
  const { x, y, n, e } = publicKey.export({ format: 'jwk' });
  if (algorithm === 'ES256')
    return new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, fromJwk(x)],
      [-3, fromJwk(y)],
    ]);
  return algorithm === 'EdDSA'
    ? new Map<number, unknown>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, fromJwk(x)],
      ])
    : new Map<number, unknown>([
        [1, 3],
        [3, -257],
        [-1, fromJwk(n)],
        [-2, fromJwk(e)],
      ]);
}

export class PasskeyDevice {
  private readonly keys: KeptKey[] = [];
  private readonly origin: string;
  private readonly rpId: string;
  private readonly algorithm: Algorithm;
  /** A device that does not count always says 0. */
  private readonly counts: boolean;

  constructor({
    origin = 'http://localhost:4000',
    rpId = 'localhost',
    algorithm = 'ES256',
    counts = true,
  }: { origin?: string; rpId?: string; algorithm?: Algorithm; counts?: boolean } = {}) {
    this.origin = origin;
    this.rpId = rpId;
    this.algorithm = algorithm;
    this.counts = counts;
  }

  /** The answer of `navigator.credentials.create`. */
  create(options: Options, lies: Lies = {}) {
    const { publicKey, privateKey } = newKeyPair(this.algorithm);
    const { id: userHandle } = options['user'] as { readonly id: string };
    const key: KeptKey = {
      id: randomBytes(32),
      privateKey,
      algorithm: this.algorithm,
      userHandle,
      counter: 0,
    };
    this.keys.push(key);
    return this.register(options, key, coseOf(publicKey, this.algorithm), lies);
  }

  private register(options: Options, key: KeptKey, cose: Map<number, unknown>, lies: Lies) {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(key.id.length);
    const publicKey = Buffer.from(isoCBOR.encode(cose as never));
    const attested = Buffer.concat([Buffer.alloc(16), length, key.id, publicKey]);
    const authData = this.authenticatorData(key, lies, attested);
    const { fmt, attStmt } = lies.attestation ?? { fmt: 'none', attStmt: new Map() };
    const attestation = new Map<string, unknown>([
      ['fmt', fmt],
      ['attStmt', attStmt],
      ['authData', Uint8Array.from(authData)],
    ]);
    const id = key.id.toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key' as const,
      authenticatorAttachment: 'platform',
      clientExtensionResults: { credProps: { rk: true } },
      response: {
        clientDataJSON: this.clientData('webauthn.create', options, lies),
        attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
        transports: ['internal', 'hybrid'],
      },
    };
  }

  /** The answer of `navigator.credentials.get`, with the newest key. */
  get(options: Options, lies: Lies = {}) {
    const key = this.keys.at(-1);
    if (!key) throw new Error('the device has no passkey');
    if (this.counts) key.counter++;
    const clientDataJSON = this.clientData('webauthn.get', options, lies);
    const authData = this.authenticatorData(key, lies);
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const signature = sign(key.algorithm === 'EdDSA' ? null : 'sha256', signed, key.privateKey);
    const id = key.id.toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key' as const,
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: 'userHandle' in lies ? lies.userHandle : key.userHandle,
      },
    };
  }

  /** The newest key in the form in which a virtual authenticator of Chromium takes it. */
  exported() {
    const key = this.keys.at(-1);
    if (!key) throw new Error('the device has no passkey');
    return {
      credentialId: key.id.toString('base64'),
      privateKey: key.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
      userHandle: Buffer.from(key.userHandle, 'base64url').toString('base64'),
      rpId: this.rpId,
      signCount: key.counter,
      isResidentCredential: true,
    };
  }

  private clientData(type: string, options: Options, lies: Lies): string {
    const { origin = this.origin, challenge = options.challenge, crossOrigin = false } = lies;
    const data = { type: lies.type ?? type, challenge, origin, crossOrigin };
    return Buffer.from(JSON.stringify(data)).toString('base64url');
  }

  /** WebAuthn, 6.1: hash of the domain, flags, counter. */
  private authenticatorData(key: KeptKey, lies: Lies, attested?: Buffer): Buffer {
    const { rpId = this.rpId, userPresent = true, userVerified = true, counter = key.counter } = lies;
    const flags = (userPresent ? 0x01 : 0) | (userVerified ? 0x04 : 0) | (attested ? 0x40 : 0);
    const rest = Buffer.alloc(5);
    rest.writeUInt8(flags);
    rest.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(rpId), rest, attested ?? Buffer.alloc(0)]);
  }
}
