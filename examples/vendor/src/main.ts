import { createDoorward } from '@doorward/node';
import { invoicesService } from './invoices.ts';

/** The service needs no key: Doorward is asked with the token of each caller. */
const { DOORWARD_URL = '', PORT = '3000' } = process.env;

const doorward = createDoorward({ url: DOORWARD_URL });
const server = invoicesService(doorward).listen(Number(PORT), '127.0.0.1', () =>
  process.stdout.write(`The invoices are at http://127.0.0.1:${PORT}/customers/<organization>/invoices\n`),
);
process.once('SIGTERM', () => server.close());
