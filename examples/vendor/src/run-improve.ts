import { createDoorward } from '@doorward/node';
import { project as scope } from './environment.ts';

/** The vendor adds a permission to what clerks may do. Clerks of all customers have it at once. */
const { DOORWARD_URL = '', DOORWARD_TOKEN = '' } = process.env;

const { api } = createDoorward({ url: DOORWARD_URL, token: DOORWARD_TOKEN });
const { items } = await api.resources({ scope, search: 'invoice' });
const groups = await api.groups({ scope, search: 'Writing', relations: ['permissions'] });
const [group] = groups.items;
if (!group) throw new Error('Run `npm run setup` first.');
const { id } = await api.createPermission({ scope, resourceId: items[0]?.id ?? '', action: 'pay' });
const permissionIds = [...(group.permissions ?? []).map((permission) => permission.id), id];
await api.updateGroup({ scope, id: group.id, permissionIds });
process.stdout.write('clerks may pay\n');
