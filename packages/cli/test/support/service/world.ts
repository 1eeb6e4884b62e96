import {
  projectWithKey,
  serveApp,
  type ProjectUnderTest,
  type ServiceUnderTest,
} from '../../../../node/test/support/service.ts';
import { roleIdOf } from '../../../../server/src/schema/rights/built-in-ids.ts';
import { doorward } from '../run/doorward.ts';
import type { How } from '../run/how.ts';
import type { Ended } from '../run/recorded-output.ts';

/** A service, a project with a key that may do everything in it, and its owner. */
export interface World {
  readonly service: ServiceUnderTest;
  readonly project: ProjectUnderTest;
  readonly scope: string;
  /** With the key of the project. */
  readonly key: Readonly<Record<string, string>>;
  /** With the session of the owner. */
  readonly owner: Readonly<Record<string, string>>;
  readonly run: (args: readonly string[], how?: How) => Promise<Ended>;
  /** With the session; fails unless the exit code is 0. Answers the JSON. */
  readonly json: <T = Record<string, unknown>>(args: readonly string[], how?: How) => Promise<T>;
}

/** `serve`: `serveOwnApp` for a file that registers a fixed address, which it can do once in a service. */
export async function startWorld(
  env: Record<string, string> = {},
  serve: typeof serveApp = serveApp,
): Promise<World> {
  const service = await serve(env);
  const project = await projectWithKey(service, { roleId: roleIdOf('Project Admin') });
  const scope = `${project.scope.tenant}:${project.scope.id}`;
  const at = { DOORWARD_URL: service.url, DOORWARD_SCOPE: scope };
  const { clientId, clientSecret } = project.options;
  const owner = { ...at, DOORWARD_TOKEN: project.owner.token };
  const run = (args: readonly string[], how: How = {}) =>
    doorward(args, { ...how, env: { ...owner, ...how.env } });
  return {
    ...{ service, project, scope, owner, run },
    key: { ...at, DOORWARD_CLIENT_ID: clientId, DOORWARD_CLIENT_SECRET: clientSecret },
    async json<T>(args: readonly string[], how: How = {}): Promise<T> {
      const { code, stdout, stderr } = await run([...args, '--json'], how);
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
  };
}
