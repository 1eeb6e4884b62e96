import { readFileSync } from 'node:fs';
import { commands, groups } from './commands.ts';
import { exitCodes } from './exit-codes.ts';
import { shownFault } from './fault.ts';
import { Interruption } from './environment/interruption.ts';
import type { Io } from './environment/io.ts';
import { Terminal } from './output/terminal.ts';
import { parse } from './program.ts';
import { createRun, type Run } from './run.ts';
import { readFlags } from './settings/flags.ts';

const version = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;

/** Runs one command line. Runs share no state, so several can run at the same time. @returns the exit code */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const interruption = new Interruption();
  const ignoreInterrupts = io.onInterrupt(interruption.interrupt);
  // If parsing the flags fails, `--json` still determines the format of the error message.
  let terminal = new Terminal({ json: argv.includes('--json'), quiet: false, color: 'auto' }, io);
  let run: Run | null = null;

  async function runCommand(): Promise<number> {
    const invocation = await parse(argv, { commands, groups, version, stdout: io.stdout });
    if (!invocation) return exitCodes.done;
    const { command, args, options } = invocation;
    run = createRun({ flags: readFlags(options), io, interruption });
    ({ terminal } = run);
    if (command.ownsSignals) ignoreInterrupts();
    return (await terminal.waiting(command.run(run, args, options))) ?? exitCodes.done;
  }

  async function exitCode(): Promise<number> {
    try {
      return await runCommand();
    } catch (error) {
      if (interruption.signal.aborted) return exitCodes.interrupted;
      const fault = shownFault(error);
      terminal.fault(fault);
      return fault.exitCode;
    }
  }

  /** Resolves after an interrupt, without waiting for the command. Lists requests that may have taken effect. */
  async function interrupted(): Promise<number> {
    const mayReport = await interruption.settled();
    const unanswered = run?.log.unanswered ?? [];
    if (mayReport)
      terminal.say(
        unanswered.length === 0
          ? 'interrupted'
          : `interrupted: no response to these requests, which may have taken effect: ${unanswered.join(', ')}`,
      );
    return exitCodes.interrupted;
  }

  const end = interrupted();
  const code = await Promise.race([exitCode(), end]);
  ignoreInterrupts();
  return interruption.signal.aborted ? end : code;
}
