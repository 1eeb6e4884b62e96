/*
 * A fair queue in front of a scarce resource, such as connections to the database. It has a number of slots; work that
 * arrives while all slots are taken waits. A free slot goes to the tenant that has used the least slot time, within the
 * tenant to the credential that has used the least, and within the credential to the oldest request. So a flood delays
 * only the tenant and the credential that send it.
 *
 * Waiting is not a failure. A request behind a thousand others waits for at most `maxWaitMs` and is then refused. An
 * immediate refusal would only make the client repeat the request sooner, and a flood of refusals costs more than a
 * queue of connections.
 */

import { fail } from '../../errors.ts';
import type { Slot } from '../../kernel/context.ts';

/** The owner of the work. Slot time is shared fairly between tenants, and then between their credentials. */
export interface Share {
  /** The account or organization that owns the scope of the work, else the calling user or network. */
  readonly tenant: string;
  readonly credential: string;
}

export interface FairQueueOptions {
  readonly name: string;
  /** How much work can run at the same time. */
  readonly slots: number;
  readonly maxWaitMs: number;
  readonly maxQueue: number;
  /**
   * Whether the work runs on the event loop (embedded database). The queue then starts one piece of work per tick, so
   * that the server reads new requests in between, and they join the queue.
   */
  readonly onEventLoop: boolean;
  readonly now?: () => number;
}

/** Registers a listener for a client that disconnects; returns a function that removes it. */
type OnGone = (listener: () => void) => () => void;

/**
 * The bodies of waiting requests stay in memory, so requests are weighted by length: 1 MiB has the weight of 129
 * ordinary requests, and a queue of weight 10,000 holds about 80 MB.
 */
const CHARACTERS_PER_UNIT = 8 * 1024;
const weightOf = (bodyLength: number): number => 1 + Math.floor(bodyLength / CHARACTERS_PER_UNIT);

/**
 * Up to this weight requests wait without a time limit, because a thousand calls at the same time come from a script,
 * not from a flood.
 */
const BURST = 1000;
/** Weight of the newest duration in the moving average. */
const NEWEST_WEIGHT = 0.05;

interface Entry {
  readonly weight: number;
  readonly start: (slot: Slot) => void;
  readonly refuse: () => void;
  /** Whether it was started, refused, or abandoned by the client. */
  isDone: boolean;
}

/** The work of one credential or tenant. `used` is its slot time in milliseconds, on the queue's virtual time. */
interface Credential {
  readonly entries: Entry[];
  used: number;
  waiting: number;
  running: number;
  /** Total weight of the waiting entries. */
  weight: number;
}
interface Tenant {
  readonly credentials: Map<string, Credential>;
  used: number;
  waiting: number;
  running: number;
}

export class FairQueue {
  readonly name: string;
  /** Counters for the metrics. */
  waiting = 0;
  running = 0;
  refused = 0;
  readonly #options: FairQueueOptions;
  readonly #now: () => number;
  readonly #tenants = new Map<string, Tenant>();
  /** The used time of the tenant that was served last. A tenant that joins the queue starts with this value. */
  #virtualTime = 0;
  #meanMs = 1;
  #isScheduled = false;
  #weight = 0;

  constructor(options: FairQueueOptions) {
    this.name = options.name;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Returns a slot, immediately or after waiting; null if the client disconnected. @throws UNAVAILABLE */
  enter(share: Share, onGone?: OnGone, bodyLength = 0): Slot | Promise<Slot | null> {
    const { onEventLoop, slots, maxQueue } = this.#options;
    if (!onEventLoop && this.waiting === 0 && this.running < slots) return this.#begin(share, false);
    const weight = weightOf(bodyLength);
    while (this.#weight > 0 && this.#weight + weight > maxQueue)
      if (!this.#refuseHeaviest(share, weight)) throw this.#refusal();
    return this.#wait(share, onGone, weight);
  }

  #wait(share: Share, onGone: OnGone | undefined, weight: number): Promise<Slot | null> {
    return new Promise((resolve, reject) => {
      const { credential } = this.#sharesOf(share);
      const isBeyondBurst = this.#weight >= BURST;
      const stopWaiting = (): void => {
        stopListening?.();
        clearTimeout(deadline);
      };
      const entry: Entry = {
        weight,
        isDone: false,
        start: (slot) => {
          stopWaiting();
          resolve(slot);
        },
        refuse: () => {
          stopWaiting();
          this.#leave(share, entry);
          reject(this.#refusal());
        },
      };
      credential.entries.push(entry);
      this.#count(share, 1, weight);
      const deadline = isBeyondBurst ? setTimeout(entry.refuse, this.#options.maxWaitMs) : undefined;
      const stopListening = onGone?.(() => {
        if (entry.isDone) return;
        clearTimeout(deadline);
        this.#leave(share, entry);
        resolve(null);
      });
      this.#schedule();
    });
  }

  #sharesOf({ tenant: tenantName, credential: name }: Share): {
    readonly tenant: Tenant;
    readonly credential: Credential;
  } {
    let tenant = this.#tenants.get(tenantName);
    if (!tenant) {
      tenant = { credentials: new Map(), used: this.#virtualTime, waiting: 0, running: 0 };
      this.#tenants.set(tenantName, tenant);
    }
    let credential = tenant.credentials.get(name);
    if (!credential) {
      const used = Math.min(...[...tenant.credentials.values()].map((credential) => credential.used));
      credential = { entries: [], used: Number.isFinite(used) ? used : 0, waiting: 0, running: 0, weight: 0 };
      tenant.credentials.set(name, credential);
    }
    return { tenant, credential };
  }

  #count(share: Share, by: 1 | -1, weight: number): void {
    const { tenant, credential } = this.#sharesOf(share);
    credential.weight += by * weight;
    this.#weight += by * weight;
    credential.waiting += by;
    tenant.waiting += by;
    this.waiting += by;
  }

  /** Removes shares that have no waiting or running work. */
  #forgetIdle({ tenant: tenantName, credential: name }: Share): void {
    const tenant = this.#tenants.get(tenantName);
    const credential = tenant?.credentials.get(name);
    if (credential?.waiting === 0 && credential.running === 0) tenant?.credentials.delete(name);
    if (tenant?.waiting === 0 && tenant.running === 0) this.#tenants.delete(tenantName);
  }

  #leave(share: Share, entry: Entry): void {
    entry.isDone = true;
    this.#count(share, -1, entry.weight);
    const { credential } = this.#sharesOf(share);
    if (credential.waiting === 0) credential.entries.length = 0;
    this.#forgetIdle(share);
  }

  // ── Start and release ──

  #begin(share: Share, waited: boolean): Slot {
    const { tenant, credential } = this.#sharesOf(share);
    const startedAt = this.#now();
    // The estimated time is charged immediately; otherwise one share would get all slots that become free at the same
    // time.
    const estimate = this.#meanMs;
    for (const item of [tenant, credential]) {
      item.used += estimate;
      item.running++;
    }
    this.running++;
    let isReleased = false;
    return {
      waited,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        const elapsed = this.#now() - startedAt;
        this.#meanMs += (elapsed - this.#meanMs) * NEWEST_WEIGHT;
        for (const item of [tenant, credential]) {
          item.used += elapsed - estimate;
          item.running--;
        }
        this.running--;
        this.#forgetIdle(share);
        this.#schedule();
      },
    };
  }

  #schedule(): void {
    if (!this.#options.onEventLoop) return this.#serve();
    if (this.#isScheduled || this.waiting === 0 || this.running >= this.#options.slots) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#serveOne();
      this.#schedule();
    });
  }

  #serve(): void {
    while (this.waiting > 0 && this.running < this.#options.slots) this.#serveOne();
  }

  #serveOne(): void {
    const [tenantName, tenant] = leastUsed(this.#tenants);
    const [credentialName, credential] = leastUsed(tenant?.credentials ?? new Map<string, Credential>());
    if (!tenant || !credential) return;
    this.#virtualTime = tenant.used;
    let entry = credential.entries.shift();
    while (entry?.isDone) entry = credential.entries.shift();
    if (!entry) return;
    const share = { tenant: tenantName, credential: credentialName };
    entry.isDone = true;
    this.#count(share, -1, entry.weight);
    entry.start(this.#begin(share, true));
  }

  // ── Refusal ──

  #refusal(): Error {
    this.refused++;
    return fail('UNAVAILABLE', { headers: { 'Retry-After': '1' } });
  }

  /**
   * Refuses the newest entry of the credential with the largest waiting weight. Returns false if, counting the new
   * entry, its own credential has the largest weight.
   */
  #refuseHeaviest(share: Share, weight: number): boolean {
    const waiting = this.#tenants.get(share.tenant)?.credentials.get(share.credential)?.weight ?? 0;
    const own = waiting + weight - 1;
    let heaviest: Credential | null = null;
    for (const { credentials } of this.#tenants.values())
      for (const credential of credentials.values())
        if (credential.weight > (heaviest?.weight ?? own)) heaviest = credential;
    const entry = heaviest?.entries.findLast(({ isDone }) => !isDone);
    if (!entry) return false;
    entry.refuse();
    return true;
  }
}

function leastUsed<T extends { readonly used: number; readonly waiting: number }>(
  shares: ReadonlyMap<string, T>,
): readonly [string, T | undefined] {
  let least: readonly [string, T | undefined] = ['', undefined];
  for (const [name, share] of shares)
    if (share.waiting > 0 && (!least[1] || share.used < least[1].used)) least = [name, share];
  return least;
}
