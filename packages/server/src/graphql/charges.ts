import type { Call } from '../kernel/context.ts';
import { expectedCharge, credentialKey } from '../kernel/charge.ts';
import type { NamedOperation, RateClass } from '../kernel/operation.ts';
import type { Stages } from '../kernel/stages.ts';

/** A root field of a query or mutation; `key` is its response key. */
export interface RootField {
  readonly key: string;
  readonly name: string;
  readonly input: unknown;
}

/** The rate-limit points of one HTTP request. Each root field counts like a call of its operation. */
interface Charges {
  /** Counts a field. Returns whether this includes the points of the operation's own class. */
  add(field: RootField): boolean;
  /** Spends the counted points. @throws RATE_LIMITED */
  take(): Promise<void>;
}

export function createCharges(
  operations: ReadonlyMap<string, NamedOperation>,
  call: Call,
  { limit, services }: Pick<Stages, 'limit' | 'services'>,
): Charges {
  const { authentication } = call;
  const principal = authentication.ok ? authentication.principal : null;
  const caller = credentialKey(principal, call);
  const points = new Map<string, { readonly cls: RateClass; readonly key: string; count: number }>();

  function count(cls: RateClass, key: string, more: number): void {
    const existing = points.get(`${cls} ${key}`);
    if (existing) existing.count += more;
    else points.set(`${cls} ${key}`, { cls, key, count: more });
  }

  return {
    add({ name, input }) {
      const op = operations.get(name);
      if (op?.rate === 'network') count('general', call.network, 1);
      else if (op?.rate !== 'check') count('general', caller, 1);
      if (!op?.limit) return false;
      const charge = expectedCharge(op, input, call, services);
      if (charge) count(charge.cls, charge.key, charge.points);
      // A check that will be refused before its decision counts like any other call.
      else if (op.rate === 'check') count('general', caller, 1);
      return charge !== null;
    },

    async take() {
      if (points.size === 0) count('general', caller, 1);
      for (const { cls, key, count } of points.values()) await limit(cls, key, call, count);
    },
  };
}
