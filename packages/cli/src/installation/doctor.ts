import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { visible } from '../output/text.ts';
import type { Run } from '../run.ts';
import { serviceUrl } from '../settings/settings.ts';
import { lookFromOutside } from './outside.ts';
import { withPrograms, type Check } from '../environment/programs.ts';
import { environmentOf, environmentOptions } from './service-environment.ts';

const colors = { ok: 32, warn: 33, fail: 31, skip: 90 } as const;

/** Environment variables of this program, which the check of the service must not report as unknown. */
const ownVariables = [
  'DOORWARD_URL',
  'DOORWARD_SCOPE',
  'DOORWARD_PROFILE',
  'DOORWARD_TOKEN',
  'DOORWARD_CLIENT_ID',
  'DOORWARD_CLIENT_SECRET',
  'DOORWARD_CONFIG_DIR',
];

export const doctor: Command = {
  path: ['doctor'],
  summary: 'Check the setup of the service; changes nothing',
  description:
    'Where the service is installed it looks at configuration, database, keys, mail and the public address. With --url it checks only what is visible from outside; works on any machine. Exit code 1: something failed.',
  options: { '--send-mail <address>': 'also send a test mail to this address', ...environmentOptions },
  examples: ['doorward doctor', 'doorward doctor --url https://access.example.com'],
  async run(run, _args, options) {
    const { url } = run.flags;
    const work = url === undefined ? lookInside(run, options) : fromOutside(run, serviceUrl(url));
    const checks = await run.terminal.waiting(work);
    run.terminal.answer(linesOf(run, checks).join('\n'), { checks });
    return checks.some(({ status }) => status === 'fail') ? exitCodes.negative : exitCodes.done;
  },
};

const fromOutside = ({ flags, log }: Run, url: string, keyIds: readonly string[] = []): Promise<Check[]> =>
  lookFromOutside({ url, keyIds, fetch: log.fetch, timeoutMs: flags.timeoutMs ?? 10_000, now: Date.now });

async function lookInside(run: Run, options: Parameters<Command['run']>[2]): Promise<Check[]> {
  const env = await environmentOf(run, options);
  const sendMail = options.text('sendMail');
  const request = { env, now: Date.now, sendMail, ownVariables };
  const { checks, appUrl, keyIds } = await withPrograms(run, (programs) => programs.doctor(request));
  return [...checks, ...(appUrl === null ? [] : await fromOutside(run, appUrl, keyIds))];
}

function linesOf({ terminal }: Run, checks: readonly Check[]): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.flatMap(({ name, status, message, fix }) => [
    `${terminal.paint(status.padEnd(4), colors[status])}  ${name.padEnd(width)}  ${visible(message)}`,
    ...(fix === undefined ? [] : [`${' '.repeat(width + 8)}fix: ${visible(fix)}`]),
  ]);
}
