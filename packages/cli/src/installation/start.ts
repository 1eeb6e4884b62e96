import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from '../command.ts';
import { usageFault } from '../fault.ts';
import { openBrowser } from '../session/browser-sign-in.ts';
import { withPrograms } from '../environment/programs.ts';
import { environmentOf, environmentOptions } from './service-environment.ts';

export const start: Command = {
  path: ['start'],
  summary: 'Run the service, where it is installed',
  description:
    'Configured by the environment. Without DATABASE_URL it has an embedded database in its data folder. It runs until Ctrl-C or SIGTERM.',
  options: {
    ...environmentOptions,
    '--port <port>': 'in place of PORT; 0: a free one',
    '--host <address>': 'in place of HOST',
    '--open': 'open the console in the browser; not with --port 0',
  },
  examples: ['doorward start --port 4000 --open'],
  ownsSignals: true,
  async run(run, _args, options) {
    const env = await environmentOf(run, options);
    const { appUrl, port } = await withPrograms(run, (programs) => programs.assertCanStart(env));
    const opens = options.flag('open');
    // With port 0 only the service learns which port it got, so the browser can't be opened.
    if (opens && port === 0) throw usageFault('--open and --port 0 do not go together.');
    run.terminal.stopSpinner();
    await run.service.start(env);
    if (!opens) return;
    const address = `${appUrl}/console`;
    const isOpen = (await isReady(port)) && (await openBrowser(address, run.env));
    if (!isOpen) run.terminal.note(`The console was not opened: ${address}`);
  },
};

const READY_MS = 30_000;

async function isReady(port: number): Promise<boolean> {
  const until = performance.now() + READY_MS;
  while (performance.now() < until) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    if (answer?.ok) return true;
    await pause(200);
  }
  return false;
}
