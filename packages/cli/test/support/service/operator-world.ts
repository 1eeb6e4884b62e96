import { serveOwnApp } from '../../../../node/test/support/service.ts';
import { installationRoleIdOf } from '../../../../server/src/access/installation-roles.ts';
import {
  firstOperator,
  installation,
  operatorEnvironment,
} from '../../../../server/test/support/tenants/operators.ts';
import { startWorld, type World } from './world.ts';

/** The project owner is also an Installation Operator, so that they can import users. */
export async function startWorldOfOperator(): Promise<World> {
  const world = await startWorld(operatorEnvironment, serveOwnApp);
  const { app } = world.service;
  const grace = await firstOperator(app);
  const operator = {
    scope: installation,
    userId: world.project.owner.userId,
    roleId: installationRoleIdOf('Installation Operator'),
    reason: 'They move the users here',
  };
  await app.must('createOperator', operator, { token: grace.token });
  return world;
}
