import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { certificateFor } from '../../../server/test/support/app/certificate.ts';
import { checksOf, named } from '../support/machine/checks.ts';
import { emptyFolder } from '../support/folder.ts';
import { byLine, speakSmtp } from '../support/machine/line-protocol.ts';

/** The SMTP and Redis checks of doctor, against loopback servers that implement just enough of the protocols. */

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function checkOf(name: string, env: Record<string, string>): Promise<string> {
  const { checks } = await checksOf([], {
    env: { DATA_DIR: await emptyFolder(), APP_URL: 'http://127.0.0.1:9', ...env },
  });
  expect(JSON.stringify(checks)).not.toContain('right');
  const check = named(checks, name);
  return `${check?.status} ${check?.message}`;
}
const mailOf = (SMTP_URL: string): Promise<string> =>
  checkOf('mail', { MAIL_PROVIDER: 'smtp', SMTP_URL, MAIL_FROM: 'doorward@mail.invalid' });

test('mail: connection, TLS and sign-in', async () => {
  const port = await listen(createServer(speakSmtp));
  expect(await mailOf(`smtp://127.0.0.1:${port}`)).toBe(`ok 127.0.0.1:${port} asks for no sign-in`);
  expect(await mailOf(`smtp://me:right@127.0.0.1:${port}`)).toBe(
    `warn 127.0.0.1:${port} accepts the sign-in, without TLS: the mails and the password can be read on the way`,
  );
  expect(await mailOf(`smtp://me:wrong@127.0.0.1:${port}`)).toMatch(/^fail .*535 wrong password/);

  const certificate = certificateFor('localhost');
  const secure = await listen(createTlsServer(certificate, speakSmtp));
  expect(await mailOf(`smtps://me:right@localhost:${secure}`)).toMatch(/^fail .*self-signed/);
});

test('redis: reached with the right password, or not', async () => {
  const redis = (socket: Socket): void => {
    let isAllowed = false;
    let words: string[] = [];
    let left = 0;
    byLine(socket, (line) => {
      if (line.startsWith('*')) [words, left] = [[], Number(line.slice(1))];
      else if (!line.startsWith('$')) {
        words.push(line);
        left -= 1;
        if (left > 0) return undefined;
        const command = words[0]?.toUpperCase();
        if (command === 'HELLO') {
          isAllowed = words.at(-1) === 'right';
          return isAllowed ? '%1\r\n+proto\r\n:3' : '-WRONGPASS invalid username-password pair';
        }
        return isAllowed ? '+OK' : '-NOAUTH Authentication required.';
      }
      return undefined;
    });
  };
  const port = await listen(createServer(redis));
  const at = (password: string) => checkOf('redis', { REDIS_URL: `redis://:${password}@127.0.0.1:${port}` });
  expect(await at('right')).toBe(`ok 127.0.0.1:${port} answers`);
  expect(await at('wrong')).toMatch(new RegExp(`^fail .*127.0.0.1:${port}`));
});
