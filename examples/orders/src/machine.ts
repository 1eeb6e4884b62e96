import { createClient } from '@doorward/node/client';

/** A machine of a customer: it exchanges its key for a token, and reads the orders. */
const { DOORWARD_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', DOORWARD_SCOPE = '' } = process.env;
const { ORDERS_URL = 'http://127.0.0.1:3000' } = process.env;

const [tenant, ...id] = DOORWARD_SCOPE.split(':');
if (tenant !== 'accountProject' && tenant !== 'organizationProject') throw new Error('Set DOORWARD_SCOPE.');

const { accessToken } = await createClient({ url: DOORWARD_URL }).api.exchangeApiKey({
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  scope: { tenant, id: id.join(':') },
});
const response = await fetch(`${ORDERS_URL}/orders`, { headers: { authorization: `Bearer ${accessToken}` } });
process.stdout.write(`${response.status} ${await response.text()}\n`);
