import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { Transporter } from 'nodemailer';
import type { Clock, Mailer } from '../../kernel/ports.ts';
import { headerText } from './mail-layout.ts';

/** Prints mails to the terminal, so that developers see the links. */
export function consoleMailer(print: (text: string) => void): Mailer {
  return {
    async send({ to, senderName, subject, text }) {
      const from = senderName === undefined ? '' : ` from ${headerText(senderName)}`;
      print(`\n─── Mail to ${headerText(to)}${from}: ${headerText(subject)} ───\n${text.trimEnd()}\n───\n`);
    },
  };
}

const realClock: Clock = { now: () => new Date() };

/**
 * Writes one text file per mail: headers, an empty line, the text. File names sort by time. A file is complete when it
 * appears under its final name.
 */
export function fileMailer(directory: string, clock: Clock = realClock): Mailer {
  let count = 0;
  return {
    async send({ to, senderName, subject, text }) {
      const now = clock.now();
      const order = String(++count).padStart(6, '0');
      const name = `${now.toISOString().replaceAll(':', '-')}-${order}-${randomBytes(4).toString('hex')}.eml`;
      const content = [
        `To: ${headerText(to)}`,
        ...(senderName === undefined ? [] : [`From: ${headerText(senderName)}`]),
        `Subject: ${headerText(subject)}`,
        `Date: ${now.toUTCString()}`,
        'Content-Type: text/plain; charset=utf-8',
        '',
        text,
      ].join('\n');
      // Links in mails are credentials, so only the operating-system user of the service may read the files.
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const unfinished = join(directory, `.${name}.tmp`);
      await writeFile(unfinished, content, { mode: 0o600 });
      await rename(unfinished, join(directory, name));
    },
  };
}

/**
 * Sends mails by SMTP (`smtp(s)://user:pass@host:port`). Rejects if the server rejects a mail; the outbox then tries
 * again.
 */
export function smtpMailer(url: string, from: string): Mailer {
  let transport: Transporter | undefined;
  const address = /<([^>]+)>$/.exec(from)?.[1] ?? from;
  return {
    async send({ to, senderName, subject, text, html }) {
      // Imported for the first mail, because many processes never send one by SMTP.
      const { createTransport } = await import('nodemailer');
      transport ??= createTransport(url, { from, disableFileAccess: true, disableUrlAccess: true });
      // The sender's address is always the service's; the library quotes and encodes the name.
      const sender = senderName === undefined ? {} : { from: { name: headerText(senderName), address } };
      await transport.sendMail({ to, ...sender, subject, text, html });
    },
  };
}
