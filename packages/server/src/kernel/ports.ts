/** Ports to the outside: time, delays, identifiers, mail, names. Tests replace only these. */
export interface Clock {
  now(): Date;
}

export interface Delay {
  /** Resolves after this many milliseconds. */
  wait(milliseconds: number): Promise<void>;
}

export interface Ids {
  /** UUID version 7, for new rows: sorted by creation. */
  next(): string;
  /** UUID version 4, for public ids of credentials, which must not reveal when they were created. */
  random(): string;
}

export interface Mail {
  readonly to: string;
  /** The name before the address of the service; absent: that of the service. */
  readonly senderName?: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Resolves when the mail server accepted the mail; rejects if the send must be retried. */
  send(mail: Mail): Promise<void>;
}

export interface DnsResolver {
  /**
   * The texts of the TXT records with this name; none when there is no such record.
   * Rejects when no name server answered, so that it is unknown whether there is one.
   */
  texts(name: string): Promise<readonly string[]>;
}
