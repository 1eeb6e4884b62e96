import { lookup, resolveTxt } from 'node:dns/promises';
import { sql } from 'drizzle-orm';
import type { Config } from '../../config/config.ts';
import { connectRedis } from '../../db/connection/redis.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { smtpMailer } from '../../events/mail/mailers.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { attempt, fail, ok, skip, warn, type Check } from './check.ts';

const TIMEOUT_MS = 10_000;

/** Checks the connection, TLS and sign-in of SMTP. Sends a mail only if an address is given. */
export async function checkMail({ mail }: Config, sendTo: string | undefined): Promise<Check[]> {
  const { provider, smtpUrl, from } = mail;
  if (provider !== 'smtp' || smtpUrl === undefined)
    return [skip('mail', `MAIL_PROVIDER=${provider} connects to nothing`)];
  const server = await attempt('mail', 'correct SMTP_URL: docs/operating/mail.md', async () => {
    await connectSmtp(smtpUrl);
    const { protocol, host, username } = new URL(smtpUrl);
    const hasTls = protocol === 'smtps:' || (await connectSmtp(smtpUrl, { requireTLS: true }).then(yes, no));
    const signIn = username === '' ? 'asks for no sign-in' : 'accepts the sign-in';
    if (!hasTls && (username !== '' || !isThisMachine(smtpUrl)))
      return warn(
        'mail',
        `${host} ${signIn}, without TLS: the mails and the password can be read on the way`,
        'use smtps://, or a server with STARTTLS: docs/operating/mail.md',
      );
    if (sendTo === undefined) return ok('mail', `${host} ${signIn}${hasTls ? ', with TLS' : ''}`);
    const text = 'This is a test of the mail of Doorward, by doorward doctor --send-mail.';
    await smtpMailer(smtpUrl, from).send({
      to: sendTo,
      subject: 'Doorward: test',
      text,
      html: `<p>${text}</p>`,
    });
    return ok('mail', `${new URL(smtpUrl).host} accepted a mail to ${sendTo}`);
  });
  return [...server, await checkSender(from)];
}

const yes = (): boolean => true;
const no = (): boolean => false;

/** Connects, with TLS if the server offers it, and signs in if the URL contains a user. */
async function connectSmtp(url: string, options: { readonly requireTLS?: true } = {}): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const timeouts = {
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  };
  const transport = createTransport({ url, ...timeouts, ...options });
  await transport.verify().finally(() => transport.close());
}

const isThisMachine = (url: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

async function checkSender(from: string): Promise<Check> {
  const domain = /@([\w.-]+)/.exec(from)?.[1] ?? '';
  const recordsOf = (name: string): Promise<string[]> =>
    resolveTxt(name).then(
      (records) => records.map((parts) => parts.join('')),
      () => [],
    );
  const missing = [
    ...((await recordsOf(domain)).some((text) => text.startsWith('v=spf1')) ? [] : ['SPF']),
    ...((await recordsOf(`_dmarc.${domain}`)).some((text) => text.startsWith('v=DMARC1')) ? [] : ['DMARC']),
  ];
  return missing.length === 0
    ? ok('sender', `${domain} has SPF and DMARC`)
    : warn(
        'sender',
        `no ${missing.join(' and no ')} record of ${domain} was seen`,
        'add it, or mails may count as spam',
      );
}

export async function checkRedis({ redisUrl }: Config): Promise<Check[]> {
  if (redisUrl === undefined)
    return [skip('redis', 'REDIS_URL is unset: each process counts its own limits')];
  const messages: string[] = [];
  return attempt('redis', 'start Redis, or correct REDIS_URL', async () => {
    const client = await connectRedis(redisUrl, (message) => messages.push(message));
    const isReady = client.isReady;
    client.destroy();
    return isReady
      ? ok('redis', `${new URL(redisUrl).host} answers`)
      : fail(
          'redis',
          messages[0] ?? `no answer from ${new URL(redisUrl).host}`,
          'start Redis, or correct REDIS_URL',
        );
  });
}

const MOST_RECEIVERS = 20;

/** Checks that this machine can resolve the receivers of webhooks. Nothing is sent to them. */
export async function checkWebhooks(db: Executor): Promise<Check> {
  const rows = await rowsOf<{ url: string }>(
    db,
    sql`select distinct url from webhook_subscriptions where deleted_at is null limit ${MOST_RECEIVERS}`,
  );
  const hosts = [...new Set(rows.map(({ url }) => new URL(url).hostname.replace(/^\[|\]$/g, '')))];
  if (hosts.length === 0) return skip('webhooks', 'no subscriptions');
  const isResolved = await Promise.all(
    hosts.map((host) =>
      lookup(host).then(
        () => true,
        () => false,
      ),
    ),
  );
  // Only the first receivers are looked up.
  const which = rows.length === MOST_RECEIVERS ? ` of the first ${MOST_RECEIVERS} addresses` : '';
  const lost = hosts.filter((_, at) => isResolved[at] !== true);
  return lost.length === 0
    ? ok('webhooks', `DNS finds ${hosts.length === 1 ? 'the host' : `all ${hosts.length} hosts`}${which}`)
    : warn(
        'webhooks',
        `DNS finds no address for ${lost.join(', ')}`,
        'check the DNS of this machine, or the subscriptions',
      );
}
