import { createDoorward } from '@doorward/node';
import { projectOf } from './environment.ts';

/** An administrator of a customer invites a person and gives them a role of the project, by their own token. */
const { DOORWARD_URL = '', ADMIN_TOKEN = '' } = process.env;
const [organizationId = '', email = '', roleName = ''] = process.argv.slice(2);

const { api } = createDoorward({ url: DOORWARD_URL, token: ADMIN_TOKEN });
const scope = { tenant: 'organization', id: organizationId } as const;
const { items } = await api.organizationGrants({ scope, status: 'active' });
const grant = items.find((item) => item.scope.id === projectOf(organizationId).id);
const role = grant?.roles.find(({ name }) => name === roleName);
if (!grant || !role) throw new Error(`The grant has no role ${roleName}.`);

const viewer = (await api.roles({ scope, search: 'Organization Viewer' })).items[0];
const grants = [{ grantId: grant.id, roleIds: [role.id] }];
await api.inviteMember({ scope, email, roleId: viewer?.id ?? '', grants });
process.stdout.write(`${email} is invited as ${roleName}\n`);
