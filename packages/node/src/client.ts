import { createApi } from './operations/create-api.ts';
import { HookList } from './calls/hook-list.ts';
import { createHttp } from './calls/plain-http.ts';
import { RetryBudget } from './calls/retry-budget.ts';
import { Transport } from './calls/transport.ts';
import type { Api } from './client/generated/api.ts';
import type { Hooks } from './contracts/hooks.ts';
import type { Http } from './client/http.ts';
import type { Fetch, Scope } from './contracts/types.ts';
import { GivenToken, noCredential } from './credentials/given-token.ts';
import { serviceUrl } from './options/address.ts';
import { callRules } from './options/call-rules.ts';
import { platformClock, platformFetch } from './options/platform.ts';
import { readOptions } from './options/read-options.ts';
import { scopeOption } from './options/scope.ts';

export type { Api } from './client/generated/api.ts';
export type { components, operations, paths, webhooks } from './client/generated/openapi.ts';
export type { Http } from './client/http.ts';
export * from './contracts/errors.ts';

/** The operations of the service, for Node, browsers and workers. The caller gives the token. */
export interface ClientOptions {
  /** `APP_URL` of the service. */
  readonly url: string;
  /** Sent with each call; a function is called for each. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** For calls that name no scope. */
  readonly scope?: Scope | undefined;
  readonly allowHttp?: boolean | undefined;
  /** One attempt. Default 5000, 100..120000. */
  readonly timeoutMs?: number | undefined;
  /** All attempts of a call. Default 15000, 100..120000. */
  readonly deadlineMs?: number | undefined;
  /** Repetitions of a call. Default 2, 0..10. */
  readonly retries?: number | undefined;
  readonly maxRetryAfterMs?: number | undefined;
  readonly hooks?: Hooks | undefined;
  readonly fetch?: Fetch | undefined;
  /** `Accept-Language` of error messages. */
  readonly language?: string | undefined;
}

export interface Client {
  readonly api: Api;
  readonly http: Http;
}

/**
 * A client of the operations, without checks, keys and verification: `createDoorward` has these.
 *
 * @example
 * const { api } = createClient({ url: 'https://doorward.example', token: () => session.accessToken });
 * const me = await api.me();
 * @throws ConfigError
 */
export function createClient(options: ClientOptions): Client {
  const { url, allowHttp, token, scope, hooks, fetch, ...bounds } = readOptions(options, callRules);
  const hookList = new HookList();
  if (hooks) hookList.add(hooks);
  const clock = platformClock;
  const transport = new Transport({
    ...bounds,
    url: serviceUrl(url, allowHttp),
    fetch: fetch ?? platformFetch,
    credential: token === undefined ? noCredential : new GivenToken(token),
    hooks: hookList,
    budget: new RetryBudget(clock.monotonic),
    onSuccess: () => undefined,
    isClosed: () => false,
    clock,
  });
  const caller = { transport, scope: scopeOption(scope, undefined), hasGivenToken: token !== undefined };
  return { api: createApi(caller), http: createHttp(transport) };
}
