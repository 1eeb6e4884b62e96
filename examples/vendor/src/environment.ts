import { createDoorward, type Doorward } from '@doorward/node';

const [tenant, accountId = '', projectId = ''] = (process.env['PROJECT_SCOPE'] ?? '').split(':');
if (tenant !== 'accountProject') throw new Error('Set PROJECT_SCOPE, which `npm run setup` prints.');

/** The account of the vendor, and its project. */
export const account = { tenant: 'account', id: accountId } as const;
export const project = { tenant, id: `${accountId}:${projectId}` } as const;

/** The same project for one customer, whose users, roles and keys there are apart from all others. */
export const projectOf = (organizationId: string) =>
  ({ tenant: 'organizationProject', id: `${organizationId}:${projectId}` }) as const;

/** The machine that onboards customers, by its key. */
export const machine = (): Doorward =>
  createDoorward({
    clientId: process.env['ONBOARDING_CLIENT_ID'],
    clientSecret: process.env['ONBOARDING_CLIENT_SECRET'],
    scope: account,
  });
