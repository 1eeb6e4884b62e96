import type { components } from '@doorward/node/client';
import { describe, expect, it } from 'vitest';
import { targetOf } from './notice-target.ts';

type Notice = components['schemas']['Notification'];

const organization = { tenant: 'organization', id: '018f0000-0000-7000-8000-00000000000a' } as const;
const notice = (changes: Partial<Record<keyof Notice, unknown>>): Notice =>
  ({
    id: 'n1',
    createdAt: '2026-11-27T10:00:00.000Z',
    type: 'webhook_failing',
    title: 'A webhook is failing',
    body: null,
    target: { type: 'Webhook', id: 'w1' },
    scope: organization,
    eventId: null,
    readAt: null,
    ...changes,
  }) as Notice;

describe('targetOf', () => {
  it('leads to the row that the notification is about', () => {
    expect(targetOf(notice({}))).toEqual({ kind: 'scope', scope: organization, page: 'webhooks', row: 'w1' });
  });

  it.each([
    ['null', null],
    ['an object without an id', {}],
    ['an object with an empty id', { id: '' }],
  ])('leads to the list if the target is %s', (_, target) => {
    expect(targetOf(notice({ target }))).toMatchObject({ page: 'webhooks', row: null });
  });

  it('leads to a page without a row, even if the notification has a target', () => {
    expect(targetOf(notice({ type: 'member_joined' }))).toMatchObject({ page: 'members', row: null });
  });

  it.each([
    ['no scope', null],
    ['an unknown tenant', { ...organization, tenant: 'galaxy' }],
    ['a tenant that is the name of an inherited member', { ...organization, tenant: 'constructor' }],
    ['an id of another form', { tenant: 'organizationProject', id: organization.id }],
    ['an id with more of an address', { ...organization, id: `${organization.id}/roles` }],
  ])('leads nowhere with %s', (_, scope) => {
    expect(targetOf(notice({ scope }))).toBeNull();
  });

  it('needs no scope for a page of the user', () => {
    expect(targetOf(notice({ type: 'new_sign_in', scope: null, target: null }))).toEqual({
      kind: 'own',
      page: 'sessions',
    });
  });

  it.each([
    'invitation_received',
    'teleported',
    '',
    'constructor',
    'toString',
    '__proto__',
    'hasOwnProperty',
  ])('leads nowhere for the type %j', (type) => {
    expect(targetOf(notice({ type }))).toBeNull();
  });
});
