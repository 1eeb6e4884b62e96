/** A source of tokens for calls. */
export interface Credential {
  /** True if the caller passed the token; public operations then send it too. */
  readonly isGiven: boolean;
  /**
   * Returns the current token. Stops waiting when the signal is aborted.
   *
   * @throws DoorwardError if there is no token
   */
  token(signal: AbortSignal): Promise<string>;
  /** Reports that the service refused this token. Returns whether another attempt may get a different token. */
  refuse(token: string): boolean | Promise<boolean>;
}
