import { Resolver } from 'node:dns/promises';
import type { DnsResolver } from '../../kernel/ports.ts';

const TIMEOUT_MS = 5000;
/** The maximum number of records that are read for a name. Other services may have records under the same name. */
const MAX_RECORDS = 200;
const absent = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Creates a resolver that queries the given name servers, or those of the system if none are given. A query ends after
 * five seconds, whatever the servers do.
 */
export function createDnsResolver({ resolvers }: { readonly resolvers: readonly string[] }): DnsResolver {
  return {
    async texts(name) {
      const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
      if (resolvers.length > 0) resolver.setServers(resolvers);
      const timer = setTimeout(() => resolver.cancel(), TIMEOUT_MS);
      try {
        // A long text is split into several parts of one record.
        const records = await resolver.resolveTxt(name);
        return records.slice(0, MAX_RECORDS).map((parts) => parts.join(''));
      } catch (error) {
        if (absent.has((error as NodeJS.ErrnoException).code ?? '')) return [];
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
