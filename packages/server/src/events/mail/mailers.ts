import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { Transporter } from 'nodemailer';
import type { Clock, Mailer } from '../../kernel/ports.ts';
import { headerText } from './mail-layout.ts';

/** Prints mails, so that developers see the links. */
export function consoleMailer(print: (text: string) => void): Mailer {
  return {
    async send({ to, subject, text }) {
      print(`\n─── Mail to ${headerText(to)}: ${headerText(subject)} ───\n${text.trimEnd()}\n───\n`);
    },
  };
}

const realClock: Clock = { now: () => new Date() };

/**
 * Writes one text file per mail: headers, an empty line, the text. File names sort by time, and a file is complete when
 * it appears under its name.
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
      // Links in mails are credentials, so only the operating-system user of the service may read them.
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const unfinished = join(directory, `.${name}.tmp`);
      await writeFile(unfinished, content, { mode: 0o600 });
      await rename(unfinished, join(directory, name));
    },
  };
}

/** Sends mails by SMTP (`smtp(s)://user:pass@host:port`). Rejects when the server rejects; the outbox tries again. */
export function smtpMailer(url: string, from: string): Mailer {
  let transport: Transporter | undefined;
  return {
    async send({ to, subject, text, html }) {
      // Loaded by the first mail, because many processes never send one by SMTP.
      const { createTransport } = await import('nodemailer');
      transport ??= createTransport(url, { from, disableFileAccess: true, disableUrlAccess: true });
      await transport.sendMail({ to, subject, text, html });
    },
  };
}
