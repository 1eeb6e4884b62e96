import type { components } from '@doorward/node';
import type { Options } from '../settings/options.ts';
import { openNewFile } from '../nouns/secret-output.ts';
import { visible } from '../output/text.ts';
import type { Run } from '../run.ts';

type Applied = components['schemas']['AppliedPolicy'];

export const secretsOption = {
  '--secrets-out <file>': 'write secrets of new rows to a new file that only you can read, as JSON',
};

/**
 * Applies a document, and prints the new version and the secrets of new rows, which are shown only once. The file for
 * the secrets is opened before they exist.
 * @throws Fault if that file exists: it is never overwritten
 */
export async function applyAndReport(
  run: Run,
  options: Options,
  send: () => Promise<Applied>,
): Promise<void> {
  const path = options.text('secretsOut');
  const file = path === undefined ? null : await openNewFile(run, path);
  const answer = await run.terminal.waiting(send()).catch(async (error: unknown) => {
    await file?.discard();
    throw error;
  });
  const { secrets } = answer;
  if (!file || path === undefined) report(run, answer);
  else if (secrets === null || secrets.length === 0) {
    await file.discard();
    report(run, answer);
  } else {
    await file.fill(`${JSON.stringify(secrets, null, 2)}\n`);
    report(run, { ...answer, secrets: null });
    run.terminal.note(`The secrets are in ${path}.`);
    return;
  }
  if (secrets === null)
    run.terminal.note(
      'An answer got lost, and the secrets of new rows with it: rotate them (doorward webhooks rotate-secret).',
    );
  else if (secrets.length > 0) run.terminal.note('Each secret is shown once: store them now.');
}

function report({ terminal }: Run, answer: Applied): void {
  const { applied: version, secrets } = answer;
  if (!version) return terminal.answer('No changes.', answer);
  const { created, updated, deleted } = version.counts;
  const lines = (secrets ?? []).map(
    ({ kind, key, secret }) => `Secret of ${kind.slice(0, -1)} ${visible(key)}: ${secret}`,
  );
  terminal.answer(
    [`Version ${version.number}: ${created} created, ${updated} changed, ${deleted} deleted.`, ...lines].join(
      '\n',
    ),
    answer,
  );
}
