import type { Doorward, Scope } from '@doorward/node';
import type { Client } from '@doorward/node/client';
import type { Protect } from '../environment/interruption.ts';
import { notSignedIn } from '../fault.ts';
import type { Flags } from '../settings/flags.ts';
import type { Identity, Settings } from '../settings/settings.ts';
import { tokensOf, type TokenSource } from './tokens.ts';
import type { RequestLog } from './request-log.ts';
import { lookUpScope } from './scope-lookup.ts';

interface ConnectionParts {
  readonly flags: Flags;
  readonly settings: Settings;
  readonly log: RequestLog;
  readonly protect: Protect;
}

interface ClientChoice {
  readonly scope?: Scope | undefined;
  /** The client doesn't retry, because only the service could tell whether the first attempt arrived. */
  readonly changes?: boolean;
  /** The token to use instead of the one of this run. */
  readonly token?: string;
  /** Calls get more time than usual. */
  readonly isLong?: boolean;
}

/** For work on a whole document: with thousands of rows it takes some ten seconds on a busy machine. */
const LONG_MS = 60_000;

/** Connects one run to the service. Loads the client only when a command needs it, so that showing help stays fast. */
export class Connection {
  readonly #parts: ConnectionParts;
  #tokens: TokenSource | null = null;
  #scope: Promise<Scope | undefined> | null = null;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** Returns a client without credentials. */
  async public(url?: string): Promise<Client> {
    const { createClient } = await import('@doorward/node/client');
    return createClient({ url: url ?? (await this.#parts.settings.url()), ...this.#bounds(), retries: 0 });
  }

  /** Returns the token of this run. @throws Fault if the run has no identity */
  async token(): Promise<string> {
    const identity = await this.identity();
    if (!identity) throw notSignedIn();
    const { settings, protect } = this.#parts;
    this.#tokens ??= tokensOf(identity, {
      client: await this.public(),
      profiles: settings.profiles,
      protect,
    });
    return this.#tokens();
  }

  identity(): Promise<Identity | undefined> {
    return this.#parts.settings.identity();
  }

  /** The scope that flags, environment or profile name; undefined if none does. */
  scope(): Promise<Scope | undefined> {
    const { flags, settings } = this.#parts;
    return (this.#scope ??= lookUpScope(flags, settings, async () => (await this.client({})).api));
  }

  /** Returns a client with the credentials of this run. */
  async client(choice: ClientChoice): Promise<Client> {
    const { createClient } = await import('@doorward/node/client');
    return createClient(await this.#options(choice));
  }

  /** Returns a client with the credentials and the scope of this run. */
  async inScope(choice: Pick<ClientChoice, 'changes' | 'isLong'> = {}): Promise<Client> {
    return this.client({ ...choice, scope: await this.scope() });
  }

  /**
   * Returns a client that can also ask for decisions, in the scope of this run. Its code takes a tenth of a second to
   * load, so only commands that need decisions use it.
   */
  async decisions(): Promise<Doorward> {
    const { createDoorward } = await import('@doorward/node');
    return createDoorward(await this.#options({ scope: await this.scope() }));
  }

  async #options({ scope, changes = false, token, isLong = false }: ClientChoice) {
    return {
      url: await this.#parts.settings.url(),
      token: token ?? (() => this.token()),
      scope: scope ?? undefined,
      ...this.#bounds(isLong ? LONG_MS : undefined),
      ...(changes ? { retries: 0 } : {}),
    };
  }

  #bounds(usual?: number) {
    const { timeoutMs = usual } = this.#parts.flags;
    return {
      fetch: this.#parts.log.fetch,
      ...(timeoutMs === undefined ? {} : { timeoutMs, deadlineMs: timeoutMs }),
    };
  }
}
