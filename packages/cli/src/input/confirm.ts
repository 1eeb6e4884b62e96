import type { Run } from '../run.ts';
import { visible } from '../output/text.ts';
import { Fault, usageFault } from '../fault.ts';
import { exitCodes } from '../exit-codes.ts';
import { askText } from './prompt.ts';

/** @throws Fault before the request is sent, if a change needs confirmation and there is no terminal to ask in */
export function assertCanConfirm({ flags, terminal }: Run): void {
  if (flags.yes || flags.dryRun || terminal.canAsk) return;
  throw usageFault(
    'This needs a confirmation, and no person is here to ask.',
    '--yes confirms, --dry-run only looks',
  );
}

/** Asks before something is lost. `word`: what must be typed for something large. */
export async function confirm(run: Run, question: string, word?: string): Promise<void> {
  if (run.flags.yes) return;
  const prompt =
    word === undefined ? `${question} [y/N] ` : `${question}\nType ${visible(word)} to confirm: `;
  run.terminal.stopSpinner();
  const answer = await askText(run, prompt);
  const isYes = word === undefined ? /^y(es)?$/i.test(answer) : answer === word;
  if (!isYes) throw new Fault(exitCodes.usage, 'NOT_CONFIRMED', 'Nothing was changed.');
}
