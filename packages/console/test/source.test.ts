import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtIns } from '../../server/src/access/built-in.ts';
import { operationTable } from '../../node/src/client/generated/table.ts';

/** What the sources of the console must and must not contain, whatever its pages show. */
const root = join(import.meta.dirname, '../src');
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const filesWith = (pattern: RegExp): string[] =>
  sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

describe('the sources', () => {
  it('insert no HTML and no styles, which the policy of the page refuses', () => {
    expect(filesWith(/dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|<style/)).toEqual(
      [],
    );
  });

  it('reach the service through the client only', () => {
    // The client of a former session leaves out the cookie, which is that of the new one.
    expect(filesWith(/\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon/)).toEqual([
      'session/session.ts',
    ]);
  });

  it('keep nothing in the browser but settings', () => {
    expect(filesWith(/localStorage|sessionStorage|indexedDB|document\.cookie/)).toEqual(['settings.ts']);
  });

  it('write nothing to the log of the browser', () => {
    expect(filesWith(/console\.(?:log|info|debug|warn|error)/)).toEqual([]);
  });

  it('have each page in one section of the navigation', () => {
    const read = (path: string): string => readFileSync(join(root, path), 'utf8');
    const pages = [...read('pages/pages.ts').matchAll(/^ {2}page\(\s*'([a-z-]+)'/gm)].map(([, name]) => name);
    const listed = [...read('pages/sections.ts').matchAll(/names: \[(.*?)\]/gs)].flatMap(([, names = '']) =>
      [...names.matchAll(/'([a-z-]+)'/g)].map(([, name]) => name),
    );
    expect(pages.length).toBeGreaterThan(20);
    expect([...listed].sort()).toEqual([...new Set(pages)].sort());
  });

  it('say what each built-in role is for, in every language', async () => {
    // By its address: the compiler of the tests knows no browser, and this file does.
    const { builtInRoles } = (await import(join(root, 'pages/access/built-in-roles.ts'))) as {
      readonly builtInRoles: Readonly<Record<string, Readonly<Record<string, string>>>>;
    };
    const names = builtIns([]).roles.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(5);
    const texts = Object.entries(builtInRoles);
    expect(texts.map(([language]) => language)).toEqual(['en', 'de', 'es', 'fr']);
    for (const [, ofLanguage] of texts) expect(Object.keys(ofLanguage).sort()).toEqual([...names].sort());
    expect(new Set(texts.flatMap(([, ofLanguage]) => Object.values(ofLanguage))).size).toBe(names.length * 4);
  });

  it('are small files with one idea', () => {
    const large = sources
      .filter(({ path, text }) => !/texts?\.ts$|i18n\//.test(path) && text.split('\n').length > 320)
      .map(({ path }) => path);
    expect(large).toEqual([]);
  });
});

/** Changes that the console does not offer, and why. */
const notOffered: Readonly<Record<string, string>> = {
  exchangeApiKey: 'for machines',
  exchangeCliCode: 'for command lines',
  startDeviceSignIn: 'for command lines',
  exchangeDeviceCode: 'for command lines',
  projectToken: 'for the back end of an app',
  revokeProjectToken: 'for the back end of an app',
  authorizeProjectDevice: 'for devices',
  projectUserInfoByPost: 'for the back end of an app',
  isAuthorizedBatch: 'for programs; the page "Why?" explains one question at a time',
  introspectProjectToken: 'for the back end of an app',
  applyPolicy: 'documents stand in repositories: doorward policy apply; the page goes back to a version',
  importUsers: 'files of many users: doorward users import',
  acceptInvitation: 'the page of the mailed link does',
  verifyEmail: 'the page of the mailed link does',
  resetPassword: 'the page of the mailed link does',
  registerProjectClient: 'clients do it themselves',
  deleteProjectClientRegistration: 'clients do it themselves; owners delete the app',
};

describe('each change of the API', () => {
  const changes = Object.entries(operationTable)
    .filter(([, form]) => /^(?:POST|PUT|PATCH|DELETE) /.test(form))
    .map(([name]) => name);
  const all = sources.map(({ text }) => text).join('\n');

  it.each(changes)('%s is offered, or left out for a reason', (name) => {
    const isOffered = new RegExp(`\\.${name}\\(`).test(all);
    expect(isOffered ? 'offered' : (notOffered[name] ?? 'missing')).toBe(
      isOffered ? 'offered' : notOffered[name],
    );
  });

  it('that is left out exists, and is not offered', () => {
    const wrong = Object.keys(notOffered).filter(
      (name) => !changes.includes(name) || new RegExp(`\\.${name}\\(`).test(all),
    );
    expect(wrong).toEqual([]);
  });
});
