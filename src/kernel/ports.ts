/** The world outside: time, identifiers, mail. Everything else that a run touches is real, in tests too. */
export interface Clock {
  now(): Date;
}

export interface Ids {
  /** UUID version 7: new rows, in order of creation. */
  next(): string;
  /** UUID version 4: public halves of credentials, which must not tell when they were made. */
  random(): string;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Resolves when the mail is handed over; rejects when it must be tried again. */
  send(mail: Mail): Promise<void>;
}
