import { LRUCache } from 'lru-cache';
import { fail } from '../../errors.ts';
import type { Call, Principal, QueueState, Slot } from '../../kernel/context.ts';
import { credentialKey } from '../../kernel/charge.ts';
import type { Admit, ScopeAndRights } from '../../kernel/stages.ts';
import { applies } from '../../kernel/call/applies.ts';
import type { CallInput, NamedOperation } from '../../kernel/operation.ts';
import type { ScopeInput } from '../../kernel/scope.ts';
import { FairQueue, type Share } from './fair-queue.ts';

interface AdmissionOptions {
  /** Passed to the `key` functions of limits, which identify callers without a credential. */
  readonly services: unknown;
  readonly maxWaitMs: number;
  readonly maxQueue: number;
  /** Number of operations that may use the database at once. */
  readonly databaseSlots: number;
  /** Whether the database is embedded, so that its work runs on the event loop. */
  readonly onEventLoop: boolean;
}

export interface Admission {
  readonly admit: Admit;
  /** Records the owner of a scope where the caller has permissions. Their later calls there use the owner's share. */
  readonly rememberOwner: (
    principal: Principal,
    requested: ScopeInput,
    scopeAndRights: ScopeAndRights,
  ) => void;
  readonly queues: readonly QueueState[];
}

/** Exchanges share a group commit, so all of them need only one connection. */
const EXCHANGE_SLOTS = 64;
/** Two sign-ins hash on the two threads; the others meanwhile use the database or wait to equalize response times. */
const SIGN_IN_SLOTS = 16;
/** Maximum number of pairs of caller and scope whose owner is cached. */
const MAX_OWNERS = 50_000;

/**
 * Creates the admission, which decides which queue an operation waits in, and whose share it uses
 * (docs/decisions/0029). Each scarce resource has a fair queue: connections to the database, the group commit of
 * exchanges, and the threads that hash passwords. An operation enters its queue before its scope is resolved and holds
 * its slot until its response is complete. A request with several operations waits once. Checks from memory, health,
 * metrics, pages and documents don't wait.
 */
export function createAdmission(options: AdmissionOptions): Admission {
  const { databaseSlots, services, ...limits } = options;
  const queue = (name: string, slots: number) => new FairQueue({ name, slots, ...limits });
  const database = queue('database', databaseSlots);
  const exchange = queue('exchange', EXCHANGE_SLOTS);
  const signIn = queue('signIn', SIGN_IN_SLOTS);
  const owners = new LRUCache<string, string>({ max: MAX_OWNERS });

  function queueOf(op: NamedOperation, input: CallInput): FairQueue | null {
    const { rate, access, limit } = op;
    if (rate === 'exempt') return null;
    if (applies(op.groupCommit, input)) return exchange;
    const isSignIn = limit?.class === 'auth' || (access === 'public' && rate === undefined);
    return isSignIn && limit?.class !== 'refresh' ? signIn : database;
  }

  function shareOf(op: NamedOperation, input: CallInput, call: Call, principal: Principal | null): Share {
    if (!principal)
      return { tenant: `network ${call.network}`, credential: claimedAccount(op, input, call, services) };
    const credential = credentialKey(principal, call);
    const scope = input.scope ?? principal.pinned;
    if (!scope) return { tenant: `user ${principal.userId}`, credential };
    const tenant = owners.get(ownerKey(principal, scope)) ?? provisionalOwner(principal);
    return { tenant, credential };
  }

  return {
    admit(op, input, call, principal) {
      const { slot } = call;
      if (!slot.taken) {
        const queue = queueOf(op, input);
        if (!queue) return false;
        const share = shareOf(op, input, call, principal);
        const entry = queue.enter(share, slot.onGone, slot.bodyLength);
        slot.taken =
          entry instanceof Promise ? entry.then((given) => (slot.taken = assertPresent(given))) : entry;
      }
      const { taken } = slot;
      return taken instanceof Promise ? taken.then(({ waited }) => waited) : taken.waited;
    },
    rememberOwner(principal, requested, { scope }) {
      const owner = scope.accountId ?? scope.organizationId;
      if (owner !== null) owners.set(ownerKey(principal, requested), owner);
    },
    queues: [database, exchange, signIn],
  };
}

/** Ends the operation of a client that went away. The error is sent on a closed connection. */
function assertPresent(slot: Slot | null): Slot {
  if (!slot) throw fail('UNAVAILABLE');
  return slot;
}

const ownerKey = ({ userId }: Principal, { id }: Pick<ScopeInput, 'id'>): string => `${userId} ${id}`;

/**
 * The share of a caller whose permissions in the scope are not known yet: the owner in their token, else the caller.
 * Otherwise a caller could use the share of any tenant by naming its scope.
 */
const provisionalOwner = ({ pinned, userId }: Principal): string =>
  pinned?.id.split(':')[0] ?? `user ${userId}`;

/** The account that a sign-in claims. It gives users behind one network address separate shares. */
function claimedAccount(op: NamedOperation, input: CallInput, call: Call, services: unknown): string {
  const limited = op.limit?.key(input, call, services);
  const clientId = input['clientId'] ?? input['client_id'];
  return limited ?? (typeof clientId === 'string' ? clientId : call.network);
}
