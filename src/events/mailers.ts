import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { Transporter } from 'nodemailer';
import type { Clock, Mailer } from '../kernel/ports.ts';
import { headerText } from './mail-layout.ts';

/** Prints mails, so that a developer sees the links. */
export function consoleMailer(print: (text: string) => void): Mailer {
  return {
    async send({ to, subject, text }) {
      print(`\n─── Mail to ${headerText(to)}: ${headerText(subject)} ───\n${text.trimEnd()}\n───\n`);
    },
  };
}

const realClock: Clock = { now: () => new Date() };

/**
 * One text file per mail: headers, an empty line, the text. Names sort by the time of sending, and a file is complete
 * when it appears under its name.
 */
export function fileMailer(directory: string, clock: Clock = realClock): Mailer {
  let count = 0;
  return {
    async send({ to, subject, text }) {
      const now = clock.now();
      const order = String(++count).padStart(6, '0');
      const name = `${now.toISOString().replaceAll(':', '-')}-${order}-${randomBytes(4).toString('hex')}.eml`;
      const content = [
        `To: ${headerText(to)}`,
        `Subject: ${headerText(subject)}`,
        `Date: ${now.toUTCString()}`,
        'Content-Type: text/plain; charset=utf-8',
        '',
        text,
      ].join('\n');
      // Links in mails sign people in, so only this user of the machine may read them.
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const unfinished = join(directory, `.${name}.tmp`);
      await writeFile(unfinished, content, { mode: 0o600 });
      await rename(unfinished, join(directory, name));
    },
  };
}

/** Hands mails to an SMTP server (`smtp(s)://user:pass@host:port`); a refusal is tried again by the outbox. */
export function smtpMailer(url: string, from: string): Mailer {
  let transport: Transporter | undefined;
  return {
    async send({ to, subject, text, html }) {
      // Loaded by the first mail, because many processes never send one to a server.
      const { createTransport } = await import('nodemailer');
      transport ??= createTransport(url, { from, disableFileAccess: true, disableUrlAccess: true });
      await transport.sendMail({ to, subject, text, html });
    },
  };
}
