import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { Fault, usageFault } from '../fault.ts';
import type { Column } from '../output/table.ts';
import { assertProfileName } from '../settings/profiles.ts';
import { parseScope, scopeText } from '../settings/scope-text.ts';
import { serviceUrl } from '../settings/settings.ts';

const columns: readonly Column[] = [
  { name: 'profile' },
  { name: 'current', of: ({ isCurrent }) => (isCurrent ? 'current' : '') },
  { name: 'url' },
  { name: 'scope' },
  { name: 'sign-in', of: 'signIn' },
];

const missing = (name: string): Fault =>
  new Fault(exitCodes.notFound, 'NOT_FOUND', `There is no profile ${name}.`, 'doorward profile list');

const list: Command = {
  path: ['profile', 'list'],
  summary: 'The profiles of this computer',
  async run({ settings, terminal }) {
    const { profiles } = await settings.profiles.config();
    const credentials = await settings.profiles.credentials();
    const current = await settings.profileName();
    const rows = [...new Set([...Object.keys(profiles), ...Object.keys(credentials)])]
      .sort()
      .map((profile) => ({
        profile,
        isCurrent: profile === current,
        url: profiles[profile]?.url ?? null,
        scope: profiles[profile]?.scope ?? null,
        signIn: credentials[profile]?.kind ?? null,
      }));
    terminal.list(rows, columns, null);
  },
};

const use: Command = {
  path: ['profile', 'use'],
  summary: 'Make a profile the one that commands use',
  arguments: { '<name>': 'a profile' },
  async run({ settings, terminal }, [name = '']) {
    await settings.profiles.change((config) => {
      if (!Object.hasOwn(config.profiles, name)) throw missing(name);
      return { ...config, current: name };
    });
    terminal.note(`Commands now use the profile ${name}.`);
  },
};

const set: Command = {
  path: ['profile', 'set'],
  summary: 'Store --url and the scope in a profile',
  arguments: { '[name]': 'default: the current one' },
  examples: ['doorward profile set --url https://access.example.com --org acme'],
  async run({ flags, settings, connection, terminal }, [name]) {
    const { url, scope, org, account, project } = flags;
    const hasScope = scope !== undefined || org !== undefined || account || project !== undefined;
    if (url === undefined && !hasScope)
      throw usageFault('What should it store?', 'give --url, -s, --org, --account or --project');
    const profile = name === undefined ? await settings.profileName() : assertProfileName(name);
    const named =
      scope !== undefined ? parseScope('--scope', scope) : hasScope ? await connection.scope() : undefined;
    const stored = {
      ...(url === undefined ? {} : { url: serviceUrl(url) }),
      ...(named ? { scope: scopeText(named) } : {}),
    };
    await settings.profiles.change((config) => ({
      ...config,
      current: config.current ?? profile,
      profiles: { ...config.profiles, [profile]: { ...config.profiles[profile], ...stored } },
    }));
    terminal.note(`Stored in the profile ${profile}.`);
  },
};

const remove: Command = {
  path: ['profile', 'remove'],
  summary: 'Forget a profile and its sign-in; doorward logout also ends the session',
  arguments: { '<name>': 'a profile' },
  async run({ settings, terminal }, [name = '']) {
    assertProfileName(name);
    const { profiles } = await settings.profiles.config();
    const credentials = await settings.profiles.credentials();
    if (!Object.hasOwn(profiles, name) && !Object.hasOwn(credentials, name)) throw missing(name);
    await settings.profiles.changeCredential(name, async () => ({ stored: undefined, result: null }));
    await settings.profiles.change(({ current, profiles: { [name]: _, ...others } }) => ({
      ...(current === undefined || current === name ? {} : { current }),
      profiles: others,
    }));
    terminal.note(`Removed the profile ${name}.`);
  },
};

export const profileCommands: readonly Command[] = [list, use, set, remove];
