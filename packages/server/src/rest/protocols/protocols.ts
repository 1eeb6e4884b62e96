import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { DoorwardError } from '../../errors.ts';
import type { NamedOperation, Protocol } from '../../kernel/operation.ts';
import { addAuthzenRoutes, projectInPathRequired, readAuthzenInput } from './authzen.ts';
import { addForwardAuthRoutes, readForwardAuthInput, scopeHeaderRequired } from './forward-auth.ts';
import { readOauthParameters } from './oauth.ts';

/** How REST speaks a protocol whose requests are not those of conventions §1. */
interface ProtocolAdapter {
  /** Adds the routes, for a protocol with others than the one that the operation declares. */
  readonly addRoutes?: (app: FastifyInstance, route: RouteOptions) => void;
  /** @throws VALIDATION_ERROR and the other errors of a request that cannot be read */
  readonly readInput: (
    op: NamedOperation,
    required: readonly string[],
    request: FastifyRequest,
  ) => Record<string, unknown>;
  /** Names a field of the input as the caller wrote it. */
  readonly fieldName?: (path: string) => string;
  /** SCOPE_REQUIRED, with the position of the scope in such a request. */
  readonly scopeRequired?: (op: NamedOperation) => DoorwardError;
}

export const protocols: Readonly<Record<Protocol, ProtocolAdapter>> = {
  oauth: { readInput: readOauthParameters },
  'oauth-authorization': { readInput: readOauthParameters },
  authzen: {
    addRoutes: addAuthzenRoutes,
    readInput: readAuthzenInput,
    scopeRequired: projectInPathRequired,
  },
  'forward-auth': {
    addRoutes: addForwardAuthRoutes,
    readInput: readForwardAuthInput,
    fieldName: (path) => path.replace(/^scope\..*/, 'scope'),
    scopeRequired: scopeHeaderRequired,
  },
};
