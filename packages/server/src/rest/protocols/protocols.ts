import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { DoorwardError } from '../../errors.ts';
import type { NamedOperation, Protocol } from '../../kernel/operation.ts';
import { addAuthzenRoutes, projectInPathRequired, readAuthzenInput } from './authzen.ts';
import { addForwardAuthRoutes, readForwardAuthInput, scopeHeaderRequired } from './forward-auth.ts';
import { readOauthParameters } from './oauth.ts';

/** How REST handles a protocol whose requests don't follow conventions §1. */
interface ProtocolAdapter {
  /** Adds the routes, if the protocol needs others than the declared route. */
  readonly addRoutes?: (app: FastifyInstance, route: RouteOptions) => void;
  /**
   * Reads the input. The fields in `required` must be present.
   *
   * @throws VALIDATION_ERROR, or another error if the request can't be read
   */
  readonly readInput: (
    op: NamedOperation,
    required: readonly string[],
    request: FastifyRequest,
  ) => Record<string, unknown>;
  /** Returns the name under which the caller sends an input field. */
  readonly fieldName?: (path: string) => string;
  /** Creates SCOPE_REQUIRED, with a `fix` that says where such a request names its scope. */
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
