import { fail } from '../../errors.ts';
import type { Slot } from '../../kernel/context.ts';

/**
 * A fair queue in front of something scarce, such as connections to the database. So many pieces of work run at once; who
 * comes while all slots are taken waits. Waiting tenants are served by the time that they have used: next is the tenant
 * that used least, within the tenant the credential that used least, and of a credential the first to come. So a flood
 * delays the tenant and the credential that send it, and nobody else.
 *
 * Waiting is no failure. Behind a thousand others a newcomer may wait for `maxWaitMs`, and is refused if their turn has not
 * come by then. A refusal that is told at once would only bring the next attempt sooner: a flood of refusals costs more than
 * a queue of connections that wait.
 */
export interface Share {
  /** Who owns what the work is for: the account or organization, or else the user or network that asks. */
  readonly tenant: string;
  readonly credential: string;
}

export interface FairQueueOptions {
  readonly name: string;
  /** How many run at once. */
  readonly slots: number;
  readonly maxWaitMs: number;
  readonly maxQueue: number;
  /**
   * Work that runs on the event loop itself (the embedded database): one piece begins in each turn of the loop, so that
   * new requests are read in between and join the queue.
   */
  readonly onEventLoop: boolean;
  readonly now?: () => number;
}

/** Calls back when the client went away; answers how to stop listening. */
type OnGone = (listener: () => void) => () => void;

/**
 * Who waits keeps their body in memory. So one of 1 MiB counts like 129 ordinary ones, and 10,000 that wait keep some 80 MB.
 */
const CHARACTERS_OF_ONE = 8 * 1024;
const weightOf = (bodyLength: number): number => 1 + Math.floor(bodyLength / CHARACTERS_OF_ONE);

/** A thousand calls at once are a script or a page, and no flood: so many may always wait, however long it takes. */
const BURST = 1000;
/** Weight of the newest duration in the mean. */
const NEWEST = 0.05;

interface Entry {
  readonly weight: number;
  readonly start: (slot: Slot) => void;
  readonly refuse: () => void;
  /** Refused, or the client went away. */
  left: boolean;
}

/** The waiting work of one credential, or of one tenant. `used`: milliseconds of slots, on the clock of the queue. */
interface Credential {
  readonly entries: Entry[];
  used: number;
  waiting: number;
  running: number;
  /** Of what is waiting. */
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
  /** What the tenant that was served last had used: who comes anew starts from here. */
  #clock = 0;
  #meanMs = 1;
  #isScheduled = false;
  #weight = 0;

  constructor(options: FairQueueOptions) {
    this.name = options.name;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** A slot at once where one is free, or when its turn comes. Null: the client went away. @throws UNAVAILABLE */
  enter(share: Share, onGone?: OnGone, bodyLength = 0): Slot | Promise<Slot | null> {
    const { onEventLoop, slots, maxQueue } = this.#options;
    if (!onEventLoop && this.waiting === 0 && this.running < slots) return this.#begin(share, false);
    const weight = weightOf(bodyLength);
    while (this.#weight > 0 && this.#weight + weight > maxQueue)
      if (!this.#makeRoom(share, weight)) throw this.#refusal();
    return this.#wait(share, onGone, weight);
  }

  #wait(share: Share, onGone: OnGone | undefined, weight: number): Promise<Slot | null> {
    return new Promise((resolve, reject) => {
      const { credential } = this.#sharesOf(share);
      const isLate = this.#weight >= BURST;
      const leave = (): void => {
        stopListening?.();
        clearTimeout(deadline);
      };
      const entry: Entry = {
        weight,
        left: false,
        start: (slot) => {
          leave();
          resolve(slot);
        },
        refuse: () => {
          leave();
          this.#leave(share, entry);
          reject(this.#refusal());
        },
      };
      credential.entries.push(entry);
      this.#count(share, 1, weight);
      const deadline = isLate ? setTimeout(entry.refuse, this.#options.maxWaitMs) : undefined;
      const stopListening = onGone?.(() => {
        if (entry.left) return;
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
      tenant = { credentials: new Map(), used: this.#clock, waiting: 0, running: 0 };
      this.#tenants.set(tenantName, tenant);
    }
    let credential = tenant.credentials.get(name);
    if (!credential) {
      const used = Math.min(...[...tenant.credentials.values()].map((one) => one.used));
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

  /** A share that neither waits nor works is forgotten. */
  #tidy({ tenant: tenantName, credential: name }: Share): void {
    const tenant = this.#tenants.get(tenantName);
    const credential = tenant?.credentials.get(name);
    if (credential?.waiting === 0 && credential.running === 0) tenant?.credentials.delete(name);
    if (tenant?.waiting === 0 && tenant.running === 0) this.#tenants.delete(tenantName);
  }

  #leave(share: Share, entry: Entry): void {
    entry.left = true;
    this.#count(share, -1, entry.weight);
    const { credential } = this.#sharesOf(share);
    if (credential.waiting === 0) credential.entries.length = 0;
    this.#tidy(share);
  }

  // ── Beginning and ending ──

  #begin(share: Share, waited: boolean): Slot {
    const { tenant, credential } = this.#sharesOf(share);
    const began = this.#now();
    // Charged at once with what work usually takes, so that one share does not get all slots that become free together.
    const estimate = this.#meanMs;
    for (const one of [tenant, credential]) {
      one.used += estimate;
      one.running++;
    }
    this.running++;
    let isReleased = false;
    return {
      waited,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        const took = this.#now() - began;
        this.#meanMs += (took - this.#meanMs) * NEWEST;
        for (const one of [tenant, credential]) {
          one.used += took - estimate;
          one.running--;
        }
        this.running--;
        this.#tidy(share);
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
    this.#clock = tenant.used;
    let entry = credential.entries.shift();
    while (entry?.left) entry = credential.entries.shift();
    if (!entry) return;
    const share = { tenant: tenantName, credential: credentialName };
    entry.left = true;
    this.#count(share, -1, entry.weight);
    entry.start(this.#begin(share, true));
  }

  // ── Refusing ──

  #refusal(): Error {
    this.refused++;
    return fail('UNAVAILABLE', { headers: { 'Retry-After': '1' } });
  }

  /** Refuses the newest of the credential with the most waiting, unless the newcomer would have as much. */
  #makeRoom(share: Share, weight: number): boolean {
    const waiting = this.#tenants.get(share.tenant)?.credentials.get(share.credential)?.weight ?? 0;
    const own = waiting + weight - 1;
    let most: Credential | null = null;
    for (const { credentials } of this.#tenants.values())
      for (const credential of credentials.values())
        if (credential.weight > (most?.weight ?? own)) most = credential;
    const entry = most?.entries.findLast(({ left }) => !left);
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
