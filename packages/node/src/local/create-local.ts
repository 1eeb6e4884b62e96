import type { HookList } from '../calls/hook-list.ts';
import type { Caller } from '../operations/invoke.ts';
import type { Clock } from '../calls/transport.ts';
import { delay } from '../calls/wait.ts';
import { ConfigError, ConnectionError } from '../contracts/errors.ts';
import type { LocalSettings } from '../options/doorward-options.ts';
import type { LocalDecisions } from '../questions/create-questions.ts';
import type { OwnWrites } from '../questions/own-writes.ts';
import { projectIssuer } from '../tokens/issuer.ts';
import type { KeySets } from '../tokens/key-sets.ts';
import type { VerifiedToken } from '../tokens/verify-token.ts';
import type { LocalState, Scope } from '../contracts/types.ts';
import { HeldPolicy } from './held-policy.ts';
import { createLocalDecisions } from './local-decisions.ts';
import { PolicyReader } from './policy-reader.ts';
import { ProvenTokens } from './proven-tokens.ts';
import { Synchronization } from './synchronization.ts';
import { stateOf } from './token-subject.ts';

/** The dependencies and settings of local evaluation. */
export interface LocalParts {
  readonly settings: LocalSettings;
  readonly caller: Caller;
  readonly scope: Scope;
  readonly keySets: KeySets;
  readonly hooks: HookList;
  readonly clock: Clock;
  readonly writes: OwnWrites;
  /** False if decisions need not take the changes of this client into account. */
  readonly seesOwnWrites: boolean;
  readonly ownToken: () => Promise<string>;
  readonly isClosed: () => boolean;
  /** How long `ready` waits, in milliseconds. */
  readonly deadlineMs: number;
}

/** Local evaluation: decides in this process from a synchronized copy of the policy. */
export interface Local {
  readonly decisions: LocalDecisions;
  readonly state: LocalState;
  readonly ready: () => Promise<void>;
  readonly stateOfToken: (token: VerifiedToken) => 'ended' | 'live' | 'unknown';
  readonly close: () => void;
}

export function createLocal(parts: LocalParts): Local {
  const { settings, caller, scope, keySets, hooks, clock, writes, seesOwnWrites } = parts;
  const issuer = projectIssuer(caller.transport.url, scope);
  if (!issuer) throw new ConfigError('`local` needs the `scope` of a project.', ['local', 'scope']);
  const { maxStalenessMs, users, maxMemoryMb, onStale } = settings;
  const held = new HeldPolicy(clock, maxMemoryMb * 1024 * 1024);
  // Two polls and their network time fit into `maxStalenessMs`, so that the policy does not become stale between them.
  const pollSeconds = Math.max(0, Math.floor((maxStalenessMs / 2 - 250) / 1000));
  const reader = new PolicyReader({
    ...{ caller, issuer, users, keySets, clock, pollSeconds },
    projectId: scope.id.split(':')[1] ?? '',
    marginMs: Math.max(1000, maxStalenessMs / 4),
  });
  const synchronization = new Synchronization({
    ...{ reader, held, hooks, monotonic: clock.monotonic, random: clock.random },
    ownRevision: () => writes.revision,
    pauseMs: pollSeconds === 0 ? maxStalenessMs / 4 : 0,
  });
  const tokens = new ProvenTokens((now) => ({
    ...{ issuers: [issuer], types: ['ApiKey', 'projectApp'], audience: caller.transport.url },
    ...{ clockToleranceSeconds: 0, keyOf: keySets.key, now: () => now },
  }));
  writes.observe(() => synchronization.refresh());
  synchronization.start();
  return {
    decisions: createLocalDecisions({
      ...{ held, synchronization, tokens, scope, maxStalenessMs, onStale },
      ownToken: parts.ownToken,
      ownRevision: () => (seesOwnWrites ? (writes.revision ?? undefined) : undefined),
      isClosed: parts.isClosed,
    }),
    get state(): LocalState {
      const { policy, bytes, ageMs } = held;
      const isFresh = ageMs <= maxStalenessMs;
      const status = synchronization.isOff ? 'off' : !policy ? 'loading' : isFresh ? 'fresh' : 'stale';
      const { version = null, sequence = null } = policy ?? {};
      return { status, version, sequence, ageMs: policy ? ageMs : null, bytes };
    },
    ready: () => firstOrDeadline(synchronization.first, parts.deadlineMs),
    stateOfToken(token) {
      const state = held.policy ? stateOf(held.policy, token, { now: held.serviceNow, scope }) : 'unknown';
      // A stale policy still proves that a credential has ended. Only a fresh policy proves that it is live.
      const isCurrent = !synchronization.isOff && held.ageMs <= maxStalenessMs;
      return state === 'live' && !isCurrent ? 'unknown' : state;
    },
    close: () => synchronization.close(),
  };
}

async function firstOrDeadline(first: Promise<void>, deadlineMs: number): Promise<void> {
  const ended = new AbortController();
  const late = delay(deadlineMs, ended.signal).then(() => {
    if (!ended.signal.aborted)
      throw new ConnectionError('TIMEOUT', 'No policy snapshot came in time.', {
        ...{ operation: 'policySnapshot', retryable: true },
        fix: 'Questions go to the service meanwhile. The hook `onSnapshot` shows why.',
      });
  });
  late.catch(() => undefined);
  try {
    await Promise.race([first, late]);
  } finally {
    ended.abort();
  }
}
