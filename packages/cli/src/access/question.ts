import type { Context } from '@doorward/node';
import type { Options } from '../settings/options.ts';
import { usageFault } from '../fault.ts';
import { jsonObject } from '../input/json-input.ts';
import type { Run } from '../run.ts';

export const contextOption = {
  '--context <json>': 'what conditions read, as {"resource": {…}}: JSON, @file or - for stdin',
};

export async function contextOf(
  run: Pick<Run, 'stdin' | 'cwd'>,
  options: Options,
): Promise<Context | undefined> {
  const text = options.text('context');
  if (text === undefined) return undefined;
  const context = await jsonObject(run, '--context', text);
  const others = Object.keys(context).filter((name) => name !== 'resource');
  if (others.length > 0 || typeof context['resource'] !== 'object')
    throw usageFault(
      '--context has one member, `resource`, which is an object.',
      `--context '{"resource": {"ownerId": "…"}}'`,
    );
  return context;
}
