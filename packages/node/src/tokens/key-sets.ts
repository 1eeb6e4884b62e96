import type { CryptoKey } from 'jose';
import type { Clock, Transport } from '../calls/transport.ts';
import type { Issuer } from './issuer.ts';
import { KeySet } from './key-set.ts';

/**
 * Limits the memory; beyond it the oldest key set is dropped. Issuers come only from scopes in options, so a client
 * needs few.
 */
const MOST_ISSUERS = 1000;

/** The key sets of a client, one for each issuer. */
export class KeySets {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #sets = new Map<string, KeySet>();

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  readonly key = (issuer: Issuer, kid: string): Promise<CryptoKey | undefined> => {
    let keys = this.#sets.get(issuer.id);
    if (!keys) {
      if (this.#sets.size >= MOST_ISSUERS) this.#sets.delete(this.#sets.keys().next().value as string);
      this.#sets.set(issuer.id, (keys = new KeySet(this.#transport, issuer.jwksPath, this.#clock)));
    }
    return keys.key(kid);
  };
}
