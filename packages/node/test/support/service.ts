import { freePort } from '../../../../scripts/service.ts';
import { startApp, startOwnApp, type TestApp } from '../../../server/test/support/app/app.ts';
import { appInProject, type AppInProject } from '../../../server/test/support/sign-in/project-app.ts';
import { roleWith } from '../../../server/test/support/sign-in/project-app.ts';
import type { Scope } from '../../src/contracts/types.ts';

/** The real service on a real socket, in this process. */
export interface ServiceUnderTest {
  readonly app: TestApp;
  readonly url: string;
  readonly close: () => Promise<void>;
}

export async function serveApp(env: Record<string, string> = {}): Promise<ServiceUnderTest> {
  const key = JSON.stringify(env);
  const unused = ports.get(key) ?? [];
  ports.set(key, unused);
  const port = unused.pop() ?? (await freePort());
  const service = await serve(startApp, env, port);
  return {
    ...service,
    async close() {
      await service.close();
      unused.push(port);
    },
  };
}

/** Like `serveApp`, but the service belongs to the caller alone, and `close` ends it. */
export const serveOwnApp = async (env: Record<string, string> = {}): Promise<ServiceUnderTest> =>
  serve(startOwnApp, env, await freePort());

async function serve(
  start: (env: Record<string, string>) => Promise<TestApp>,
  env: Record<string, string>,
  port: number,
): Promise<ServiceUnderTest> {
  const url = `http://127.0.0.1:${port}`;
  const app = await start({ APP_URL: url, ...env });
  const { server } = app.app;
  if (!server.server.listening) await server.listen({ host: '127.0.0.1', port });
  return { app, url, close: () => app.close() };
}

/** Ports that earlier files of the worker used, by the environment variables of the service. */
const ports = new Map<string, number[]>();

export interface ProjectUnderTest extends AppInProject {
  readonly scope: Scope;
  readonly key: { readonly id: string; readonly clientId: string; readonly clientSecret: string };
  readonly roleId: string;
  /** What a client with the key of the project is made with. */
  readonly options: {
    readonly url: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly scope: Scope;
  };
}

/** A project with the resource `board`, and a key whose role has these actions of it, or a built-in role. */
export async function projectWithKey(
  { app, url }: ServiceUnderTest,
  role: readonly string[] | { readonly roleId: string } = ['read'],
): Promise<ProjectUnderTest> {
  const project = await appInProject(app);
  const as = { token: project.owner.token };
  const roleId = 'roleId' in role ? role.roleId : await roleWith(app, project, role);
  const scope = project.scope as Scope;
  const key = await app.must('createApiKey', { scope: project.scope, name: 'backend', roleId }, as);
  const { clientId, clientSecret } = key as { clientId: string; clientSecret: string };
  return {
    ...project,
    scope,
    key: { id: key.id, clientId, clientSecret },
    roleId,
    options: { url, clientId, clientSecret, scope },
  };
}
