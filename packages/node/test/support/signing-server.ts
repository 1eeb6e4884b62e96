import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type GenerateKeyPairResult,
  type JWTHeaderParameters,
} from 'jose';
import type { Scope } from '../../src/contracts/types.ts';
import { faultyServer, json, success, type FaultyServer, type Step } from './faulty-server.ts';

/** A server with the keys of one project: it signs what a test wants it to sign, right or wrong. */
export interface SigningServer extends FaultyServer {
  readonly scope: Scope;
  readonly issuer: string;
  readonly kid: string;
  sign(claims: object, header?: Partial<JWTHeaderParameters>, key?: 'own' | 'foreign'): Promise<string>;
  /** A key token of this project; claims replace the right ones, undefined removes them. */
  token(claims?: Readonly<Record<string, unknown>>, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** How often the keys were read. */
  jwksReads(): number;
  /** What answers requests for keys, and for anything else. */
  readonly routes: { jwks: Step; other: Step };
  readonly jwks: Step;
}

const ids = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
];
export const [organizationId, projectId, userId, keyId] = ids;

/** Made once: a key pair takes as long as the rest of a test. */
let pairs: Promise<GenerateKeyPairResult[]> | undefined;
const keyPairs = () =>
  (pairs ??= Promise.all([1, 2].map(() => generateKeyPair('RS256', { extractable: true }))));

export async function signingServer(): Promise<SigningServer> {
  const [own, foreign] = (await keyPairs()) as [GenerateKeyPairResult, GenerateKeyPairResult];
  const kid = 'key-1';
  const keys = { keys: [{ ...(await exportJWK(own.publicKey)), kid, use: 'sig', alg: 'RS256' }] };
  const jwks = json(200, keys, { 'cache-control': 'public, max-age=300' });
  const routes = { jwks, other: success({}) };
  const isJwks = (path: string) => path.endsWith('/.well-known/jwks.json');
  const server = await faultyServer((request, response, message) =>
    (isJwks(request.path) ? routes.jwks : routes.other)(request, response, message),
  );
  const issuer = `${server.url}/org/${organizationId}/prj/${projectId}`;
  const sign: SigningServer['sign'] = (claims, header = {}, key = 'own') =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid, ...header })
      .sign(key === 'own' ? own.privateKey : foreign.privateKey);
  const scope = { tenant: 'organizationProject', id: `${organizationId}:${projectId}` } as const;
  return {
    ...server,
    scope,
    issuer,
    kid,
    jwks,
    routes,
    sign,
    token(claims, header) {
      const now = Math.floor(Date.now() / 1000);
      const right = { sub: userId, jti: keyId, iss: issuer, aud: server.url, type: 'ApiKey', scope };
      return sign({ ...right, iat: now, exp: now + 900, ...claims }, header);
    },
    jwksReads: () => server.received.filter(({ path }) => isJwks(path)).length,
  };
}
