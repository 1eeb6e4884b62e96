import * as dclint from 'dclint';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig, variables } from '../packages/server/src/config/config.ts';

/**
 * The files for containers configure the service that this repository builds. `npm run image` executes the steps of
 * the Dockerfile.
 */
const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

type Environment = Record<string, string>;
type Services = Record<string, { environment?: Environment }>;
const servicesOf = (file: string): Services =>
  (parse(read(file), { merge: true }) as { services: Services }).services;
const environmentOf = (file: string, service = 'doorward'): Environment =>
  servicesOf(file)[service]?.environment ?? {};
/** As compose does: `${NAME:?why}` is required, `${NAME:-default}` has one. */
const filled = (environment: Environment, given: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, (_, variable: string, kind: string, rest: string) => {
        const set = given[variable] ?? (kind === '-' ? rest : undefined);
        if (set === undefined) throw new Error(`${variable}: ${rest}`);
        return set;
      }),
    ]),
  );
const ofImage = { NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '4000', DATA_DIR: '/data' };
const required = {
  APP_URL: 'https://access.example.com',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  POSTGRES_PASSWORD: 'letters1',
  SMTP_URL: 'smtp://mail.example.com:587',
};

/** The linter, whose own types name files without their extension and so lead nowhere. */
interface Linter {
  readonly DCLinter: new (config: object) => {
    lintFiles(paths: readonly string[], recursive: boolean): readonly Linted[];
  };
}
const { DCLinter } = dclint as unknown as Linter;

interface Linted {
  readonly filePath: string;
  readonly messages: readonly {
    readonly rule: string;
    readonly severity: string;
    readonly message: string;
  }[];
}

describe('compose', () => {
  it.each([
    ['compose.yaml', 'doorward'],
    ['compose.trial.yaml', 'doorward'],
    ['compose.two-nodes.yaml', 'node-a'],
    ['compose.two-nodes.yaml', 'node-b'],
  ])('%s sets variables of the service alone for %s', (file, service) => {
    const existing = new Set<string>(variables.map(({ name }) => name));
    const names = Object.keys(environmentOf(file, service));
    expect(names).toContain('DATABASE_URL');
    expect(names.filter((name) => !existing.has(name))).toEqual([]);
  });

  it('follows the schema of the Compose specification', () => {
    const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
    const files = readdirSync(root).filter((file) => /^compose\..*yaml$/.test(file));
    const linted = linter.lintFiles(
      files.map((file) => join(root, file)),
      false,
    );
    expect(linted.length).toBe(files.length);
    // What is minor concerns the order of keys alone.
    const faults = linted.flatMap(({ filePath, messages }) =>
      messages
        .filter(({ severity }) => severity !== 'minor' && severity !== 'info')
        .map(({ rule, message }) => `${basename(filePath)}: ${rule}: ${message}`),
    );
    // The proxy is for the whole network.
    const open = ['80:80', '443:443'].map(
      (port) => expect.stringContaining(`"proxy" is exporting port "${port}"`) as string,
    );
    expect(faults).toEqual(open);
  });

  it('gives two nodes the same configuration, and trusts the address of the proxy alone', () => {
    const file = 'compose.two-nodes.yaml';
    expect(environmentOf(file, 'node-a')).toEqual(environmentOf(file, 'node-b'));
    const config = loadConfig({ ...ofImage, ...filled(environmentOf(file, 'node-a'), required) });
    expect(config).toMatchObject({ production: true, mode: 'postgres' });
    const { proxy } = servicesOf(file) as { proxy?: { networks?: { default: { ipv4_address: string } } } };
    expect(environmentOf(file, 'node-a')['SECURITY_TRUSTED_PROXIES']).toBe(
      `${proxy?.networks?.default.ipv4_address}/32`,
    );
  });

  it('starts in production with the four required variables, over http when that is allowed', () => {
    const environment = environmentOf('compose.yaml');
    const config = (given: Environment) => loadConfig({ ...ofImage, ...filled(environment, given) });
    expect(config(required)).toMatchObject({
      production: true,
      mode: 'postgres',
      mail: { provider: 'smtp' },
    });
    const local = { ...required, APP_URL: 'http://localhost:4000' };
    expect(() => config(local)).toThrow('APP_URL must be https');
    expect(config({ ...local, APP_URL_ALLOW_HTTP: 'true' }).appUrl).toBe('http://localhost:4000');
    for (const name of Object.keys(required)) {
      const { [name]: _, ...others } = required as Environment;
      expect(() => config(others)).toThrow(name);
    }
  });

  it('can be tried without setting a variable', () => {
    const config = loadConfig({ ...ofImage, ...filled(environmentOf('compose.trial.yaml'), {}) });
    expect(config).toMatchObject({ production: false, mode: 'postgres', appUrl: 'http://localhost:4000' });
  });
});

it('a slow request does not make the proxy leave out a node, nor is it sent to the other one', () => {
  const conf = read('deploy/nginx.conf');
  const numbers = (pattern: RegExp) => [...conf.matchAll(pattern)].map(([, text]) => Number(text));
  // nginx counts a time-out of the answer as a failure of the node.
  const failures = numbers(/max_fails=(\d+)/g);
  expect(failures).toHaveLength(2);
  expect(Math.min(...failures)).toBeGreaterThan(1);
  // It repeats what a node did not take, and what a node did not answer: the time tells these apart.
  const [passing = Infinity] = numbers(/proxy_next_upstream_timeout (\d+)s/g);
  const [connecting = 0] = numbers(/proxy_connect_timeout (\d+)s/g);
  const [reading = 0] = numbers(/proxy_read_timeout (\d+)s/g);
  expect([connecting < passing, passing < reading]).toEqual([true, true]);
});

it('the image copies the npm settings before it installs', () => {
  const dockerfile = read('Dockerfile');
  expect(dockerfile).toMatch(/^COPY .*\.npmrc.*\n(?:COPY packages\/\S+ \S+\n)+RUN npm ci$/m);
  expect([...dockerfile.matchAll(/^FROM node:(\d+)-/gm)].map(([, version]) => version)).toEqual(['24', '24']);
});
