import { TokenError, type Doorward, type Principal } from '@doorward/node';
import { guard } from '@doorward/node/express';
import express, { type Express, type Request } from 'express';
import { project, projectOf } from './environment.ts';

/** An invoice of a customer. A real service has a database here. */
interface Invoice {
  readonly number: number;
  isPaid: boolean;
}

/**
 * Invoices of all customers. The customer is in the path, and Doorward is asked in the project of that customer: a caller
 * without rights there is refused, whatever rights they have for another customer.
 */
export function invoicesService(doorward: Doorward): Express {
  const invoices = new Map<string, Invoice[]>();
  const of = ({ params }: Request): Invoice[] => invoices.get(params['customer'] as string) ?? [];
  const invoiceOf = (request: Request) =>
    of(request).find(({ number }) => String(number) === request.params['number']);
  const { requirePermission } = guard(doorward, {
    who: (request: Request) => callerOf(doorward, request),
    scope: ({ params }: Request) => projectOf(params['customer'] as string),
  });
  const app = express();

  // An id is a uuid in lower case; the scope of anything else would be none.
  app.param('customer', (_request, response, next, id: string) =>
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? next() : response.sendStatus(404),
  );
  app.get('/customers/:customer/invoices', requirePermission('invoice:read'), (request, response) => {
    response.json(of(request));
  });
  app.post('/customers/:customer/invoices', requirePermission('invoice:write'), (request, response) => {
    const all = of(request);
    const invoice = { number: all.length + 1, isPaid: false };
    invoices.set(request.params['customer'], [...all, invoice]);
    response.status(201).json(invoice);
  });
  const pay = requirePermission('invoice:pay', { context: (request) => ({ resource: invoiceOf(request) }) });
  app.post('/customers/:customer/invoices/:number/pay', pay, (request, response) => {
    const invoice = invoiceOf(request);
    if (invoice) invoice.isPaid = true;
    response.json(invoice);
  });
  return app;
}

/**
 * A person by their session of Doorward, a machine of a customer by a token of its key. Keys of all customers have the
 * issuer of the vendor's project, so `anyCustomer` says that they are welcome; Doorward refuses a key outside of its own
 * customer.
 */
async function callerOf(doorward: Doorward, request: Request): Promise<Principal | null> {
  const token = /^bearer +(.*)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (!token) return null;
  const options = { scope: project, anyCustomer: true, types: ['session', 'ApiKey'] } as const;
  return doorward.verifyToken(token, options).catch((error) => {
    if (error instanceof TokenError) return null;
    throw error;
  });
}
