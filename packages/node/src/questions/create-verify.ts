import type { Clock } from '../calls/transport.ts';
import { ConfigError } from '../contracts/errors.ts';
import type { RemoteQuestions } from './remote-questions.ts';
import { isOfProject, scopeOption } from '../options/scope.ts';
import type { Doorward } from '../client/doorward.ts';
import type { Principal, Scope, VerifyOptions } from '../contracts/types.ts';
import { projectIssuer, systemIssuer, type Issuer } from '../tokens/issuer.ts';
import type { KeySets } from '../tokens/key-sets.ts';
import { principalOf } from '../tokens/principal.ts';
import { tokenError, typesOf, verifyOffline, type VerifiedToken } from '../tokens/verify-token.ts';

interface VerifySettings {
  readonly url: string;
  readonly keySets: KeySets;
  readonly scope: Scope | null;
  readonly clock: Clock;
  readonly clockToleranceSeconds: number;
  readonly remote: RemoteQuestions;
  /** The local policy's view of a verified token: certainly ended, live, or unknown. */
  readonly localState: (token: VerifiedToken) => 'ended' | 'live' | 'unknown';
}

/** Creates the `verifyToken` function of a client. */
export function createVerify(settings: VerifySettings): Doorward['verifyToken'] {
  const { url, keySets, clock, clockToleranceSeconds, remote } = settings;

  return async function verifyToken(token: string, options: VerifyOptions = {}): Promise<Principal> {
    const types = typesOf(options);
    const scope = scopeOption(options.scope, undefined) ?? settings.scope;
    const issuers = issuersOf(url, scope, types);
    const audience = options.audience ?? url;
    const verified = await verifyOffline(token, {
      ...{ types, issuers, audience, clockToleranceSeconds, keyOf: keySets.key, now: clock.now },
    });
    const { claims } = verified;
    const state = settings.localState(verified);
    if (state === 'ended') throw tokenError('TOKEN_REVOKED');
    const liveness = options.live ? 'service' : state === 'live' ? 'list' : 'none';
    const principal = principalOf(token, claims, liveness);
    const ofToken = principal.scope;
    // All customers of a project share its issuer, so the issuer does not tell whose token it is.
    if (ofToken && !options.anyCustomer && !(scope && isOfProject(ofToken, scope)))
      throw tokenError('TOKEN_SCOPE');
    // A customer's token is valid only in its own scope.
    const liveScope = options.anyCustomer && ofToken ? ofToken : options.scope;
    if (options.live) await assertLive(remote, token, { ...options, scope: liveScope });
    return principal;
  };
}

function issuersOf(url: string, scope: Scope | null, types: readonly string[]): Issuer[] {
  const ofProject = types.some((type) => type !== 'session');
  const project = scope ? projectIssuer(url, scope) : undefined;
  if (ofProject && !project)
    throw new ConfigError(
      'Tokens of keys and apps belong to a project, and `scope` names none.',
      ['scope'],
      "Give `scope` with the tenant 'organizationProject' or 'accountProject', or types: ['session'].",
    );
  const system = types.includes('session') ? [systemIssuer(url)] : [];
  return ofProject && project ? [project, ...system] : system;
}

/**
 * Asks an arbitrary question, because any decision shows whether the service accepts the token.
 *
 * @throws TokenError if the service does not accept it
 */
async function assertLive(remote: RemoteQuestions, token: string, options: VerifyOptions): Promise<void> {
  const { signal, timeoutMs, scope } = options;
  const subject = { kind: 'token', token, principal: null } as const;
  const question = { permission: { resource: 'doorward', action: 'verify-token' } };
  const { reason } = await remote.decision(subject, question, { signal, timeoutMs, scope });
  if (reason === 'SUBJECT_INACTIVE') throw tokenError('TOKEN_REVOKED');
}
