import { uuid } from '../../kernel/input/values.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { Project } from '../../schema/tenants/project.ts';

const tenants: readonly Tenant[] = ['accountProject', 'organizationProject'];
/** Members that the declarations of policy operations share. */
export const common = {
  tenants,
  target: Project,
  notForApps: 'Use a session, or an API key of the project: policies are for people and pipelines.',
} as const;
export const inProject = { scope: Scope, id: uuid.describe('Id of the project of the scope.') };
