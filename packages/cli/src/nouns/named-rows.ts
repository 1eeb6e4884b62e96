import type { Client } from '@doorward/node/client';
import type { Run } from '../run.ts';
import { isId } from '../settings/scope-text.ts';
import { findId } from './find.ts';
import { allNouns } from './nouns.ts';

/** Matches input members that contain ids, such as `roleIds` or `defaultRoleId`, and captures the noun. */
const reference = /(role|group|permission|resource|domain)Ids?$/i;

/** Replaces names of rows with their ids, so that `--set roleIds=Clerk` works like `keys create --role Clerk`. */
export async function withIds(
  run: Run,
  doorward: Client,
  fields: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(fields)) {
    const [, singular = ''] = reference.exec(member) ?? [];
    const noun = allNouns.find(({ word }) => word === `${singular.toLowerCase()}s`);
    const idOf = async (text: unknown): Promise<unknown> =>
      noun && typeof text === 'string' && !isId(text) ? findId(run, doorward, noun, text) : text;
    if (!Array.isArray(value)) resolved[member] = await idOf(value);
    else {
      const ids: unknown[] = [];
      for (const item of value) ids.push(await idOf(item));
      resolved[member] = ids;
    }
  }
  return resolved;
}
