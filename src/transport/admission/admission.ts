import { LRUCache } from 'lru-cache';
import { fail } from '../../errors.ts';
import type { Call, Principal, QueueState, Services, Slot } from '../../kernel/context.ts';
import { credentialKey } from '../../kernel/charge.ts';
import type { Admit, Found } from '../../kernel/stages.ts';
import type { NamedOperation } from '../../kernel/operation.ts';
import type { ScopeInput } from '../../kernel/scope.ts';
import { FairQueue, type Share } from './fair-queue.ts';

/**
 * Which work waits, and in whose name (docs/decisions/0029). There is a fair queue in front of each thing that is scarce:
 * connections to the database, the commit that exchanges share, and the threads that hash passwords. An operation stands
 * in one of them, from before its scope is resolved until its answer is made; a request of several operations waits once. A check that is answered from memory stands
 * in none; neither do health, metrics, pages and documents.
 */
export interface AdmissionOptions {
  /** For the keys of limits, by which callers without a credential are told apart. */
  readonly services: Services;
  readonly maxWaitMs: number;
  readonly maxQueue: number;
  /** How many operations may work with the database at once. */
  readonly databaseSlots: number;
  /** The embedded database works on the event loop. */
  readonly onEventLoop: boolean;
}

export interface Admission {
  readonly admit: Admit;
  /** Who owns a scope in which this caller has rights: from now on their calls there share with that tenant's. */
  readonly remember: (principal: Principal, asked: ScopeInput, found: Found) => void;
  readonly queues: readonly QueueState[];
}

/** Exchanges that share a commit need one connection for all of them. */
const EXCHANGES = 64;
/** Sign-ins hash on two threads; the others of these read and write meanwhile, or let time pass. */
const SIGN_INS = 16;
/** Callers and scopes whose owner is remembered. */
const OWNERS = 50_000;

export function createAdmission(options: AdmissionOptions): Admission {
  const { databaseSlots, services, ...limits } = options;
  const queue = (name: string, slots: number) => new FairQueue({ name, slots, ...limits });
  const database = queue('database', databaseSlots);
  const exchange = queue('exchange', EXCHANGES);
  const signIn = queue('signIn', SIGN_INS);
  const owners = new LRUCache<string, string>({ max: OWNERS });

  function queueOf({ rate, sharesCommit, access, limit }: NamedOperation): FairQueue | null {
    if (rate === 'exempt') return null;
    if (sharesCommit) return exchange;
    const isSignIn = limit?.class === 'auth' || (access === 'public' && rate === undefined);
    return isSignIn && limit?.class !== 'refresh' ? signIn : database;
  }

  function shareOf(op: NamedOperation, input: Input, call: Call, principal: Principal | null): Share {
    if (!principal)
      return { tenant: `network ${call.network}`, credential: accountIn(op, input, call, services) };
    const credential = credentialKey(principal, call);
    const scope = input.scope ?? principal.pinned;
    if (!scope) return { tenant: `user ${principal.userId}`, credential };
    const tenant = owners.get(placeOf(principal, scope)) ?? ownerIn(principal);
    return { tenant, credential };
  }

  return {
    admit(op, input, call, principal) {
      const { slot } = call;
      if (!slot.taken) {
        const queue = queueOf(op);
        if (!queue) return false;
        const share = shareOf(op, input, call, principal);
        const entered = queue.enter(share, slot.onGone, slot.bodyLength);
        slot.taken =
          entered instanceof Promise ? entered.then((given) => (slot.taken = assertPresent(given))) : entered;
      }
      const { taken } = slot;
      return taken instanceof Promise ? taken.then(({ waited }) => waited) : taken.waited;
    },
    remember(principal, asked, { scope }) {
      const owner = scope.accountId ?? scope.organizationId;
      if (owner !== null) owners.set(placeOf(principal, asked), owner);
    },
    queues: [database, exchange, signIn],
  };
}

/** Nobody reads this answer. */
function assertPresent(slot: Slot | null): Slot {
  if (!slot) throw fail('UNAVAILABLE');
  return slot;
}

interface Input {
  readonly scope?: ScopeInput;
  readonly clientId?: unknown;
}

const placeOf = ({ userId }: Principal, { id }: Pick<ScopeInput, 'id'>): string => `${userId} ${id}`;

/**
 * Until it is known that the caller has rights in the scope that they name: the owner that their token names, or they
 * themselves. Otherwise anybody could wait at another tenant's expense, by naming it.
 */
const ownerIn = ({ pinned, userId }: Principal): string => pinned?.id.split(':')[0] ?? `user ${userId}`;

/** Whoever tries to sign in, by what they claim: others behind the same address have their own turn. */
function accountIn(op: NamedOperation, input: Input, call: Call, services: Services): string {
  if (typeof input.clientId === 'string') return input.clientId;
  return op.limit?.key(input as never, call, services) ?? call.network;
}
