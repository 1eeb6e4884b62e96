import type { components } from '@doorward/node/client';
import { describe, expect, it } from 'vitest';
import { registrationFields, registrationInput, registrationTexts } from './registration-fields.ts';

type Project = components['schemas']['Project'];

const scope = {
  tenant: 'accountProject',
  id: '018f0000-0000-7000-8000-00000000000a:018f0000-0000-7000-8000-00000000000b',
} as const;
const project: Project = {
  id: '018f0000-0000-7000-8000-00000000000b',
  createdAt: '2026-11-27T10:00:00.000Z',
  updatedAt: '2026-11-27T10:00:00.000Z',
  deletedAt: null,
  name: 'Shop',
  slug: 'shop',
  description: null,
  owner: { tenant: 'account', id: '018f0000-0000-7000-8000-00000000000a' },
  scope,
  metadata: {},
  dynamicRegistration: 'token',
  registrableScopes: ['invoice:read', 'invoice:pay'],
  registrableResources: [],
};
const fields = registrationFields(registrationTexts.en, project);
const unchanged = Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));

describe('registrationInput', () => {
  it('sends nothing of a form in which nothing was changed', () => {
    expect(registrationInput(project, unchanged)).toEqual({});
    expect(registrationInput(project, structuredClone(unchanged))).toEqual({});
  });

  it.each<[what: string, Readonly<Record<string, unknown>>]>([
    ['a list that became empty', { registrableScopes: [] }],
    ['a list that is no longer empty', { registrableResources: ['https://api.example.com'] }],
    ['the same lines in another order', { registrableScopes: ['invoice:pay', 'invoice:read'] }],
    ['two lines that became one', { registrableScopes: ['invoice:read,invoice:pay'] }],
    ['an option', { dynamicRegistration: 'off' }],
    ['null in place of a list', { registrableResources: null }],
  ])('sends %s, and no other field', (_, change) => {
    expect(registrationInput(project, { ...unchanged, ...change })).toEqual(change);
  });

  it('leaves the fields of others as they are, also those that equal the project', () => {
    const others = { name: 'Shop', slug: undefined, metadata: {}, ['__proto__']: 1 };
    const input = registrationInput(project, { ...unchanged, ...others });
    expect(Object.entries(input)).toEqual(Object.entries(others));
  });

  it('does not write into the values of the form', () => {
    const values = Object.freeze({ ...unchanged, dynamicRegistration: 'off' });
    registrationInput(project, values);
    expect(Object.keys(values)).toHaveLength(fields.length);
  });
});

describe('registrationFields', () => {
  it('shows the lists only while registration is on, by what the form holds and not the project', () => {
    const shownWith = (dynamicRegistration: unknown): string[] =>
      fields.filter(({ isShown }) => isShown?.({ dynamicRegistration }) ?? true).map(({ name }) => name);
    expect(shownWith('token')).toEqual(['dynamicRegistration', 'registrableScopes', 'registrableResources']);
    for (const off of ['off', undefined, true, 'Token'])
      expect(shownWith(off)).toEqual(['dynamicRegistration']);
  });

  it('has a text for each field and option in every language', () => {
    for (const [language, texts] of Object.entries(registrationTexts))
      for (const field of registrationFields(texts, project)) {
        const options = field.kind === 'option' ? field.options.map(({ name }) => name) : [];
        expect([language, [field.label, field.hint, ...options].every(Boolean)]).toEqual([language, true]);
      }
  });
});
