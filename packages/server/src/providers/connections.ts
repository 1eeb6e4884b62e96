import { z } from 'zod';
import type { Config } from '../config/config.ts';
import type { Kek } from '../crypto/keys/kek.ts';
import type { Clock } from '../kernel/ports.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { discoverIssuer, openidProvider } from './openid.ts';
import { ProviderFault, TIMEOUT_SECONDS, type IdentityProvider } from './provider.ts';
import { createTargetGuard, NameNotResolved, TargetRefused, type Resolve } from '../outgoing/target-guard.ts';

/** The settings of a connection that describe its provider. */
export interface ConnectedProvider {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly sealedSecret: string;
  readonly scopes: readonly string[];
  readonly justInTime: boolean;
}

export interface TestResult {
  readonly ok: boolean;
  readonly step: 'metadata' | 'keys';
  readonly message: string;
}

/**
 * The identity providers of organizations. Customers choose these servers, so each call goes through the target guard.
 */
export interface ConnectionProviders {
  at(connection: ConnectedProvider): IdentityProvider;
  /** Loads metadata and keys again. Never rejects. */
  test(connection: Pick<ConnectedProvider, 'issuer' | 'clientId'>): Promise<TestResult>;
}

/** Maximum number of providers whose loaded metadata is kept. Beyond it, the least recently used one is dropped. */
const MAX_KEPT = 500;

const Keys = z.object({ keys: z.array(z.object({ kty: z.string() })).min(1) });

export const sealContextOfConnection = (id: string): string => `organization_connections:${id}`;

/** Error code of the client library: the metadata or a token names another issuer than the expected one. */
const OTHER_ISSUER = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

/** Describes the fault for the owner of the connection, without anything that the server sent. */
function messageOf(fault: unknown, url: string): string {
  for (let error = fault; error instanceof Error; error = error.cause) {
    if ('code' in error && error.code === OTHER_ISSUER) return `The metadata at ${url} name another issuer.`;
    if (error instanceof ProviderFault) return `${url}: ${error.message}.`;
    if (error instanceof TargetRefused) {
      return `${url} has an address or port to which this service does not connect.`;
    }
    if (error instanceof NameNotResolved) return `The name of ${url} could not be resolved.`;
  }
  return `${url} did not answer as a provider of OpenID Connect.`;
}

export function createConnectionProviders(
  { appUrl, connections }: Pick<Config, 'appUrl' | 'connections'>,
  { resolve, clock, kek }: { readonly resolve: Resolve; readonly clock: Clock; readonly kek: Kek },
): ConnectionProviders {
  // `isIssuer` accepts http only for this machine, and the operator has to allow connections to it.
  const fetch = guardedFetch(createTargetGuard({ allowHttp: true, ...connections }, resolve));
  const kept = new Map<string, { readonly settings: string; readonly provider: IdentityProvider }>();

  function build({ id, sealedSecret, scopes, justInTime, ...named }: ConnectedProvider): IdentityProvider {
    const provider = {
      ...named,
      key: id,
      clientSecret: kek.open(sealedSecret, sealContextOfConnection(id)).toString(),
      scopes,
      claims: { subject: 'sub', email: 'email', emailVerified: 'email_verified', name: 'name' },
      trustEmail: 'unlessDenied' as const,
      allowSignUp: justInTime,
    };
    const callback = `${appUrl}/api/auth/connections/${id}/callback`;
    return openidProvider({ provider, callback, fetch, clock });
  }

  return {
    at(connection) {
      const { id, name, issuer, clientId, sealedSecret, scopes, justInTime } = connection;
      // A change of any of these settings creates a new provider and drops the loaded metadata.
      const settings = JSON.stringify([name, issuer, clientId, sealedSecret, scopes, justInTime]);
      const former = kept.get(id);
      const entry = former?.settings === settings ? former : { settings, provider: build(connection) };
      kept.delete(id);
      kept.set(id, entry);
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_KEPT) break;
        kept.delete(oldest);
      }
      return entry.provider;
    },
    async test({ issuer, clientId }) {
      let keysUri: string | undefined;
      try {
        keysUri = (await discoverIssuer({ key: 'provider', issuer, clientId, fetch })).jwks_uri;
      } catch (error) {
        return {
          ok: false,
          step: 'metadata',
          message: messageOf(error, `${issuer}/.well-known/openid-configuration`),
        };
      }
      if (keysUri === undefined)
        return { ok: false, step: 'keys', message: 'The metadata name no jwks_uri.' };
      if (new URL(issuer).protocol === 'https:' && !keysUri.startsWith('https://'))
        return { ok: false, step: 'keys', message: 'The jwks_uri of the metadata is not https.' };
      try {
        const answer = await fetch(keysUri, {
          method: 'GET',
          headers: { accept: 'application/json' },
          body: undefined,
          redirect: 'manual',
          signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
        });
        Keys.parse(await answer.json());
        return { ok: true, step: 'keys', message: 'The provider answered with its metadata and keys.' };
      } catch (error) {
        return { ok: false, step: 'keys', message: messageOf(error, 'jwks_uri') };
      }
    },
  };
}
