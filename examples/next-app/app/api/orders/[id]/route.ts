import { withPermission } from '../../../../lib/doorward';
import { orders } from '../../../../lib/orders';

type Params = Promise<{ id: string }>;

export const GET = withPermission<Params>(
  'order:read',
  async (_request, { params, principal }) => {
    const { id } = await params;
    return Response.json({ order: orders.get(id), readBy: principal.userId });
  },
  { context: async ({ params }) => ({ resource: orders.get((await params).id) }) },
);
