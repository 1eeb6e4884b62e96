import type { Run } from '../run.ts';
import { visible } from '../output/text.ts';
import { Fault, usageFault } from '../fault.ts';
import { exitCodes } from '../exit-codes.ts';
import { askText } from './prompt.ts';

/** Checks that a change can be confirmed, before anything is sent. @throws Fault if there is no terminal to ask in */
export function assertCanConfirm({ flags, terminal }: Run): void {
  if (flags.yes || flags.dryRun || terminal.canAsk) return;
  throw usageFault(
    'This needs a confirmation, and no person is here to ask.',
    '--yes confirms, --dry-run only looks',
  );
}

/** Asks the user to confirm a change. For a large one the user must type `word`. @throws Fault if they don't confirm */
export async function confirm(run: Run, question: string, word?: string): Promise<void> {
  if (run.flags.yes) return;
  const prompt =
    word === undefined ? `${question} [y/N] ` : `${question}\nType ${visible(word)} to confirm: `;
  run.terminal.stopSpinner();
  const answer = await askText(run, prompt);
  const isYes = word === undefined ? /^y(es)?$/i.test(answer) : answer === word;
  if (!isYes) throw new Fault(exitCodes.usage, 'NOT_CONFIRMED', 'Nothing was changed.');
}
