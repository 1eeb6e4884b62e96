import type { PolicyDocument } from '@doorward/decision/document';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { components } from '@doorward/node';
import type { Command } from '../command.ts';
import { visible } from '../output/text.ts';
import { inProject } from './policy-scope.ts';

type Warning = components['schemas']['PolicyExportWarning'];

const leftOut: Readonly<Record<Warning['code'], (row: string) => string>> = {
  rowLeftOut: (row) => `${row}, because another row has its name`,
  dependentLeftOut: (row) => `${row}, because it refers to a row that is left out`,
  referenceLeftOut: (row) => `what ${row} refers to and is left out itself`,
};

export const exportPolicy: Command = {
  path: ['policy', 'export'],
  summary: 'Write the rights model of the project as a document',
  description: 'Sorted, without default values: two exports of the same state are identical.',
  options: { '-o, --out <file>': 'a file instead of stdout', '--managed': 'only rows of the last document' },
  examples: ['doorward policy export -o doorward.yaml'],
  async run(run, _args, options) {
    const { doorward, id } = await inProject(run);
    const include = options.flag('managed') ? 'managed' : 'all';
    const state = await run.terminal.waiting(doorward.api.policy({ id, include }, { signal: run.signal }));
    if (run.terminal.isJson) return run.terminal.json(state);
    const { withoutDefaults } = await import('@doorward/decision/document');
    const { stringify } = await import('yaml');
    // The API type has optional members, but the service always sends all of them.
    const document = state.document as Pick<PolicyDocument, keyof PolicyDocument>;
    const text = stringify(withoutDefaults(document), { lineWidth: 100 });
    for (const { code, kind, key } of state.warnings)
      run.terminal.note(`Left out: ${leftOut[code](`${kind.slice(0, -1)} ${visible(key)}`)}.`);
    const out = options.text('out');
    if (out === undefined) return run.terminal.raw(text.trimEnd());
    await writeFile(resolve(run.cwd, out), text);
    run.terminal.note(`Written to ${out}.`);
  },
};
