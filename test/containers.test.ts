import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
const environmentOf = (file: string) =>
  (parse(read(file)) as { services: { doorward: { environment: Environment } } }).services.doorward
    .environment;
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

describe('compose', () => {
  it.each(['compose.yaml', 'compose.trial.yaml'])('%s sets variables of the service alone', (file) => {
    const existing = new Set<string>(variables.map(({ name }) => name));
    expect(Object.keys(environmentOf(file)).filter((name) => !existing.has(name))).toEqual([]);
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

it('the image copies the npm settings before it installs', () => {
  const dockerfile = read('Dockerfile');
  expect(dockerfile).toMatch(/^COPY .*\.npmrc.*\n(?:COPY packages\/\S+ \S+\n)+RUN npm ci$/m);
  expect([...dockerfile.matchAll(/^FROM node:(\d+)-/gm)].map(([, version]) => version)).toEqual(['24', '24']);
});
