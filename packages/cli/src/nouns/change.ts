import type { Client } from '@doorward/node/client';
import { confirm } from '../input/confirm.ts';
import type { Row } from '../output/table.ts';
import type { Run } from '../run.ts';
import { impactLines, type Impact } from './impact.ts';
import { operationOf } from './invoke.ts';
import type { Change } from './noun.ts';

interface Intent {
  readonly change: Change;
  readonly input: Row;
  /** The question to confirm, such as `Delete the role Clerk?`. Absent: the change is harmless and needs no confirmation. */
  readonly question?: string;
  /** What must be typed in answer. */
  readonly word?: string | undefined;
}

/**
 * Makes a change: shows its impact, asks, sends it once.
 * @returns null if it was a dry run, which has printed its answer
 */
export async function makeChange(run: Run, doorward: Client, intent: Intent): Promise<Row | null> {
  const { flags, terminal } = run;
  const { change, input, question, word } = intent;
  const operation = operationOf(doorward, change.operation);
  const foresees = change.hasImpact && (flags.dryRun || (question !== undefined && !flags.yes));
  const impact = foresees ? ((await operation({ ...input, dryRun: true }, run)) as Impact) : undefined;
  if (flags.dryRun) {
    if (impact) terminal.answer(impactLines(impact).join('\n'), impact);
    else
      terminal.answer(`Would send ${change.operation}; nothing was changed.`, {
        dryRun: true,
        operation: change.operation,
      });
    return null;
  }
  if (impact) impactLines(impact).forEach((line) => terminal.say(line));
  if (question !== undefined) await confirm(run, question, word);
  return ((await operation(input, run)) ?? {}) as Row;
}
