import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { buildService } from '../../../scripts/service.ts';
import { certificateFor } from '../../server/test/support/certificate.ts';
import { doorward, emptyFolder } from './support/doorward.ts';

/** What doctor says of SMTP and Redis, by servers on loopback that speak as much of the protocols as it needs. */
beforeAll(buildService, 120_000);

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Calls `answer` with each line. */
function byLine(socket: Socket, answer: (line: string) => string | undefined): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('error', () => undefined);
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const said = answer(line);
      if (said !== undefined) socket.write(`${said}\r\n`);
    }
  });
}

const PLAIN = Buffer.from('\0me\0right').toString('base64');
const smtp = (socket: Socket): void => {
  socket.write('220 mail.test\r\n');
  byLine(socket, (line) => {
    if (line.startsWith('EHLO')) return '250-mail.test\r\n250 AUTH PLAIN';
    if (line.startsWith('AUTH PLAIN')) return line.endsWith(PLAIN) ? '235 ok' : '535 wrong password';
    if (line === 'QUIT') return '221 bye';
    return '502 not here';
  });
};

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}
async function checkOf(name: string, env: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await doorward(['doctor', '--json'], {
    env: { DATA_DIR: await emptyFolder(), APP_URL: 'http://127.0.0.1:9', ...env },
  });
  expect(stdout + stderr).not.toContain('right');
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  const check = checks.find((each) => each.name === name);
  return `${check?.status} ${check?.message}`;
}
const mailOf = (SMTP_URL: string, env: Record<string, string> = {}): Promise<string> =>
  checkOf('mail', { MAIL_PROVIDER: 'smtp', SMTP_URL, MAIL_FROM: 'doorward@mail.invalid', ...env });

test('mail: connection, TLS and sign-in', async () => {
  const port = await listen(createServer(smtp));
  expect(await mailOf(`smtp://127.0.0.1:${port}`)).toBe(`ok 127.0.0.1:${port} asks for no sign-in`);
  expect(await mailOf(`smtp://me:right@127.0.0.1:${port}`)).toBe(
    `warn 127.0.0.1:${port} accepts the sign-in, without TLS: the mails and the password can be read on the way`,
  );
  expect(await mailOf(`smtp://me:wrong@127.0.0.1:${port}`)).toMatch(/^fail .*535 wrong password/);

  const certificate = certificateFor('localhost');
  const file = join(await emptyFolder(), 'certificate.pem');
  await writeFile(file, certificate.cert);
  const secure = await listen(createTlsServer(certificate, smtp));
  const trusted = { NODE_EXTRA_CA_CERTS: file };
  expect(await mailOf(`smtps://me:right@localhost:${secure}`, trusted)).toBe(
    `ok localhost:${secure} accepts the sign-in, with TLS`,
  );
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
