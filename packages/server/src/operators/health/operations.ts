import { z } from 'zod';
import { query } from '../../declare.ts';
import { bare } from '../../kernel/output/reply.ts';
import { iso } from '../../kernel/input/values.ts';

const common = { access: 'public', only: 'rest', bare: true, limit: 'exempt', input: {} } as const;

export const health = query({
  ...common,
  rest: 'GET ~/health',
  summary: 'Whether the service answers requests',
  output: z
    .object({
      status: z.literal('ok').describe('Always ok.'),
      timestamp: iso.describe('The time of the service.'),
    })
    .meta({ id: 'Health', description: 'The service answers requests.' }),
  run: ({ services }) => bare({ status: 'ok', timestamp: services.clock.now() }),
});

export const healthLive = query({
  ...common,
  rest: 'GET ~/health/live',
  summary: 'Whether the process runs; does not check any dependency',
  output: z
    .object({ status: z.literal('ok').describe('Always ok.') })
    .meta({ id: 'Liveness', description: 'The process runs.' }),
  run: () => bare({ status: 'ok' }),
});

export const healthReady = query({
  ...common,
  rest: 'GET ~/health/ready',
  summary: 'Whether requests can be answered; 503 names what fails',
  output: z
    .object({
      status: z.enum(['ok', 'unavailable']).describe('Whether the service can answer requests.'),
      checks: z.record(z.string(), z.string()).describe('Each check with its result.'),
    })
    .meta({ id: 'Readiness', description: 'Whether the service can answer requests, and the checks.' }),
  run: async ({ services }) => {
    const { serving, checks } = await services.readiness();
    const ready = serving && Object.values(checks).every((state) => state === 'ok');
    return bare({ status: ready ? 'ok' : 'unavailable', checks }, {}, ready ? 200 : 503);
  },
});
