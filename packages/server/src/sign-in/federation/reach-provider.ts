import type { Services } from '../../services.ts';
import { ProviderFault } from '../../providers/provider.ts';
import type { ProviderEnd } from '../../providers/providers.ts';

/**
 * Whether the provider can be reached now. Waits for the network, so call it in `prepare`, outside the transaction.
 *
 * @throws PROVIDER_NOT_CONFIGURED
 */
export async function reachProvider(services: Services, key: string, end: ProviderEnd): Promise<boolean> {
  const provider = services.identityProviders.at(key, end);
  try {
    await provider.reach();
    return true;
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    services.warn(fault, `${provider.name} could not be reached`);
    return false;
  }
}
