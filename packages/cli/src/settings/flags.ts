import { usageFault } from '../fault.ts';
import { suggestion } from '../nearest.ts';
import type { Options } from './options.ts';

/** Flags that all commands have. */
export const globalOptions = {
  '--url <url>': 'address of the service',
  '--profile <name>': 'profile with address, scope and sign-in',
  '-s, --scope <tenant:id>': 'scope, such as organization:<id>',
  '--org <slug>': 'scope: an organization',
  '--account': 'scope: your account',
  '--project <slug>': 'scope: a project, of --org, --account or the scope of the profile',
  '--json': 'JSON on stdout',
  '-y, --yes': 'ask no question',
  '--dry-run': 'change nothing, show what would change',
  '--color <when>': 'auto, always or never',
  '-q, --quiet': 'results and errors only',
  '-v, --verbose': 'show each request on stderr, without secrets',
  '--timeout <seconds>': 'bound of a call',
} as const;

export interface Flags {
  readonly url: string | undefined;
  readonly profile: string | undefined;
  readonly scope: string | undefined;
  readonly org: string | undefined;
  readonly account: boolean;
  readonly project: string | undefined;
  readonly json: boolean;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly color: 'auto' | 'always' | 'never';
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly timeoutMs: number | undefined;
}

export const colors = ['auto', 'always', 'never'] as const;

/** Reads the global flags. @throws Fault for an invalid value, or flags that name two scopes */
export function readFlags(options: Options): Flags {
  const [scope, org, project] = [options.text('scope'), options.text('org'), options.text('project')];
  const account = options.flag('account');
  const named = [scope !== undefined && '--scope', org !== undefined && '--org', account && '--account'];
  const both = named.filter((name) => name !== false);
  if (both.length > 1 || (scope !== undefined && project !== undefined))
    throw usageFault(
      `${[...both, ...(project === undefined ? [] : ['--project'])].join(' and ')} name two scopes.`,
    );
  return {
    ...{ url: options.text('url'), profile: options.text('profile'), scope, org, account, project },
    ...{ json: options.flag('json'), yes: options.flag('yes'), dryRun: options.flag('dryRun') },
    ...{ quiet: options.flag('quiet'), verbose: options.flag('verbose') },
    color: colorOf(options.text('color') ?? 'auto'),
    timeoutMs: timeoutOf(options.text('timeout')),
  };
}

function colorOf(text: string): Flags['color'] {
  const color = colors.find((name) => name === text);
  if (!color) throw usageFault('--color does not accept this value.', suggestion(text, colors));
  return color;
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(seconds >= 0.1 && seconds <= 120)) throw usageFault('--timeout must be 0.1 to 120 seconds.');
  return Math.round(seconds * 1000);
}
