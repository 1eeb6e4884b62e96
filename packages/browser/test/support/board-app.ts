import type { Page } from 'playwright-core';
import { freePort } from '../../../../scripts/service.ts';
import { startApp, type TestApp } from '../../../server/test/support/app/app.ts';
import type { Person } from '../../../server/test/support/app/client.ts';
import { appInProject, type AppInProject } from '../../../server/test/support/sign-in/project-app.ts';

/** The service at an address of loopback, and an app whose users may read boards, and edit their own. */
export interface BoardApp {
  readonly service: TestApp;
  /** Of the service. */
  readonly origin: string;
  readonly app: AppInProject;
  readonly issuer: string;
  /** The role that allows `board:read`, and `board:edit` for own boards. */
  readonly roleId: string;
  /** A user of the project with this role. */
  user(): Promise<Person>;
  /** Replaces the roles of a user; none: nothing is allowed. */
  setRoles(user: Person, roleIds: readonly string[]): Promise<void>;
  /** From the first hosted page to the address where the app continues. */
  passHostedPages(page: Page, user: Person): Promise<void>;
  close(): Promise<void>;
}

/** @param pages the origin of the pages of the app */
export async function startBoardApp(pages: string): Promise<BoardApp> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const service = await startApp({ APP_URL: origin, SECURITY_ADDITIONAL_ORIGINS: 'http://localhost:4000' });
  await service.server.listen({ host: '127.0.0.1', port });
  const app = await appInProject(service, {
    redirectUris: [`${pages}/callback`],
    allowedOrigins: [pages],
    scopes: ['board:read', 'board:edit', 'board:share'],
  });
  const { scope } = app;
  const as = { token: app.owner.token };
  const { items: resources } = await service.must('resources', { scope }, as);
  const resourceId = resources.find(({ slug }) => slug === 'board')?.id ?? '';
  const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
  const edit = await service.must(
    'createPermission',
    { scope, name: 'Edit own boards', resourceId, action: 'edit', condition },
    as,
  );
  const { items: permissions } = await service.must(
    'permissions',
    { scope, search: 'board', limit: 100 },
    as,
  );
  const read = permissions.find(({ action }) => action === 'read')?.id ?? '';
  const permissionIds = [read, edit.id];
  const group = await service.must('createGroup', { scope, name: 'Boards', permissionIds }, as);
  const role = await service.must('createRole', { scope, name: 'Member', groupIds: [group.id] }, as);
  const projectId = scope.id.split(':')[1] ?? '';

  const consented = new Set<string>();
  const setRoles = async ({ userId }: Person, roleIds: readonly string[]) => {
    await service.must('updateUser', { scope, id: userId, roleIds: [...roleIds] }, as);
  };
  return {
    service,
    origin,
    app,
    issuer: app.issuer.replace('http://localhost:4000', origin),
    async user() {
      const user = await service.person();
      await service.owner.execute(
        `insert into project_users (tenant_id, user_id) values ('${projectId}', '${user.userId}')`,
      );
      await setRoles(user, [role.id]);
      return user;
    },
    roleId: role.id,
    setRoles,
    async passHostedPages(page, { email }) {
      const address = page.getByLabel('E-mail address');
      const allow = page.getByRole('button', { name: 'Allow', exact: true });
      await address.or(allow).waitFor();
      // A browser that signed in before is only asked for consent, since the app has a loopback address.
      if (!(await address.isVisible())) return allow.click();
      await address.fill(email);
      await page.getByRole('button', { name: 'Send code' }).click();
      await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
      const token = await service.mailedToken(email);
      await page.goto(`${origin}/api/auth/project/email?token=${token}`);
      await page.getByRole('button', { name: 'Continue' }).click();
      // The service asks a user once.
      if (!consented.has(email)) await allow.click();
      consented.add(email);
    },
    close: () => service.close(),
  };
}
