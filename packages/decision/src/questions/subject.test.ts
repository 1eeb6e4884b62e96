import { describe, expect, it } from 'vitest';
import { snapshot } from '../../test/policy/documents.ts';
import { compileSnapshot } from '../policy/compile.ts';
import { decide } from './decide.ts';
import { covers, type Subject } from './subject.ts';

const key = (id: string, userId: string, ofUser: boolean) => ({
  ...{ id, userId, ofUser, roleId: ofUser ? null : 'editor' },
  ...{ expiresAt: null, allowedCidrs: [], attributes: { metadata: { team: 'maker' } } },
});
const policyFor = (userFilter: 'all' | 'none' | string[]) =>
  compileSnapshot(
    snapshot({
      userFilter,
      resources: [
        { id: 'order', slug: 'order', isSystem: false },
        { id: 'key', slug: 'ApiKey', isSystem: true },
      ],
      permissions: [
        {
          ...{ id: 'p1', name: 'p1', resourceId: 'order', action: 'read', createdAt: 1 },
          condition: { Equals: { 'resource.team': '{{user.metadata.team}}' } },
        },
        { id: 'p2', name: 'p2', resourceId: 'key', action: 'Query', condition: null, createdAt: 2 },
      ],
      groups: [{ id: 'g', name: 'g', permissionIds: ['p1', 'p2'] }],
      roles: [{ id: 'editor', name: 'editor', groupIds: ['g'] }],
      users: [{ id: 'ann', roleIds: ['editor'], attributes: { metadata: { team: 'user' } } }],
      keys: [key('own', 'gone', false), key('of ann', 'ann', true), key('of bob', 'bob', true)],
      apps: [
        { clientId: 'open', scopes: null, updatedAt: 1 },
        { clientId: 'narrow', scopes: ['order:read', 'ApiKey:Query'], updatedAt: 1 },
      ],
    }),
  );

describe('covers', () => {
  it.each<[string, Subject, boolean, boolean, boolean]>([
    ['a listed user', { userId: 'ann' }, true, true, false],
    ['a user in the filter who is not active', { userId: 'bob' }, true, true, false],
    ['a user outside of the filter', { userId: 'eve' }, true, false, false],
    ['an app for a listed user', { userId: 'ann', clientId: 'open' }, true, true, false],
    ['an app for another user', { userId: 'eve', clientId: 'open' }, true, false, false],
    ['a key with a role', { apiKeyId: 'own' }, true, true, true],
    ['a key with the rights of a user', { apiKeyId: 'of ann' }, true, true, false],
    ['a key that has ended', { apiKeyId: 'none' }, true, true, true],
  ])('%s', (_, subject, all, some, none) => {
    expect(covers(policyFor('all'), subject)).toBe(all);
    expect(covers(policyFor(['ann', 'bob']), subject)).toBe(some);
    expect(covers(policyFor('none'), subject)).toBe(none);
  });
});

describe('the rights', () => {
  const policy = policyFor('all');
  const ask = (subject: Subject, permission: string, team?: string) =>
    decide(policy, { subject, permission, context: { resource: { team } }, now: 0 }).reason;

  it('of a key are those of its role, with the attributes of the user who made it', () => {
    expect(ask({ apiKeyId: 'own' }, 'order:read', 'maker')).toBe('ALLOWED_BY_CONDITION');
    expect(ask({ apiKeyId: 'own' }, 'order:read', 'user')).toBe('CONDITION_NOT_MET');
    expect(ask({ apiKeyId: 'own' }, 'ApiKey:Query')).toBe('ALLOWED');
  });

  it('of a key of a user are those of the user', () => {
    expect(ask({ apiKeyId: 'of ann' }, 'order:read', 'user')).toBe('ALLOWED_BY_CONDITION');
    expect(ask({ apiKeyId: 'of bob' }, 'order:read')).toBe('SUBJECT_INACTIVE');
  });

  it.each<[string, string, string[] | null, string, string]>([
    ['an open app has the project plane', 'open', null, 'CONDITION_NOT_MET', 'NO_PERMISSION'],
    ['a token restricts an open app', 'open', ['ApiKey:Query'], 'SCOPE_NOT_CONSENTED', 'ALLOWED'],
    [
      'an app restricts an open token to the project plane',
      'narrow',
      null,
      'CONDITION_NOT_MET',
      'SCOPE_NOT_CONSENTED',
    ],
    ['both restrict', 'narrow', ['ApiKey:Query', 'order:write'], 'SCOPE_NOT_CONSENTED', 'ALLOWED'],
    ['no scopes allow nothing', 'narrow', [], 'SCOPE_NOT_CONSENTED', 'SCOPE_NOT_CONSENTED'],
  ])('of an app: %s', (_, clientId, scopes, onProject, onManagement) => {
    const subject = { userId: 'ann', clientId, scopes };
    expect(ask(subject, 'order:read')).toBe(onProject);
    expect(ask(subject, 'ApiKey:Query')).toBe(onManagement);
  });
});
