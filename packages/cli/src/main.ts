#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { commands, groups } from './commands.ts';
import { exitCodes } from './exit-codes.ts';
import { shownFault } from './fault.ts';
import { parse } from './program.ts';
import { createRun, type Run } from './run.ts';
import { readFlags } from './settings/flags.ts';
import { Terminal } from './output/terminal.ts';

const version = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;

// The reader of the output may stop: `doorward users list | head -1`.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.done);
    throw error;
  });

const stop = new AbortController();
const guarded = new Set<Promise<unknown>>();
let current: Run | null = null;

/** Ctrl-C waits for this work, which takes a moment. */
function protect<T>(work: Promise<T>): Promise<T> {
  guarded.add(work);
  return work.finally(() => guarded.delete(work));
}

/** Ends at once, and tells of changes that may have been made. */
async function interrupt(): Promise<void> {
  if (stop.signal.aborted) process.exit(exitCodes.interrupted);
  stop.abort();
  await Promise.race([Promise.allSettled(guarded), new Promise((after) => setTimeout(after, 2000))]);
  const unanswered = current?.log.unanswered ?? [];
  current?.terminal.say(
    unanswered.length === 0
      ? 'interrupted'
      : `interrupted: sent without an answer, so look whether it was done: ${unanswered.join(', ')}`,
  );
  process.exit(exitCodes.interrupted);
}
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const onSignal = (): void => void interrupt();
for (const signal of signals) process.on(signal, onSignal);

async function main(argv: readonly string[]): Promise<number> {
  // An error of the flags themselves has the form that the flags ask for.
  let terminal = new Terminal({ json: argv.includes('--json'), quiet: false, color: 'auto' }, process.env);
  try {
    const invocation = await parse(argv, { commands, groups, version });
    if (!invocation) return exitCodes.done;
    const { command, args, options } = invocation;
    const flags = readFlags(options);
    const run = createRun({ flags, env: process.env, signal: stop.signal, protect });
    current = run;
    ({ terminal } = run);
    if (command.ownsSignals) for (const signal of signals) process.off(signal, onSignal);
    const work = command.run(run, args, options);
    return (await terminal.waiting(work)) ?? exitCodes.done;
  } catch (error) {
    if (stop.signal.aborted) await new Promise(() => undefined);
    const fault = shownFault(error);
    terminal.fault(fault);
    return fault.exitCode;
  }
}

process.exitCode = await main(process.argv.slice(2));
