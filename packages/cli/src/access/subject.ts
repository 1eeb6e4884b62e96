import type { Client } from '@doorward/node/client';
import { exitCodes } from '../exit-codes.ts';
import { Fault, usageFault } from '../fault.ts';
import { isId } from '../settings/scope-text.ts';
import { suggestion } from '../nearest.ts';

/** Whose rights are in question; undefined: those of the caller. */
type Subject = { readonly userId: string } | undefined;

export const subjectArgument =
  '`me`, `user:<id>` or `user:<address>`; others than you need Authorization:Check';

/** @throws Fault for what is not a subject, or for an address without a user */
export async function subjectOf(doorward: Client, text: string): Promise<Subject> {
  if (text === 'me') return undefined;
  const name = text.startsWith('user:') ? text.slice('user:'.length) : '';
  if (name === '')
    throw usageFault(
      'A subject is `me`, `user:<id>` or `user:<address>`.',
      suggestion(text.split(':')[0] ?? '', ['me', 'user']),
    );
  if (isId(name)) return { userId: name.toLowerCase() };
  return { userId: await userIdOf(doorward, name) };
}

/** The id of the user of the scope with this address. */
async function userIdOf({ api }: Client, address: string): Promise<string> {
  for await (const user of api.users.each({ search: address }))
    if (user.email?.toLowerCase() === address.toLowerCase()) return user.id;
  throw new Fault(
    exitCodes.notFound,
    'NOT_FOUND',
    'No user of this scope has this address.',
    'doorward users list --search <text>',
  );
}

/** @throws Fault unless it is `resource:action` */
export function permissionOf(text: string): string {
  if (/^[^\s:]+:[^\s:]+$/.test(text)) return text;
  throw usageFault('A permission is <resource>:<action>, such as order:read.');
}
