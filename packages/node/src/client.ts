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

/** Options of a client that only calls operations, in Node, browsers and workers. The caller supplies the token. */
export interface ClientOptions {
  /** `APP_URL` of the service. */
  readonly url: string;
  /** Sent with each call. A function is called before each attempt. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** The scope of calls that don't name a scope. */
  readonly scope?: Scope | undefined;
  readonly allowHttp?: boolean | undefined;
  /** Time limit of one attempt. Default 5000, 100..120000. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of all attempts of a call together. Default 15000, 100..120000. */
  readonly deadlineMs?: number | undefined;
  /** How often a call is retried. Default 2, 0..10. */
  readonly retries?: number | undefined;
  readonly maxRetryAfterMs?: number | undefined;
  readonly hooks?: Hooks | undefined;
  readonly fetch?: Fetch | undefined;
  /** `Accept-Language`, the language of error messages. */
  readonly language?: string | undefined;
}

export interface Client {
  readonly api: Api;
  readonly http: Http;
}

/**
 * Creates a client that only calls operations. For permission checks, API keys and token verification, use
 * `createDoorward`.
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
