import { createApi } from './operations/create-api.ts';
import type { Credential } from './calls/credential.ts';
import { HookList } from './calls/hook-list.ts';
import { invoke } from './operations/invoke.ts';
import { parseOperation } from './operations/operation.ts';
import { createHttp } from './calls/plain-http.ts';
import { RetryBudget } from './calls/retry-budget.ts';
import { Transport, type Clock } from './calls/transport.ts';
import { operationTable } from './client/generated/table.ts';
import { GivenToken, noCredential } from './credentials/given-token.ts';
import { KeyToken, type Exchange } from './credentials/key-token.ts';
import { ConfigError } from './contracts/errors.ts';
import { doorwardOptions, type Key } from './options/doorward-options.ts';
import { createLocal, type Local, type LocalParts } from './local/create-local.ts';
import { platformClock, platformFetch } from './options/platform.ts';
import { createQuestions } from './questions/create-questions.ts';
import { OwnWrites } from './questions/own-writes.ts';
import { RemoteQuestions } from './questions/remote-questions.ts';
import { createVerify } from './questions/create-verify.ts';
import { KeySets } from './tokens/key-sets.ts';
import type { Doorward } from './client/doorward.ts';
import type { DoorwardOptions, Scope } from './contracts/types.ts';

/** The ports that tests replace. */
interface DoorwardPorts {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Builds the client of `createDoorward` from its options and ports. @throws ConfigError */
export function composeDoorward(given: DoorwardOptions, ports: DoorwardPorts): Doorward {
  const {
    key,
    scope,
    token,
    hooks: givenHooks,
    fetch,
    url,
    consistency,
    ...options
  } = doorwardOptions(given, ports.env);
  const { clock } = ports;
  const hooks = new HookList();
  if (givenHooks) hooks.add(givenHooks);
  const writes = new OwnWrites(clock.monotonic);
  let isClosed = false;
  const shared = {
    ...{ timeoutMs: options.timeoutMs, deadlineMs: options.deadlineMs, retries: options.retries },
    ...{ maxRetryAfterMs: options.maxRetryAfterMs, language: options.language },
    ...{ url, hooks, clock, fetch: fetch ?? platformFetch, isClosed: () => isClosed, onSuccess: writes.read },
    budget: new RetryBudget(clock.monotonic),
  };
  // An exchange also returns a revision, because it writes an audit entry. That revision is ignored, because an
  // exchange changes no rights.
  const credential = credentialOf(
    { key, token, scope, clock },
    new Transport({ ...shared, credential: noCredential, onSuccess: () => undefined }),
  );
  const transport = new Transport({ ...shared, credential });
  const caller = { transport, scope, hasGivenToken: credential.isGiven };
  const seesOwnWrites = consistency === 'ownWrites';
  const recentRevision = () => (seesOwnWrites ? writes.recent : undefined);
  const remote = new RemoteQuestions({ caller, recentRevision });
  const keySets = new KeySets(transport, clock);
  const local = createLocalOf({
    ...{ caller, keySets, hooks, clock, writes, seesOwnWrites, isClosed: () => isClosed },
    ...{ settings: options.local, scope, deadlineMs: options.deadlineMs },
    ownToken: () => credential.token(new AbortController().signal),
  });
  const { onUnavailable, clockToleranceSeconds } = options;
  const doorward: Doorward = {
    ...createQuestions({
      ...{ remote, onUnavailable, hooks, monotonic: clock.monotonic },
      local: local?.decisions ?? null,
    }),
    verifyToken: createVerify({
      ...{ url, keySets, scope, clock, clockToleranceSeconds, remote },
      localState: (token) => local?.stateOfToken(token) ?? 'unknown',
    }),
    api: createApi(caller),
    http: createHttp(transport),
    get revision() {
      return writes.revision;
    },
    scope,
    url,
    ready: async () => local?.ready(),
    get local() {
      return local?.state ?? null;
    },
    observe: (added) => hooks.add(added),
    close() {
      isClosed = true;
      local?.close();
    },
  };
  return described(doorward, { url, scope, key });
}

/** Creates local evaluation if the options ask for it. */
function createLocalOf(
  parts: Omit<LocalParts, 'settings' | 'scope'> & {
    readonly settings: LocalParts['settings'] | null;
    readonly scope: Scope | null;
  },
): Local | null {
  const { settings, scope } = parts;
  return settings && scope ? createLocal({ ...parts, settings, scope }) : null;
}

interface CredentialSource {
  readonly key: Key | null;
  readonly token: DoorwardOptions['token'];
  readonly scope: Scope | null;
  readonly clock: Clock;
}

function credentialOf({ key, token, scope, clock }: CredentialSource, transport: Transport): Credential {
  if (token !== undefined) return new GivenToken(token);
  if (!key) return noCredential;
  const operation = parseOperation('exchangeApiKey', operationTable.exchangeApiKey);
  const exchange: Exchange = async () => {
    const { data } = await invoke({ transport, scope, hasGivenToken: false }, operation, { ...key, scope });
    return (data ?? {}) as Awaited<ReturnType<Exchange>>;
  };
  return new KeyToken(exchange, clock);
}

/** Defines how a client appears in logs. The client has no members with secrets: secrets are only in closures. */
function described(
  doorward: Doorward,
  { url, scope, key }: { url: string; scope: Scope | null; key: Key | null },
): Doorward {
  const shown = {
    url,
    scope,
    ...(key ? { clientId: key.clientId, clientSecret: '[hidden]' } : {}),
  };
  const value = (show: () => unknown) => ({ value: show, enumerable: false });
  return Object.defineProperties(doorward, {
    toJSON: value(() => shown),
    [Symbol.for('nodejs.util.inspect.custom')]: value(() => ({ Doorward: shown })),
  });
}

/** Ports of the real process. */
export const processPorts = (): DoorwardPorts => {
  if (typeof process === 'undefined')
    throw new ConfigError('This client is for Node; browsers use @doorward/browser.', []);
  return { clock: platformClock, env: process.env };
};
