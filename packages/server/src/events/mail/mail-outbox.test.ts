import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKek } from '../../crypto/keys/kek.ts';
import { openEmbedded, type Database } from '../../db/connection/open.ts';
import type { Mail } from '../../kernel/ports.ts';
import { composeMail } from './mail-layout.ts';
import { createMailOutbox } from './mail-outbox.ts';
import { consoleMailer, fileMailer } from './mailers.ts';
import { mails } from '../../schema/events/mail.ts';
import { preparedFiles } from '../../../test/support/databases/prepared-files.ts';

const HOUR = 3_600_000;
const kek = createKek({ current: Buffer.alloc(32, 1), old: [] });
const mail: Mail = {
  to: 'ada@example.test',
  subject: 'Hello',
  text: 'The secret link',
  html: '<p>The secret link</p>',
};

let database: Database;
let now: Date;
let logs: string[];
beforeAll(async () => {
  database = await openEmbedded(null, preparedFiles());
});
afterAll(() => database.close());
beforeEach(async () => {
  now = new Date('2030-01-01T00:00:00Z');
  logs = [];
  await database.pool.delete(mails);
});

const outboxWith = (send: (sent: Mail) => Promise<void>, sealing = kek) =>
  createMailOutbox({
    pool: database.pool,
    kek: sealing,
    mailer: { send },
    clock: { now: () => now },
    ids: { next: () => v7(), random: () => v7() },
    log: (error, message) => void logs.push(`${message} ${String(error)}`),
  });
const rows = () => database.pool.select().from(mails);
const broken = async () => {
  throw new Error('the mail server is away');
};

describe('the outbox', () => {
  test('deletes queued mails to an address, also under an old key, and reveals no address', async () => {
    const former = outboxWith(broken);
    await former.queue(database.pool, mail);
    const changed = createKek({ current: Buffer.alloc(32, 2), old: [Buffer.alloc(32, 1)] });
    const outbox = outboxWith(broken, changed);
    await outbox.queue(database.pool, mail);
    await outbox.queue(database.pool, { ...mail, to: 'bob@example.test' });
    const [first, second, other] = await rows();
    expect(new Set([first?.recipient, second?.recipient, other?.recipient]).size).toBe(3);
    await outbox.discard(database.pool, []);
    expect(await rows()).toHaveLength(3);
    await outbox.discard(database.pool, ['ada@example.test', 'eve@example.test']);
    expect((await rows()).map(({ id }) => id)).toEqual([other?.id]);
  });

  test('stores mails sealed, sends them once and deletes them', async () => {
    const sent: Mail[] = [];
    const outbox = outboxWith(async (mail) => void sent.push(mail));
    await outbox.queue(database.pool, mail);
    expect(JSON.stringify(await rows())).not.toMatch(/secret|ada@|Hello/);
    await outbox.flush();
    await outbox.flush();
    expect(sent).toEqual([mail]);
    expect(await rows()).toEqual([]);
  });

  test('sends no mail of a failed transaction', async () => {
    const sent: Mail[] = [];
    const outbox = outboxWith(async (mail) => void sent.push(mail));
    const failing = database.transaction(async (tx) => {
      await outbox.queue(tx, mail);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await outbox.flush();
    expect(sent).toEqual([]);
  });

  test('two processes and many calls send each mail once', async () => {
    const sent: string[] = [];
    const send = async (mail: Mail) => {
      await new Promise((resolve) => setImmediate(resolve));
      sent.push(mail.subject);
    };
    const outboxes = [outboxWith(send), outboxWith(send)];
    const subjects = Array.from({ length: 20 }, (_, i) => `mail ${i}`);
    for (const subject of subjects) await outboxes[0]?.queue(database.pool, { ...mail, subject });
    await Promise.all(outboxes.flatMap((outbox) => [outbox.flush(), outbox.flush(), outbox.flush()]));
    expect(sent.toSorted()).toEqual(subjects.toSorted());
  });

  test('a mail that is queued during a pass is sent by that pass', async () => {
    const sent: string[] = [];
    const outbox = outboxWith(async ({ subject }) => {
      sent.push(subject);
      if (subject !== 'first') return;
      await outbox.queue(database.pool, { ...mail, subject: 'second' });
      void outbox.flush();
    });
    await outbox.queue(database.pool, { ...mail, subject: 'first' });
    await outbox.flush();
    expect(sent).toEqual(['first', 'second']);
  });

  test('tries again later each time, and gives up after a day', async () => {
    const times: number[] = [];
    const start = now.getTime();
    const outbox = outboxWith(async () => {
      times.push((now.getTime() - start) / 1000);
      await broken();
    });
    await outbox.queue(database.pool, mail);
    for (let [row] = await rows(); row; [row] = await rows()) {
      now = row.nextAttemptAt;
      await outbox.flush();
      expect(times.length).toBeLessThan(30);
    }
    expect(times.slice(0, 4)).toEqual([0, 30, 90, 210]);
    expect(times.at(-1)).toBeLessThanOrEqual(24 * 3600);
    expect(await rows()).toEqual([]);
    expect(logs.at(-1)).toContain('given up');
    expect(logs.join()).not.toMatch(/secret|ada@/);
  });

  test('a mail that fails does not block the others', async () => {
    const sent: string[] = [];
    const outbox = outboxWith(async ({ subject }) =>
      subject === 'bad' ? broken() : void sent.push(subject),
    );
    for (const subject of ['bad', 'good']) await outbox.queue(database.pool, { ...mail, subject });
    await outbox.flush();
    expect(sent).toEqual(['good']);
    expect(await rows()).toHaveLength(1);
  });

  test('another process sends the mail of a killed process', async () => {
    const dying = outboxWith(() => new Promise(() => undefined));
    await dying.queue(database.pool, mail);
    void dying.flush();
    while ((await rows())[0]?.attempts !== 1) await new Promise((resolve) => setImmediate(resolve));
    const sent: Mail[] = [];
    const living = outboxWith(async (mail) => void sent.push(mail));
    await living.flush();
    expect(sent).toEqual([]);
    now = new Date(now.getTime() + HOUR);
    await living.flush();
    expect(sent).toEqual([mail]);
  });
});

describe('mailers', () => {
  test('one file per mail, in the order of sending, readable only by its owner', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'doorward-mail-'));
    try {
      const mailer = fileMailer(join(directory, 'out'), { now: () => now });
      for (let i = 0; i < 12; i++)
        await mailer.send({ ...mail, subject: `Nº ${i}\r\nBcc: all@example.test` });
      const names = (await readdir(join(directory, 'out'))).sort();
      const files = await Promise.all(names.map((name) => readFile(join(directory, 'out', name), 'utf8')));
      expect(files.map((file) => /^Subject: Nº (\d+)/m.exec(file)?.[1])).toEqual(
        Array.from({ length: 12 }, (_, i) => String(i)),
      );
      expect(files[0]).toBe(
        [
          'To: ada@example.test',
          'Subject: Nº 0 Bcc: all@example.test',
          'Date: Tue, 01 Jan 2030 00:00:00 GMT',
          'Content-Type: text/plain; charset=utf-8',
          '',
          'The secret link',
        ].join('\n'),
      );
      expect((await stat(join(directory, 'out', names[0] ?? ''))).mode & 0o777).toBe(0o600);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test('the console shows address, subject and text', async () => {
    const printed: string[] = [];
    await consoleMailer((text) => void printed.push(text)).send(mail);
    for (const part of [mail.to, mail.subject, mail.text]) expect(printed.join()).toContain(part);
  });

  test('the HTML of a mail escapes its text', () => {
    const { html, text, subject } = composeMail({
      to: 'ada@example.test',
      language: 'en',
      subject: `A\nB${'x'.repeat(300)}`,
      paragraphs: ['<b>"&\'</b>'],
      action: { label: '<go>', url: 'https://a.test/?a=1&b="' },
    });
    expect(text).toContain('<b>"&\'</b>');
    expect(html).not.toMatch(/<b>|<go>|b="/);
    expect(html).toContain('&lt;b&gt;&quot;&amp;&#39;&lt;/b&gt;');
    expect(subject).toHaveLength(255);
    expect(subject).toMatch(/^A B/);
  });
});
