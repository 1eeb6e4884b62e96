/** Where the token of a call comes from. */
export interface Credential {
  /** True: the caller gives the token, and public operations carry it too. */
  readonly isGiven: boolean;
  /** @throws DoorwardError if there is none; never waits longer than the signal allows */
  token(signal: AbortSignal): Promise<string>;
  /** The service refused this token. True: another attempt may have a different one. */
  refuse(token: string): boolean | Promise<boolean>;
}
