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
  /** The question that must be confirmed, such as `Delete the role Clerk?`. Harmless changes have none. */
  readonly question?: string;
  /** The text that the user must type to confirm. */
  readonly word?: string | undefined;
}

/**
 * Makes a change: shows its impact, asks for confirmation, and sends it without retries.
 * @returns null after a dry run, which has printed its result
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
