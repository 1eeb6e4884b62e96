import type { Scope } from '@doorward/node';
import { notSignedIn, usageFault } from '../fault.ts';
import type { Env } from '../environment/io.ts';
import type { Flags } from './flags.ts';
import { assertProfileName, Profiles, type Credential } from './profiles.ts';
import { parseScope } from './scope-text.ts';

/** The identity that a run authenticates as. */
export type Identity =
  | { readonly kind: 'token'; readonly profile: null; readonly token: string }
  | {
      readonly kind: 'key';
      readonly profile: string | null;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope: Scope;
    }
  | { readonly kind: 'session'; readonly profile: string; readonly url: string };

/** The service URL, scope and identity of a run. Flags override environment variables, which override the profile. */
export class Settings {
  readonly profiles: Profiles;
  readonly #flags: Flags;
  readonly #env: Env;

  constructor(flags: Flags, env: Env) {
    this.profiles = new Profiles(env);
    this.#flags = flags;
    this.#env = env;
  }

  async profileName(): Promise<string> {
    const named = this.#flags.profile ?? this.#variable('DOORWARD_PROFILE');
    return assertProfileName(named ?? (await this.profiles.config()).current ?? 'default');
  }

  /** Returns the service URL. @throws Fault if none is configured, or if secrets would be sent unencrypted */
  async url(): Promise<string> {
    const given = this.#flags.url ?? this.#variable('DOORWARD_URL') ?? (await this.#profile()).url;
    if (given === undefined)
      throw usageFault(
        'Which service? No address is known.',
        'give --url, or set DOORWARD_URL, or doorward login --url <url>',
      );
    return serviceUrl(given);
  }

  /** Returns the scope that is given as text. Slugs need the service, so service/scope-lookup.ts resolves them. */
  async namedScope(): Promise<Scope | undefined> {
    if (this.#flags.scope !== undefined) return parseScope('--scope', this.#flags.scope);
    const variable = this.#variable('DOORWARD_SCOPE');
    if (variable !== undefined) return parseScope('DOORWARD_SCOPE', variable);
    const { scope } = await this.#profile();
    return scope === undefined ? undefined : parseScope('the scope of the profile', scope);
  }

  /** Returns the identity of this run, if it has one. @throws Fault if the stored sign-in is for another service */
  async identity(): Promise<Identity | undefined> {
    const token = this.#variable('DOORWARD_TOKEN');
    if (token !== undefined) return { kind: 'token', profile: null, token };
    const clientId = this.#variable('DOORWARD_CLIENT_ID');
    const clientSecret = this.#variable('DOORWARD_CLIENT_SECRET');
    if (clientId !== undefined || clientSecret !== undefined) {
      if (clientId === undefined || clientSecret === undefined)
        throw usageFault('DOORWARD_CLIENT_ID and DOORWARD_CLIENT_SECRET go together: one is missing.');
      const scope = await this.namedScope();
      if (!scope)
        throw usageFault(
          'A key is exchanged in its own scope, which is missing.',
          'set DOORWARD_SCOPE=<tenant>:<id>',
        );
      return { kind: 'key', profile: null, clientId, clientSecret, scope: this.#keyScope() ?? scope };
    }
    return this.#storedIdentity();
  }

  /** The scope of an API key in the environment. `-s` doesn't change it, because `-s` may name a scope below it. */
  #keyScope(): Scope | undefined {
    const variable = this.#variable('DOORWARD_SCOPE');
    return variable === undefined ? undefined : parseScope('DOORWARD_SCOPE', variable);
  }

  async #storedIdentity(): Promise<Identity | undefined> {
    const profile = await this.profileName();
    const all = await this.profiles.credentials();
    const stored: Credential | undefined = Object.hasOwn(all, profile) ? all[profile] : undefined;
    if (!stored) return undefined;
    if (stored.url !== (await this.url()))
      throw notSignedIn(
        `The sign-in of the profile ${profile} is for ${stored.url}, and is sent nowhere else.`,
      );
    if (stored.kind === 'session') return { kind: 'session', profile, url: stored.url };
    const { clientId, clientSecret, scope } = stored;
    return { kind: 'key', profile, clientId, clientSecret, scope: parseScope('the scope of the key', scope) };
  }

  async #profile() {
    const { profiles } = await this.profiles.config();
    const name = await this.profileName();
    const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    if (!profile && this.#flags.profile !== undefined && !(await this.#isAbsentAllowed()))
      throw usageFault(`There is no profile ${name}.`, 'doorward profile list; doorward login creates one');
    return profile ?? {};
  }

  /** A profile may be missing if a URL is given, because `login` then creates it. */
  async #isAbsentAllowed(): Promise<boolean> {
    return this.#flags.url !== undefined || this.#variable('DOORWARD_URL') !== undefined;
  }

  /** Empty variables count as unset, because container tools write unset variables as empty ones. */
  #variable(name: string): string | undefined {
    return this.#env[name] === '' ? undefined : this.#env[name];
  }
}

/** Checks the URL of a service, and removes slashes at its end. @throws Fault if such a URL isn't allowed */
export function serviceUrl(text: string): string {
  const wrong = (what: string, hint?: string) => usageFault(`The address of the service ${what}.`, hint);
  if (!URL.canParse(text)) throw wrong('is not a URL', 'for example https://access.example.com');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw wrong('must not have a user name or password');
  if (url.search !== '' || url.hash !== '') throw wrong('must not have a query or a fragment');
  const isLoopback = /^(localhost|.*\.localhost|\[::1\]|127(\.\d+){3})$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
    throw wrong('must be https', 'http is for this computer only');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
