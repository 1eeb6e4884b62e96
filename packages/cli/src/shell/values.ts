import type { Client } from '@doorward/node/client';
import type { Command } from '../command.ts';
import { Options } from '../settings/options.ts';
import { operationOf, type Page } from '../nouns/invoke.ts';
import type { Io } from '../environment/io.ts';
import type { Noun } from '../nouns/noun.ts';
import { allNouns } from '../nouns/nouns.ts';
import { createRun, type Run } from '../run.ts';
import { readFlags, type Flags } from '../settings/flags.ts';
import type { Typed } from './typed-words.ts';

const LIMIT_MS = 1000;
const MOST = 50;

/**
 * Completes names and slugs that only the service knows. Uses only a stored sign-in, never one from the environment,
 * and never renews a session, because an interrupted renewal could end it. Returns nothing if anything fails.
 */
export async function valuesOf(
  run: Run,
  { typed, command, current }: { typed: Typed; command: Command | undefined; current: string },
): Promise<readonly string[]> {
  const noun = nounOf(typed, command);
  if (!noun) return [];
  const limit = AbortSignal.any([run.signal, AbortSignal.timeout(LIMIT_MS)]);
  const work = ask({ io: run, typed, noun, current, limit }).catch(() => []);
  const names = await Promise.race([work, new Promise<string[]>((end) => (limit.onabort = () => end([])))]);
  return names.filter(isPlain).slice(0, MOST);
}

/** Returns the noun whose rows the word that is being typed can name. */
function nounOf({ words, pending }: Typed, command: Command | undefined): Noun | undefined {
  const byWord = (word: string | undefined) =>
    allNouns.find((noun) => noun.word === word && noun.namedBy !== undefined);
  if (pending === '--org') return byWord('orgs');
  if (pending === '--project') return byWord('projects');
  if (pending === '--role') return byWord('roles');
  if (pending !== null || !command?.arguments) return undefined;
  const [word, verb] = command.path;
  const at = words.length - command.path.length;
  if (verb === 'set-roles' && at > 0) return byWord('roles');
  return at === 0 ? byWord(word) : undefined;
}

/** Whether a name can be put on the command line unquoted: a shell must read it as one word. */
const isPlain = (name: string): boolean => /^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]*$/u.test(name);

interface Question {
  readonly io: Io;
  readonly typed: Typed;
  readonly noun: Noun;
  readonly current: string;
  readonly limit: AbortSignal;
}

async function ask({ io, typed, noun, current, limit }: Question): Promise<string[]> {
  const flags = flagsOf(typed);
  const run = createRun({
    flags,
    io,
    interruption: { signal: limit, interrupt: () => undefined, protect: (work) => work },
  });
  if (!(await hasLivingSignIn(run))) return [];
  if (typed.pending === '--org' || noun.word === 'orgs') return slugsOfOrganizations(run, current);
  const scope = await run.connection.scope();
  const doorward = await run.connection.client({ scope });
  const inScope =
    noun.word === 'projects' && scope?.tenant.endsWith('Project') === true
      ? await run.connection.client({ scope: ownerOf(scope) as typeof scope })
      : doorward;
  return namesOf(run, inScope, noun, current);
}

/** Reads the flags that were typed. A slug that is still being typed is left out. */
function flagsOf({ values, flags }: Typed): Flags {
  const value = (name: string) => (values[`--${name}`] === undefined ? {} : { [name]: values[`--${name}`] });
  const named = ['url', 'profile', 'scope', 'org', 'project'].map(value);
  const account = flags.includes('--account');
  return readFlags(
    new Options(Object.assign({ account, timeout: '1' }, ...named) as Record<string, unknown>),
  );
}

async function hasLivingSignIn({ settings }: Run): Promise<boolean> {
  const identity = await settings.identity();
  if (!identity || identity.profile === null) return false;
  const stored = (await settings.profiles.credentials())[identity.profile];
  return stored?.kind === 'key' || (stored?.kind === 'session' && stored.renewAt > Date.now());
}

function ownerOf({ tenant, id }: { readonly tenant: string; readonly id: string }) {
  const [owner = ''] = id.split(':');
  return { tenant: tenant === 'organizationProject' ? 'organization' : 'account', id: owner };
}

/** Searches only for two letters or more, because the service refuses shorter searches. */
const searchFor = (current: string) => (current.length < 2 ? {} : { search: current });

async function namesOf(run: Run, doorward: Client, noun: Noun, current: string): Promise<string[]> {
  const input = { limit: MOST, ...searchFor(current) };
  const { items } = (await operationOf(doorward, noun.list)(input, run)) as Page;
  const { namedBy = 'name' } = noun;
  return items.map((row) => String(typeof namedBy === 'string' ? row[namedBy] : namedBy(row)));
}

async function slugsOfOrganizations(run: Run, current: string): Promise<string[]> {
  const { api } = await run.connection.client({});
  const { signal } = run;
  const { accounts, memberships } = await api.me({}, { signal });
  const search = searchFor(current);
  const own = accounts.map(({ id }) =>
    api.organizations({ ...search, limit: MOST, scope: { tenant: 'account', id } }, { signal }),
  );
  const others = memberships
    .slice(0, MOST)
    .map(({ organizationId: id }) =>
      api.organization({ id, scope: { tenant: 'organization', id } }, { signal }),
    );
  // Personal accounts have no organizations and refuse this request, so failures are ignored.
  const pages = (await Promise.allSettled(own)).flatMap((page) =>
    page.status === 'fulfilled' ? [page.value] : [],
  );
  return [...pages.flatMap(({ items }) => items), ...(await Promise.all(others))].map(({ slug }) => slug);
}
