import type { Options } from '../settings/options.ts';
import { usageFault } from '../fault.ts';
import { fileText, parsedObject } from '../input/json-input.ts';
import { readSecret, readStdin } from '../input/prompt.ts';
import type { Run } from '../run.ts';
import { suggestion } from '../nearest.ts';
import type { FieldKind, Noun } from './noun.ts';

export const fieldOptions = {
  '--set <name=value...>':
    'a field; separate list items with commas, use null to clear, name roles and groups by id or name',
  '--from <file>': 'fields from a JSON file, or - for stdin',
};

export const askOptions = {
  '--new-secret': 'replace the secret; it comes from a hidden prompt or from stdin',
};

/** Reads a secret from a hidden prompt or stdin, as a member of the input. @throws Fault if `--from` reads stdin too */
export async function secretInput(
  run: Run,
  { member, label }: NonNullable<Noun['asks']>,
  options: Options,
): Promise<Record<string, string>> {
  if (options.text('from') === '-') throw usageFault(`${label} comes from stdin: --from takes a file here.`);
  // No operation that takes a secret has a `dryRun`, so a dry run sends nothing and needs no secret.
  if (run.flags.dryRun) return { [member]: '' };
  run.terminal.stopSpinner();
  return { [member]: await readSecret(run, label) };
}

export const fieldsText = ({ fields }: Noun): string =>
  `Fields: ${Object.entries(fields)
    .map(([name, kind]) => (kind === 'text' ? name : `${name} (${kind})`))
    .join(', ')}.`;

/** Reads the fields given by `--from` and `--set`. @throws Fault for an unknown field */
export async function readFields(
  run: Run,
  { fields }: Noun,
  options: Options,
): Promise<Record<string, unknown>> {
  const from = options.text('from');
  const given = from === undefined ? {} : parsedObject('--from', await sourceOf(run, from));
  const names = Object.keys(fields);
  const assertField = (name: string): void => {
    if (!Object.hasOwn(fields, name)) throw usageFault(`There is no field ${name}.`, suggestion(name, names));
  };
  Object.keys(given).forEach(assertField);
  for (const text of options.list('set')) {
    const [, name = '', value = ''] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
    if (name === '') throw usageFault('--set takes name=value.');
    assertField(name);
    given[name] = valueOf(name, fields[name] ?? 'text', value);
  }
  return given;
}

function valueOf(name: string, kind: FieldKind, text: string): unknown {
  if (text === 'null') return null;
  if (kind === 'list') return text === '' ? [] : text.split(',').map((item) => item.trim());
  if (kind === 'flag') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw usageFault(`${name} is true or false.`);
  }
  if (kind === 'text') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw usageFault(`${name} is JSON.`);
  }
}

const sourceOf = (run: Run, from: string): Promise<string> =>
  from === '-' ? readStdin(run) : fileText(run, '--from', from);
