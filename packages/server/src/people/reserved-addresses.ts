import { inArray } from 'drizzle-orm';
import { withoutRls } from '../db/tenancy/rls.ts';
import { preparedOperators } from '../schema/operators/operator.ts';
import type { Context } from '../services.ts';

/**
 * Returns those of the addresses that make their verified owner an operator, because they are in `OPERATORS` or were
 * prepared by the command line.
 */
export async function reservedAddresses(
  { tx, services }: Pick<Context, 'tx' | 'services'>,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const prepared = await withoutRls(tx, () =>
    tx
      .select({ address: preparedOperators.address })
      .from(preparedOperators)
      .where(inArray(preparedOperators.address, [...addresses])),
  );
  const configured = services.config.operators.addresses;
  return new Set([
    ...prepared.map(({ address }) => address),
    ...addresses.filter((address) => configured.includes(address)),
  ]);
}
