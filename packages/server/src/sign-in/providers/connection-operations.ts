import { z } from 'zod';
import { providerAnswer } from '../federation/provider-input.ts';
import { uuid } from '../../kernel/input/values.ts';
import { mutation } from '../../declare.ts';
import { redirect } from '../../kernel/output/reply.ts';
import { browserOperation, flowParameter, redirects } from '../steps/browser-operation.ts';
import { fromConnection, reachConnection, takeMember, toConnection } from '../methods/connection-steps.ts';

/*
 * Sign-in through the identity provider of an organization. Each connection has its own callback, so that a response
 * from one provider never reaches the callback of another (RFC 9700 §4.4.2.2).
 */

const id = uuid.describe('Id of the connection.');

export const startConnection = mutation({
  ...browserOperation,
  rest: 'GET /auth/project/connections/:id',
  whileImpersonating: 'refused',
  summary: 'Sign in through the identity provider of an organization',
  description: 'Needs the flow cookie.',
  input: { id, flow: flowParameter },
  output: z.null(),
  status: 302,
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  // The organization chose the server, which may be slow on purpose.
  waits: true,
  prepare: ({ tx, services, call, input }) => reachConnection(tx, services, call, input.id),
  run: async (ctx) => redirect(await toConnection(ctx, ctx.input.id, ctx.prepared), 302),
});

export const finishConnection = mutation({
  ...browserOperation,
  ...redirects,
  rest: 'GET /auth/connections/:id/callback',
  whileImpersonating: 'refused',
  summary:
    'Finish a sign-in through the provider of an organization: the URL to which it returns the browser',
  input: { id, ...providerAnswer },
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  waits: true,
  prepare: ({ tx, services, call, input: { id: connection, ...answer } }) =>
    fromConnection(tx, services, call, { id: connection, answer }),
  run: async (ctx) => redirect(await takeMember(ctx, ctx.prepared)),
});
