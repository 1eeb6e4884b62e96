import type { Command } from '../command.ts';
import { usageFault } from '../fault.ts';
import type { Column } from '../output/table.ts';
import { forwardTo } from './forward.ts';

const columns: readonly Column[] = [
  { name: 'time', of: 'timestamp' },
  { name: 'type' },
  { name: 'scope', of: ({ scope }) => textOf(scope as { tenant: string; id: string }) },
  { name: 'actor', of: ({ actor }) => actorOf(actor as { type: string; id: string | null }) },
  { name: 'data', of: 'data' },
];

const textOf = ({ tenant, id }: { tenant: string; id: string }): string => `${tenant}:${id}`;
const actorOf = ({ type, id }: { type: string; id: string | null }): string =>
  id === null ? type : `${type}:${id}`;

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const eventsTail: Command = {
  path: ['events', 'tail'],
  summary: 'Events of the scope as they happen, one line each, until Ctrl-C',
  description: 'It waits while the service does not answer, and goes on.',
  options: {
    '--types <types>': 'such as role.created or role.*, separated by commas',
    '--since <time>': '10m, 2h, 3d, a time, or all; default: from now on',
    '--forward <url>':
      'also send each to this address of this computer, as a webhook signed with a secret that is printed once',
    '--include-projects': 'of an organization: those of its projects too',
  },
  examples: [
    'doorward events tail --types "api_key.*" --since 1h',
    'doorward events tail --forward http://127.0.0.1:3000/webhooks',
  ],
  async run({ connection, terminal, signal }, _args, options) {
    const since = sinceOf(options.text('since'));
    const types = options
      .text('types')
      ?.split(',')
      .map((type) => type.trim());
    const address = options.text('forward');
    const forwarding = address === undefined ? null : forwardTo(address, signal);
    const doorward = await connection.inScope();
    const stream = doorward.api.events.follow(
      {
        limit: 100,
        ...(types ? { types } : {}),
        ...(options.flag('includeProjects') ? { includeProjects: true } : {}),
      },
      { signal },
    );
    // Printed only after the scope is resolved, so that a failed run prints no secret.
    if (forwarding) terminal.say(`signing secret of this run: ${forwarding.secret}`);
    for await (const event of stream) {
      if (Date.parse(event.timestamp) < since) continue;
      terminal.item(event, columns);
      if (forwarding) terminal.note(await forwarding.send(event));
    }
  },
};

function sinceOf(text: string | undefined): number {
  if (text === undefined) return Date.now();
  if (text === 'all') return 0;
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const time = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (unitMs[unit] ?? 0);
  if (Number.isNaN(time)) throw usageFault('--since takes 10m, 2h, 3d, a time, or all.');
  return time;
}
