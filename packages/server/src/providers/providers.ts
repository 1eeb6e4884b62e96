import type { Config } from '../config/config.ts';
import { fail } from '../errors.ts';
import type { Kek } from '../crypto/keys/kek.ts';
import type { Clock } from '../kernel/ports.ts';
import { createTargetGuard, type Resolve } from '../outgoing/target-guard.ts';
import { createConnectionProviders, type ConnectionProviders } from './connections.ts';
import { githubAt } from './github.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { createProviderLogos, type ProviderLogos } from './logos.ts';
import { openidProvider } from './openid.ts';
import type { IdentityProvider } from './provider.ts';

/** The result of a sign-in through a provider: a session of this service, or a response to an app. */
export type ProviderEnd = 'session' | 'app';

export interface OfferedProvider {
  readonly key: string;
  readonly name: string;
  /** Null for GitHub. */
  readonly issuer: string | null;
  /** A URL of this service; null without a logo. */
  readonly logoUrl: string | null;
}

/** The providers of the installation: GitHub, and OpenID Connect providers. */
export interface IdentityProviders {
  /** In the order in which pages offer them. */
  readonly offered: readonly OfferedProvider[];
  readonly logos: ProviderLogos;
  /** Returns the provider with this key. @throws PROVIDER_NOT_CONFIGURED */
  at(key: string, end: ProviderEnd): IdentityProvider;
  /** The providers of organizations. */
  readonly connections: ConnectionProviders;
}

/** The keys of all OpenID Connect providers. */
export const openidKeys = ({ offered }: Pick<IdentityProviders, 'offered'>): string[] =>
  offered.map(({ key }) => key).filter((key) => key !== 'github');

export function createIdentityProviders(
  config: Pick<Config, 'appUrl' | 'connections' | 'github' | 'identityProviders' | 'federation'>,
  ports: {
    readonly resolve: Resolve;
    readonly clock: Clock;
    readonly kek: Kek;
    readonly warn: (message: string) => void;
  },
): IdentityProviders {
  const { resolve, clock, warn } = ports;
  const { appUrl, github } = config;
  // Only the configuration may name an http issuer, and only one on this machine.
  const guard = createTargetGuard({ allowHttp: true, ...config.federation }, resolve);
  const fetch = guardedFetch(guard);
  const logos = createProviderLogos({ providers: config.identityProviders, fetch, warn });
  const logoAt = (file: string | null) => (file === null ? null : `${appUrl}/hosted/logos/${file}`);
  const ofOpenid = config.identityProviders.map((provider) => {
    const callback = `${appUrl}/api/auth/providers/${provider.key}/callback`;
    return openidProvider({ provider, callback, fetch, clock });
  });
  return {
    connections: createConnectionProviders(config, ports),
    get offered() {
      const ofGithub = { key: 'github', name: 'GitHub', issuer: null, logoUrl: logoAt('github.svg') };
      return [
        ...(github.client === undefined ? [] : [ofGithub]),
        ...config.identityProviders.map(({ key, name, issuer }) => ({
          ...{ key, name, issuer },
          logoUrl: logoAt(logos.fileOf(key)),
        })),
      ];
    },
    logos,
    at(key, end) {
      if (key === 'github') {
        return githubAt(github, `${appUrl}/api/auth/github/callback${end === 'app' ? '/project' : ''}`);
      }
      const provider = ofOpenid.find((entry) => entry.key === key);
      if (provider) return provider;
      throw fail('PROVIDER_NOT_CONFIGURED', {
        fix: 'Choose one of GET /api/auth/providers; the operator can add more with IDENTITY_PROVIDERS.',
      });
    },
  };
}
