import { verifyOffline, type TokenChecks, type VerifiedToken } from '../tokens/verify-token.ts';

const MOST_TOKENS = 20_000;

/**
 * Caches verified tokens, so that each signature is verified only once. Callers still check at each use whether the
 * token has ended.
 */
export class ProvenTokens {
  readonly #checks: (now: number) => TokenChecks;
  readonly #proofs = new Map<string, VerifiedToken>();

  constructor(checks: (now: number) => TokenChecks) {
    this.#checks = checks;
  }

  /** Returns the token if it was verified before. */
  get(token: string): VerifiedToken | undefined {
    return this.#proofs.get(token);
  }

  /**
   * Verifies a token and remembers it.
   *
   * @throws TokenError unless the token is valid now
   */
  async prove(token: string, now: number): Promise<VerifiedToken> {
    const proof = await verifyOffline(token, this.#checks(now));
    if (this.#proofs.size >= MOST_TOKENS) this.#proofs.delete(this.#proofs.keys().next().value as string);
    this.#proofs.set(token, proof);
    return proof;
  }
}
