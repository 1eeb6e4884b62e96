import { homedir } from 'node:os';
import { join } from 'node:path';
import { usageFault } from '../fault.ts';
import type { Env } from '../environment/io.ts';
import { withLock } from './file-lock.ts';
import { readJson, readPrivate, writePrivate } from './private-file.ts';

/** What a profile stores apart from secrets, in config.json. */
interface Profile {
  readonly url?: string;
  /** The default scope, as `<tenant>:<id>`. */
  readonly scope?: string;
}

interface Config {
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/**
 * The tokens of a session. The access token is stored too, because the service renews a session only with both tokens,
 * and because the next run can use it while it is valid.
 */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When the access token should be replaced, in milliseconds since 1970. */
  readonly renewAt: number;
}

/** A stored sign-in, in credentials.json. Its secrets are sent only to its `url`. */
export type Credential =
  | ({ readonly kind: 'session'; readonly url: string } & SessionTokens)
  | {
      readonly kind: 'key';
      readonly url: string;
      readonly scope: string;
      readonly clientId: string;
      readonly clientSecret: string;
    };

type Credentials = Readonly<Record<string, Credential>>;

/** The profiles of this user on this computer. */
export class Profiles {
  readonly #folder: string;

  constructor(env: Env) {
    this.#folder = folderOf(env);
  }

  async config(): Promise<Config> {
    const { current, profiles } = ((await readJson(this.#path('config'))) ?? {}) as Partial<Config>;
    return { ...(typeof current === 'string' ? { current } : {}), profiles: profiles ?? {} };
  }

  /** Changes config.json while holding its lock. */
  async change(edit: (config: Config) => Config): Promise<void> {
    await withLock(`${this.#path('config')}.lock`, async () => {
      await writePrivate(this.#path('config'), edit(await this.config()));
    });
  }

  async credentials(): Promise<Credentials> {
    return ((await readPrivate(this.#path('credentials'))) ?? {}) as Credentials;
  }

  /**
   * Changes the credential of a profile while holding the lock; undefined removes it. Runs that renew the same
   * session wait for each other here, because a refresh token works only once.
   */
  async changeCredential<T>(
    profile: string,
    edit: (stored: Credential | undefined) => Promise<{ stored: Credential | undefined; result: T }>,
  ): Promise<T> {
    const path = this.#path('credentials');
    return withLock(`${path}.lock`, async () => {
      const all = await this.credentials();
      const before = Object.hasOwn(all, profile) ? all[profile] : undefined;
      const { stored, result } = await edit(before);
      const { [profile]: _, ...others } = all;
      await writePrivate(path, stored ? { ...others, [profile]: stored } : others);
      return result;
    });
  }

  #path(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}

function folderOf(env: Env): string {
  if (env['DOORWARD_CONFIG_DIR']) return env['DOORWARD_CONFIG_DIR'];
  if (process.platform === 'win32' && env['APPDATA']) return join(env['APPDATA'], 'doorward');
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'doorward');
}

export function assertProfileName(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name) && name !== '__proto__') return name;
  throw usageFault('A profile has a name of letters, digits, `.`, `_` and `-`.');
}
