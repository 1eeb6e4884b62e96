import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { firmOf, may, type Firm } from '../support/tenants/firm.ts';

/**
 * Conditions read the metadata that a tenant has for a user: changing it changes permissions, and is checked for
 * escalation in every scope that reads it.
 */
const unlessBlocked = { on: 'AuditLog:Query', when: { Not: { Equals: { 'user.metadata.blocked': true } } } };
const ifCleared = { on: 'AuditLog:Query', when: { Equals: { 'user.metadata.cleared': true } } };

let app: TestApp;
let firm: Firm;
beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = ({ token }: { token: string }) => ({ token, via });
  const memberWith = async (
    ...rights: Parameters<Firm['role']> extends [unknown, ...infer R] ? R : never
  ) => {
    const { organization, owner } = firm;
    const person = await firm.member('Organization Viewer');
    const { roleId } = await firm.role(organization, ...rights);
    await app.must(
      'updateOrganizationMember',
      { scope: organization, userId: person.userId, roleId },
      as(owner),
    );
    return person;
  };

  describe('metadata of a member of an organization', () => {
    let clerk: Awaited<ReturnType<typeof memberWith>>;
    beforeEach(async () => {
      clerk = await memberWith('User:Query', 'User:Update', 'User:Create', 'Project:Query', ...viewing);
    });
    /** The permissions of a viewer of the organization, so that only the project can refuse. */
    const viewing = [
      ...[
        'Organization',
        'OrganizationInvitation',
        'OrganizationDomain',
        'OrganizationMember',
        'Role',
        'Group',
        'Permission',
      ],
      ...[
        'Policy',
        'ProjectGrant',
        'Resource',
        'Tag',
        'ApiKey',
        'ProjectApp',
        'SigningKey',
        'WebhookSubscription',
      ],
    ].map((noun) => `${noun}:Query`);

    it('cannot change permissions in a project that the caller does not hold there', async () => {
      const { organization, project, owner } = firm;
      const colleague = await firm.user({}, ifCleared);
      const change = { scope: organization, id: colleague.userId, metadata: { cleared: true } };
      for (const dryRun of [true, false]) {
        const answer = await app.call('updateUser', { ...change, dryRun } as never, as(clerk));
        expect(answer).toMatchObject({ ok: false, code: 'PRIVILEGE_ESCALATION' });
        expect(answer.details).toMatchObject([{ path: 'AuditLog:Query', code: 'permission' }]);
      }
      expect(await may(app, colleague.token, project, 'AuditLog:Query')).toBe(false);
      await app.must('updateUser', change, as(owner));
      expect(await may(app, colleague.token, project, 'AuditLog:Query')).toBe(true);
    });

    it('can be changed for a member who holds nothing in the projects that the caller lacks', async () => {
      const colleague = await firm.user({}, 'User:Query');
      const change = { scope: firm.organization, id: colleague.userId, metadata: { desk: 4 } };
      await app.must('updateUser', change, as(clerk));
    });

    it('does not prevent refusing to disable or rename a member who holds more there', async () => {
      const { organization, project, owner } = firm;
      const { roleId } = await firm.role(project, ifCleared);
      const viewer = (
        await app.must('roles', { scope: organization, isSystem: true, search: 'Viewer' }, as(owner))
      ).items[0];
      const robot = await app.must(
        'createUser',
        { scope: organization, name: 'Robot', roleIds: [viewer?.id ?? ''] },
        as(owner),
      );
      await app.must('createUser', { scope: project, userId: robot.id, roleIds: [roleId] }, as(owner));
      for (const change of [{ status: 'disabled' as const }, { name: 'Chief' }]) {
        const answer = await app.call(
          'updateUser',
          { scope: organization, id: robot.id, ...change },
          as(clerk),
        );
        expect(answer.code).toBe('PRIVILEGE_ESCALATION');
      }
    });
  });

  describe('metadata of a project user who stays a member', () => {
    const leave = (person: { token: string; userId: string }, dryRun = false) =>
      app.raw(
        'deleteUser',
        { scope: firm.project, id: person.userId, ...(dryRun && { dryRun }) },
        as(person),
      );
    const joined = async (metadata: object, ...rights: Parameters<typeof memberWith>) => {
      const person = await memberWith('User:Delete', 'User:Query', ...rights);
      await app.must(
        'createUser',
        { scope: firm.project, userId: person.userId, metadata } as never,
        as(firm.owner),
      );
      return person;
    };

    it('is not removed by leaving, where it keeps a permission from them', async () => {
      const blocked = await joined({ blocked: true }, unlessBlocked);
      await app.must(
        'updateUser',
        { scope: firm.organization, id: blocked.userId, metadata: { blocked: false } },
        as(firm.owner),
      );
      expect(await may(app, blocked.token, firm.project, 'AuditLog:Query')).toBe(false);
      for (const dryRun of [true, false]) {
        expect(await leave(blocked, dryRun)).toMatchObject({ ok: false, code: 'PRIVILEGE_ESCALATION' });
      }
      expect(await may(app, blocked.token, firm.project, 'AuditLog:Query')).toBe(false);
      await app.must('deleteUser', { scope: firm.project, id: blocked.userId }, as(firm.owner));
    });

    it('is removed with them where it is empty, or keeps no permission from them', async () => {
      for (const [metadata, right] of [
        [{}, ifCleared],
        [{ blocked: false }, unlessBlocked],
        [{ desk: 4 }, 'AuditLog:Query'],
      ] as const) {
        const left = await leave(await joined(metadata, right));
        expect(left.ok, left.body).toBe(true);
      }
    });
  });
});
