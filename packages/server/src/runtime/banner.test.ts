import { expect, test } from 'vitest';
import { banner, listeningAt } from './banner.ts';
import { loadConfig } from '../config/config.ts';

const printed = (env: Record<string, string>, port = 4000): string => {
  const config = loadConfig(env);
  return banner(config, listeningAt(config.http.host, port), { ms: 12, next: 'npm run demo', docs: false });
};

test('says where this process listens, and names APP_URL apart when that is elsewhere', () => {
  expect(printed({})).toContain('Doorward is ready at http://localhost:4000  (12 ms)');
  expect(printed({})).not.toContain('APP_URL');
  const second = printed({ PORT: '4301', APP_URL: 'http://localhost:4300' }, 4301);
  expect(second).toContain('Doorward is ready at http://localhost:4301 ');
  expect(second).toMatch(/APP_URL +http:\/\/localhost:4300\n/);
  expect(listeningAt('::', 1)).toBe('http://localhost:1');
  expect(listeningAt('::1', 1)).toBe('http://[::1]:1');
  expect(listeningAt('127.0.0.1', 1)).toBe('http://127.0.0.1:1');
});

test('names no explorer that is off', () => {
  expect(printed({})).toMatch(/api-docs[\s\S]*graphql/);
  const off = printed({ API_DOCS_ENABLED: 'false', GRAPHQL_EXPLORER: 'false' });
  expect(off).not.toMatch(/api-docs|graphql/);
});
