import type { Call, Principal } from './context.ts';
import type { CallInput, NamedOperation, RateClass } from './operation.ts';

/** How a call counts towards the rate limit of its operation's class. */
interface Charge {
  readonly cls: RateClass;
  readonly key: string;
  readonly points: number;
}

export function chargeFor(
  { limit }: NamedOperation,
  input: CallInput,
  call: Call,
  principal: Principal | null,
  services: unknown,
): Charge | null {
  const key = limit?.key(input, call, services) ?? null;
  if (!limit || key === null) return null;
  const points = limit.points?.(input) ?? 1;
  return { cls: limit.class, key: key || credentialKey(principal, call), points };
}

/** The charge that a call is expected to have; null if it is not counted, or will be refused before it is counted. */
export function expectedCharge(
  op: NamedOperation,
  raw: unknown,
  call: Call,
  services: unknown,
): Charge | null {
  const { ok } = call.authentication;
  const principal = call.authentication.ok ? call.authentication.principal : null;
  if (op.access !== 'public' && (!ok || (principal?.mfaPending && !op.admits?.includes('pending-mfa'))))
    return null;
  const { success, data } = op.schema.safeParse(raw ?? {});
  return success ? chargeFor(op, data as CallInput, call, principal, services) : null;
}

/** The key by which calls are limited: the user or API key, or the network for anonymous calls. */
export const credentialKey = (principal: Principal | null, call: Pick<Call, 'network'>): string =>
  principal ? (principal.type === 'ApiKey' ? principal.credentialId : principal.userId) : call.network;
