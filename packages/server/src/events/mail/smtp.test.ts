import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeMail } from './mail-layout.ts';
import { smtpMailer } from './mailers.ts';

/** A minimal SMTP server (RFC 5321) that stores the received mail for the test. */
const received: { from: string; to: string[]; data: string }[] = [];
let refusing = false;

function converse(socket: Socket): void {
  let mail = { from: '', to: [] as string[], data: '' };
  let inData = false;
  let rest = '';
  const say = (line: string) => void socket.write(`${line}\r\n`);
  say('220 test');
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (inData) {
        if (line === '.') {
          inData = false;
          received.push(mail);
          mail = { from: '', to: [], data: '' };
          say('250 kept');
        } else mail.data += `${line.replace(/^\./, '')}\n`;
      } else if (/^(EHLO|HELO)/.test(line)) say('250 test');
      else if (line.startsWith('MAIL FROM:')) {
        mail.from = line.slice(10);
        say(refusing ? '451 come again later' : '250 ok');
      } else if (line.startsWith('RCPT TO:')) {
        mail.to.push(line.slice(8));
        say('250 ok');
      } else if (line === 'DATA') {
        inData = true;
        say('354 go on');
      } else if (line === 'QUIT') {
        say('221 bye');
        socket.end();
      } else say('250 ok');
    }
  });
}

const server = createServer(converse);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

const mailer = () =>
  smtpMailer(
    `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    'Doorward <no-reply@example.test>',
  );

const mail = composeMail({
  to: 'ada@example.test',
  language: 'de',
  subject: 'Bestätigen Sie Ihre Adresse\r\nBcc: everybody@example.test',
  paragraphs: ['Guten Tag & <b>willkommen</b>'],
  action: { label: 'Bestätigen', url: 'https://example.test/verify?token=abc' },
});

it('sends text and HTML to one address, without injected headers', async () => {
  await mailer().send(mail);
  const [got] = received;
  expect(got?.from).toContain('<no-reply@example.test>');
  expect(got?.to).toEqual(['<ada@example.test>']);
  expect(got?.data).toMatch(/^Content-Type: multipart\/alternative/m);
  expect(got?.data).toMatch(/^Content-Type: text\/html; charset=utf-8/m);
  const headers = got?.data.split('\n\n')[0];
  expect(headers).toMatch(/^Subject:/m);
  expect(headers).not.toMatch(/^Bcc:/im);
});

it('changes the name of the sender and never its address', async () => {
  await mailer().send({
    ...mail,
    senderName: 'Bank" <security@bank.example>, Böards\r\nBcc: all@example.test',
  });
  const sent = received.at(-1);
  expect(sent?.from).toContain('<no-reply@example.test>');
  expect(sent?.to).toEqual(['<ada@example.test>']);
  const headers = (sent?.data.split('\n\n')[0] ?? '').replace(/\n\s+/g, ' ');
  expect(headers).toMatch(/^From: .* <no-reply@example\.test>$/m);
  expect(headers).not.toMatch(/^Bcc:|<security@/im);
});

it('rejects when the server rejects, so that the outbox tries again', async () => {
  refusing = true;
  await expect(mailer().send(mail)).rejects.toThrow(/451/);
});
