import type { Client } from '@doorward/node/client';
import { exitCodes } from '../exit-codes.ts';
import { Fault, usageFault } from '../fault.ts';
import { isId } from '../settings/scope-text.ts';
import { suggestion } from '../nearest.ts';

/** The user whose rights are checked; undefined means the caller. */
type Subject = { readonly userId: string } | undefined;

export const subjectArgument =
  '`me`, `user:<id>` or `user:<address>`; others than you need Authorization:Check';

/** Resolves a subject argument. @throws Fault if the text isn't a subject, or no user has the email address */
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

/** Returns the id of the user in the scope with this email address. @throws Fault if there is none */
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

/** Checks that a text is a permission. @throws Fault unless it has the form `resource:action` */
export function permissionOf(text: string): string {
  if (/^[^\s:]+:[^\s:]+$/.test(text)) return text;
  throw usageFault('A permission is <resource>:<action>, such as order:read.');
}
