import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from '../command.ts';
import type { Run } from '../run.ts';
import { openBrowser } from '../session/browser-sign-in.ts';
import { environmentOf, environmentOptions, installed, withPrograms } from './programs.ts';

export const start: Command = {
  path: ['start'],
  summary: 'Run the service, where it is installed',
  description:
    'Configured by the environment. Without DATABASE_URL it has an embedded database in its data folder. It runs until Ctrl-C or SIGTERM.',
  options: {
    ...environmentOptions,
    '--port <port>': 'in place of PORT; 0: a free one',
    '--host <address>': 'in place of HOST',
    '--open': 'open the console in the browser',
  },
  examples: ['doorward start --port 4000 --open'],
  ownsSignals: true,
  async run(run, _args, options) {
    const env = await environmentOf(run, options);
    const { appUrl, port } = await withPrograms((programs) => programs.assertCanStart(env));
    run.terminal.stopSpinner();
    // The service reads its configuration from here, and so do its workers.
    Object.assign(process.env, env);
    process.setSourceMapsEnabled(true);
    await installed('main');
    if (options.flag('open') && port !== 0) await openWhenReady(run, port, appUrl);
  },
};

const READY_MS = 30_000;

async function openWhenReady({ env }: Run, port: number, appUrl: string): Promise<void> {
  const until = performance.now() + READY_MS;
  while (performance.now() < until) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    if (answer?.ok) return openBrowser(`${appUrl}/console`, env);
    await pause(200);
  }
}
