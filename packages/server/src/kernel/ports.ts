/* Ports to the outside: time, delays, identifiers, mail, DNS. Tests replace only these. */

export interface Clock {
  now(): Date;
}

export interface Delay {
  /** Resolves after this many milliseconds. */
  wait(milliseconds: number): Promise<void>;
}

export interface Ids {
  /** Returns a UUID version 7 for a new row; such ids are sorted by creation. */
  next(): string;
  /** Returns a UUID version 4 for the public id of a credential, which must not reveal when it was created. */
  random(): string;
}

export interface Mail {
  readonly to: string;
  /** The sender's display name. Default: the display name of the service. */
  readonly senderName?: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Sends a mail. Resolves when the mail server has accepted it; rejects if the mail must be sent again. */
  send(mail: Mail): Promise<void>;
}

export interface DnsResolver {
  /**
   * Returns the texts of the TXT records with this name; empty if there is no such record. Rejects if no name server
   * gave a usable answer, so that it is unknown whether there is a record.
   */
  texts(name: string): Promise<readonly string[]>;
}
