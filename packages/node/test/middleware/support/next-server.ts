import { guard } from '../../../src/next.ts';
import { contextOf } from './orders.ts';
import { listen, type StartServer } from './servers.ts';
import { webListener } from './web-listener.ts';

type Params = Promise<{ id: string }>;

/** Route handlers as files of the App Router export them, and in place of Next.js a table of their paths. */
export const nextServer: StartServer = async (doorward, change) => {
  const ran: string[] = [];
  const errors: unknown[] = [];
  const { withPermission, withSignedIn } = guard(doorward);
  const note = (request: Request) => void ran.push(new URL(request.url).pathname);
  const routes = {
    'GET /orders/:id': withPermission<Params>(
      'order:read',
      async (request, { params, principal }) => {
        note(request);
        return Response.json({ id: (await params).id, userId: principal.userId });
      },
      { context: async ({ params }) => contextOf((await params).id) },
    ),
    'POST /orders/:id/approve': withPermission<Params>('order:approve', (request) => {
      note(request);
      return Response.json({});
    }),
    'GET /me': withSignedIn<Params>((request, { principal }) => {
      note(request);
      return Response.json({ userId: principal.userId });
    }),
    'GET /session': withSignedIn<Params>(
      (request, { principal }) => {
        note(request);
        return Response.json({ type: principal.type });
      },
      { types: ['session'] },
    ),
    'GET /user': withPermission<Params>(
      'order:read',
      (request) => {
        note(request);
        return Response.json({});
      },
      { who: ({ headers }) => ({ userId: headers.get('x-user') ?? '' }) },
    ),
    'POST /tags': withSignedIn<Params>(async (request) => {
      note(request);
      await change();
      return Response.json({});
    }),
  };
  const answer = async (request: Request): Promise<Response> => {
    const id = /^\/orders\/([^/]+)/.exec(new URL(request.url).pathname)?.[1] ?? '';
    const path = new URL(request.url).pathname.replace(/^\/orders\/[^/]+/, '/orders/:id');
    const route = routes[`${request.method} ${path}` as keyof typeof routes];
    try {
      return await route(request, { params: Promise.resolve({ id }) });
    } catch (error) {
      errors.push(error);
      return Response.json({ failed: true }, { status: 500 });
    }
  };
  return listen(webListener(answer), { ran, errors });
};
