import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { fail, type DoorwardError } from '../../errors.ts';
import { uuid } from '../../kernel/input/values.ts';
import type { NamedOperation } from '../../kernel/operation.ts';

/*
 * Paths and input of AuthZEN endpoints (authzen §1, §5). Below the issuer of a project the path is the scope. A `scope`
 * in the query or body is ignored like every unknown member, because clients written for other services send extra
 * members.
 */

type Members = Record<string, unknown>;

const owners = [
  ['/org/:organizationId', 'organizationProject'],
  ['/acc/:accountId', 'accountProject'],
] as const;

/** The path at the root, where the token determines the scope, and the paths below the issuers of projects. */
const pathsOf = (path: string): string[] => [
  path,
  ...owners.map(([owner]) => `${owner}/prj/:projectId${path}`),
];

export function addAuthzenRoutes(app: FastifyInstance, route: RouteOptions): void {
  for (const url of pathsOf(route.url)) app.route({ ...route, url });
}

/** Creates the error for a call at the root whose token has no scope. */
export const projectInPathRequired = ({ path }: NamedOperation): DoorwardError =>
  fail('SCOPE_REQUIRED', {
    params: { place: 'the project in the path' },
    fix: `POST to /org/<organization id>/prj/<project id>${path}, or /acc/<account id>/prj/<project id>${path}.`,
  });

/**
 * Reads the input of a request, with the scope that its path names.
 *
 * @throws VALIDATION_ERROR if the body is not a JSON object, or is missing although it has required members
 * @throws NOT_FOUND if an id in the path is not a UUID
 */
export function readAuthzenInput(
  { input }: NamedOperation,
  required: readonly string[],
  { params, body }: FastifyRequest,
): Members {
  const scope = scopeIn(params as Readonly<Record<string, string>>);
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const isAbsent = body === undefined || body === null;
  if (!isObject && (!isAbsent || required.length > 0)) {
    throw fail('VALIDATION_ERROR', { details: [{ path: '', code: isAbsent ? 'empty_body' : 'type' }] });
  }
  const members = Object.entries(body ?? {}).filter(
    ([name]) => name !== 'scope' && Object.hasOwn(input, name),
  );
  return { ...Object.fromEntries(members), scope };
}

function scopeIn(params: Readonly<Record<string, string>>): Members | undefined {
  const { projectId, organizationId, accountId } = params;
  if (projectId === undefined) return undefined;
  const ownerId = organizationId ?? accountId;
  if (!uuid.safeParse(projectId).success || !uuid.safeParse(ownerId).success) throw fail('NOT_FOUND');
  const [, tenant] = owners[organizationId === undefined ? 1 : 0];
  return { tenant, id: `${ownerId}:${projectId}` };
}

/**
 * Adds routes that refuse AuthZEN's resource search, which clients may call although it does not exist here. The error
 * names the alternative.
 */
export function refuseResourceSearch(app: FastifyInstance): void {
  addAuthzenRoutes(app, {
    method: 'POST',
    url: '/access/v1/search/resource',
    config: { protocol: 'authzen', rate: 'network' },
    onRequest: (_request, _reply, done) => {
      const fix =
        'Doorward stores no list of your objects, so it has no resource search. Ask about them at access/v1/evaluations.';
      done(fail('NOT_FOUND', { fix }));
    },
    handler: () => undefined,
  });
}
