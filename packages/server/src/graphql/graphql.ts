import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, type ExecutionResult } from 'graphql';
import { DoorwardError, fail } from '../errors.ts';
import type { Language } from '../languages.ts';
import type { Call } from '../kernel/context.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import type { TransportState } from '../kernel/call/state.ts';
import type { Invoke } from '../kernel/invoke.ts';
import type { Schemas } from '../kernel/output/json-schema.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { DryRunResult } from '../kernel/output/reply.ts';
import type { Stages } from '../kernel/stages.ts';
import { releaseSlot } from '../http/admission/request-slot.ts';
import { graphqlError, toDoorwardError } from '../http/error-body.ts';
import { sendExplorer } from '../explorer/explorer-page.ts';
import { createCharges } from './charges.ts';
import { createPlanner, InvalidDocument, type Fault, type Run } from './document.ts';
import { assertIntrospectionLimit, assertSelectionLimit, tooComplex } from './limits.ts';
import { relationResolver, attachOrigin, type Related } from './relations.ts';
import { responseType, readBody, readQuery, type GraphqlRequest } from './request.ts';
import { buildGraphqlSchema, type Resolver } from './schema.ts';
import { jsonBytes } from '../http/body/json-size.ts';
import { selectRelations } from './selected-relations.ts';

/*
 * Serves the operations at `/graphql`. All documents of a request are validated before one runs. The limits of cost and
 * of sensitive fields apply to the whole request, batch or not. The documents of a batch run one after the other.
 */

export interface GraphqlOptions {
  readonly operations: readonly NamedOperation[];
  readonly schemas: Schemas;
  readonly entities: ReadonlyMap<string, AnyEntity>;
  readonly invoke: Invoke;
  readonly limit: Stages['limit'];
  readonly services: Stages['services'];
  /** Returns the call of a request, with the result of its authentication. Its effects collect cookies and headers. */
  readonly callOf: (request: FastifyRequest) => Call;
  readonly applyEffects: (call: Call, reply: FastifyReply) => void;
  /** Reads related rows. Resolvers return only the public members of a row. */
  readonly related: Related;
  readonly languageOf: (request: FastifyRequest) => Language;
  readonly requestIdOf: (request: FastifyRequest) => string;
  readonly limits: {
    readonly depth: number;
    readonly aliases: number;
    readonly cost: number;
    readonly batch: number;
  };
  readonly introspection: boolean;
  readonly explorer: boolean;
  readonly production: boolean;
  readonly log: (error: unknown, request: FastifyRequest) => void;
}

/** Whether a caller can guess a secret with the operation. A whole request may select only one such field. */
const guessesSecret = ({ kind, access, limit }: NamedOperation): boolean =>
  kind === 'mutation' && (access === 'public' || limit?.class === 'auth');

interface Context {
  readonly call: Call;
  /** Results of dry runs, by response key. */
  readonly dryRun: Record<string, unknown>;
  /** Response keys of the fields whose points in the class of their operation are already spent. */
  readonly charged: ReadonlySet<string>;
}

/** The result of one document. */
interface Outcome {
  readonly executed: boolean;
  readonly data: unknown;
  readonly dryRun?: Context['dryRun'];
  readonly faults: readonly Fault[];
}

export function registerGraphql(app: FastifyInstance, options: GraphqlOptions): void {
  const { limits, invoke } = options;
  const resolveRoot =
    (op: NamedOperation): Resolver =>
    async (_root, args, context, info) => {
      const { call, dryRun, charged } = context as Context;
      const { input, isWhole, relations } = selectRelations(op, args['input'], info);
      const [node] = info.fieldNodes;
      const key = (node?.alias ?? node?.name)?.value ?? '';
      const seen: TransportState = {
        selectsFields: isWhole,
        relations,
        isCharged: charged.has(key),
      };
      const result = await invoke(op, input, call, seen);
      if (result instanceof DryRunResult) dryRun[info.path.key] = result.impact;
      const answer = result instanceof DryRunResult ? result.answer : result;
      const { scope, relatedAccess: related } = seen;
      if (scope && related && !isWhole) {
        attachOrigin(answer, info.returnType, { scope, related, loaders: new Map() });
      }
      return answer;
    };
  const schema = buildGraphqlSchema({
    ...options,
    resolve: {
      field: resolveRoot,
      relation: (entity, relation) => relationResolver(entity, relation, options.related),
    },
  });
  const operations = new Map(options.operations.map((op) => [op.name, op]));
  const sensitive = new Set(options.operations.filter(guessesSecret).map(({ name }) => name));
  const acceptsFile = (run: Run | Outcome): boolean =>
    'fields' in run && run.fields.some(({ name }) => operations.get(name)?.bodyLimitBytes !== undefined);
  const plan = createPlanner({ ...options, schema, sensitive });

  async function answer(requests: readonly GraphqlRequest[], request: FastifyRequest, reply: FastifyReply) {
    let cost = 0;
    let selections = 0;
    let introspections = 0;
    let sensitive = 0;
    let mutations = 0;
    const runs = requests.map(({ query, variables, operationName }): Run | Outcome => {
      if (typeof query !== 'string')
        return { executed: true, data: null, faults: [{ error: fail('PERSISTED_QUERY_NOT_SUPPORTED') }] };
      try {
        const planned = plan(query, operationName ?? undefined);
        if (request.method !== 'POST' && planned.kind === 'mutation') {
          throw fail('METHOD_NOT_ALLOWED', { headers: { Allow: 'POST' } });
        }
        selections += planned.selections;
        assertSelectionLimit(selections);
        introspections += planned.introspections;
        assertIntrospectionLimit(introspections);
        sensitive += planned.sensitive;
        if (planned.kind === 'mutation') mutations += planned.names.length;
        const run = planned.bind(variables ?? {});
        cost += run.cost;
        return run;
      } catch (error) {
        if (error instanceof InvalidDocument) return { executed: false, data: null, faults: error.faults };
        throw error;
      }
    });
    if (cost > limits.cost) throw tooComplex(`cost > ${limits.cost}`);
    if (sensitive > 1) throw tooComplex('sensitive fields > 1');
    if (request.isLarge && !runs.some(acceptsFile)) throw fail('PAYLOAD_TOO_LARGE');
    const call = options.callOf(request);
    if (mutations > 1 && call.idempotencyKey !== null) {
      const details = [{ path: 'Idempotency-Key', code: 'not_allowed' }] as const;
      throw fail('VALIDATION_ERROR', { details, fix: 'Send one mutation a request with Idempotency-Key.' });
    }
    const charged = await charge(runs, call, request);
    const outcomes: Outcome[] = [];
    try {
      for (const [index, run] of runs.entries()) {
        const context: Context = { call, dryRun: {}, charged: charged[index] ?? new Set() };
        outcomes.push(
          'start' in run ? outcomeOf(await runWithinBudget(run, context), context, request) : run,
        );
      }
    } finally {
      releaseSlot(call);
    }
    options.applyEffects(call, reply);
    return outcomes;
  }

  const countedRequests = new WeakSet<FastifyRequest>();

  /** Counts all fields of a request before one runs. A document that cannot run counts as one field. */
  async function charge(
    runs: readonly (Run | Outcome)[],
    call: Call,
    request: FastifyRequest,
  ): Promise<ReadonlySet<string>[]> {
    countedRequests.add(request);
    const charges = createCharges(operations, call, options);
    const charged = runs.map((run) => {
      const fields = 'fields' in run ? run.fields : [{ key: '', name: '', input: null }];
      return new Set(fields.filter((field) => charges.add(field)).map(({ key }) => key));
    });
    await charges.take();
    return charged;
  }

  /** Runs a document within the answer budget of the request. A field that exceeds the budget fails the document. */
  async function runWithinBudget(run: Run, context: Context): Promise<ExecutionResult> {
    const { budget } = context.call;
    const path: string[] = [];
    try {
      budget.assertNotExceeded();
      const result = await run.start(context);
      for (const [name, value] of Object.entries(result.data ?? {})) {
        path[0] = name;
        budget.takeBytes(jsonBytes(value, budget.bytes));
      }
      return result;
    } catch (error) {
      if (!(error instanceof DoorwardError)) throw error;
      return { errors: [new GraphQLError(error.code, { path, originalError: error })] };
    }
  }

  function outcomeOf(
    { data, errors = [] }: ExecutionResult,
    { dryRun }: Context,
    request: FastifyRequest,
  ): Outcome {
    // One cause may fail many fields and is reported once.
    const causes = new Map(errors.map((error) => [error.originalError ?? error, error]));
    const faults = [...causes].map(([cause, { path, locations }]) => {
      const error = toDoorwardError(cause);
      if (error.isFault) options.log(error.extras.cause ?? error, request);
      return { error, path, locations };
    });
    return { executed: true, data, dryRun, faults };
  }

  /** `revision` is that of the last commit of the request, so it covers the whole batch. */
  function bodyOf({ data, dryRun = {}, faults }: Outcome, request: FastifyRequest, revision: unknown) {
    const members = {
      ...(Object.keys(dryRun).length > 0 && { dryRun }),
      ...(revision !== undefined && { revision }),
    };
    const extensions = Object.keys(members).length > 0 ? members : undefined;
    if (faults.length === 0) return { data, extensions };
    const context = { language: options.languageOf(request), requestId: options.requestIdOf(request) };
    const errors = faults.map(({ error, path, locations }) => {
      const { message, extensions } = graphqlError(error, context);
      return { message, path, locations, extensions };
    });
    return { data: null, errors, extensions };
  }

  function send(
    outcomes: readonly Outcome[],
    { batch = false, status }: { batch?: boolean; status?: number },
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const errors = outcomes.flatMap(({ faults }) => faults.map(({ error }) => error));
    const retryable =
      errors.find((error) => error.status === 429) ?? errors.find((error) => error.status === 503);
    if (retryable) reply.headers({ ...retryable.extras.headers });
    if (errors.length > 0) {
      reply.header('content-language', options.languageOf(request)).header('vary', 'Accept-Language, Origin');
    }
    const bodies = outcomes.map((outcome) =>
      bodyOf(outcome, request, reply.getHeader('x-doorward-revision')),
    );
    const executed = outcomes.some((outcome) => outcome.executed);
    return reply
      .status(status ?? retryable?.status ?? (executed ? 200 : 400))
      .type(responseType(request.headers.accept))
      .send(JSON.stringify(batch ? bodies : bodies[0]));
  }

  /** Answers a request that failed as a whole, perhaps in a hook of the server. */
  async function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
    const error = await countRefusal(thrown, request, reply);
    const { status } = error;
    if (error.isFault) options.log(error.extras.cause ?? error, request);
    // The rest of a body that is too large is not read.
    if (error.code === 'PAYLOAD_TOO_LARGE') reply.header('connection', 'close');
    reply.headers({ ...error.extras.headers });
    return send([{ executed: false, data: null, faults: [{ error }] }], { status }, request, reply);
  }

  /** Counts a failed request as one field unless it was counted already. Returns its error, or RATE_LIMITED. */
  async function countRefusal(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
    const error = toDoorwardError(thrown);
    const authentication = request.authentication as FastifyRequest['authentication'] | null | undefined;
    if (!authentication || error.status === 429 || countedRequests.has(request)) return error;
    const call = options.callOf(request);
    try {
      await charge([], call, request);
      options.applyEffects(call, reply);
      return error;
    } catch (limited) {
      return toDoorwardError(limited);
    }
  }

  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    config: { rate: 'fields' },
    errorHandler: (error, request, reply) => void refuse(error, request, reply),
    handler: async (request, reply) => {
      if (request.method === 'POST') {
        const { requests, batch } = readBody(request, limits.batch);
        return send(await answer(requests, request, reply), { batch }, request, reply);
      }
      if (!request.headers.accept?.includes('text/html')) {
        return send(await answer(readQuery(request).requests, request, reply), {}, request, reply);
      }
      if (!options.explorer) throw fail('NOT_FOUND');
      await charge([], options.callOf(request), request);
      return sendExplorer(reply);
    },
  });
}
