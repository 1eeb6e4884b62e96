import type { Call, Principal, Services } from './context.ts';
import type { NamedOperation, RateClass } from './operation.ts';

/** What a call counts as in the class of its operation. */
export interface Charge {
  readonly cls: RateClass;
  readonly key: string;
  readonly points: number;
}

export function chargeFor(
  { limit }: NamedOperation,
  input: unknown,
  call: Call,
  principal: Principal | null,
  services: Services,
): Charge | null {
  const key = limit?.key(input as never, call, services) ?? null;
  if (!limit || key === null) return null;
  const points = limit.points?.(input as never) ?? 1;
  return { cls: limit.class, key: key || credentialKey(principal, call), points };
}

/**
 * The charge of a call before it is made; null for a call that is not counted, or that is refused before it is counted.
 */
export function chargeOf(op: NamedOperation, raw: unknown, call: Call, services: Services): Charge | null {
  const { ok } = call.authentication;
  const principal = call.authentication.ok ? call.authentication.principal : null;
  if (op.access !== 'public' && (!ok || (principal?.mfaPending && !op.beforeMfa))) return null;
  const { success, data } = op.schema.safeParse(raw ?? {});
  return success ? chargeFor(op, data, call, principal, services) : null;
}

/** Limits count a user or a key; without one, the network. */
export const credentialKey = (principal: Principal | null, call: Pick<Call, 'network'>): string =>
  principal ? (principal.type === 'ApiKey' ? principal.credentialId : principal.userId) : call.network;
