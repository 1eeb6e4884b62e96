import type { Credential } from '../calls/credential.ts';
import { ConfigError } from '../contracts/errors.ts';
import { isTokenText } from './token-text.ts';

/** A token supplied by the caller: a string, or a function that is called before each attempt. */
export class GivenToken implements Credential {
  readonly isGiven = true;
  readonly #give: string | (() => string | Promise<string>);

  constructor(give: string | (() => string | Promise<string>)) {
    this.#give = give;
  }

  async token(): Promise<string> {
    const text: unknown = typeof this.#give === 'function' ? await this.#give() : this.#give;
    if (!isTokenText(text)) throw new ConfigError('`token` must give a JWT of at most 8 KiB.', ['token']);
    return text;
  }

  /** True for a function, because another attempt may get another token from it. A string never changes. */
  refuse(): boolean {
    return typeof this.#give === 'function';
  }
}

/** For a client without a credential, which can call public operations and ask questions about tokens. */
export const noCredential: Credential = {
  isGiven: false,
  token: () =>
    Promise.reject(
      new ConfigError(
        'This call needs a credential.',
        ['clientId', 'clientSecret', 'token'],
        'Give `clientId` and `clientSecret`, or `token`.',
      ),
    ),
  refuse: () => false,
};
