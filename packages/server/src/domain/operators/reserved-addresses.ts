import { inArray } from 'drizzle-orm';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { preparedOperators } from '../../features/installation/operator.ts';
import type { Context } from '../../kernel/context.ts';

/** Of these addresses, those whose verified owner is an operator, or becomes one: their owner has to prove them by a mail. */
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
