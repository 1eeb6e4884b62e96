import type { Call } from '../kernel/context.ts';
import { chargeOf, credentialKey } from '../kernel/charge.ts';
import type { NamedOperation, RateClass } from '../kernel/operation.ts';
import type { Stages } from '../kernel/stages.ts';

/** A root field of the query or mutation, with the position of its answer. */
export interface RootField {
  readonly place: string;
  readonly name: string;
  readonly input: unknown;
}

/** What one HTTP request counts as: one call for each root field, in the class of its operation. */
export interface Charges {
  /** Counts a field. True if the points of its own class are included. */
  add(field: RootField): boolean;
  /** Takes all points at once. @throws RATE_LIMITED, before anything ran */
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
    const counted = points.get(`${cls} ${key}`);
    if (counted) counted.count += more;
    else points.set(`${cls} ${key}`, { cls, key, count: more });
  }

  return {
    add({ name, input }) {
      const op = operations.get(name);
      if (op?.rate === 'network') count('general', call.network, 1);
      else if (op?.rate !== 'check') count('general', caller, 1);
      if (!op?.limit) return false;
      const charge = chargeOf(op, input, call, services);
      if (charge) count(charge.cls, charge.key, charge.points);
      // A caller who is refused before the question is decided pays as for any other call.
      else if (op.rate === 'check') count('general', caller, 1);
      return charge !== null;
    },

    async take() {
      if (points.size === 0) count('general', caller, 1);
      for (const { cls, key, count } of points.values()) await limit(cls, key, call, count);
    },
  };
}
