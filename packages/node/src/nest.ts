import {
  applyDecorators,
  createParamDecorator,
  HttpException,
  Inject,
  mixin,
  UseGuards,
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type InjectionToken,
  type ModuleMetadata,
  type OptionalFactoryDependency,
  type Type,
} from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { admit } from './middleware/admit.ts';
import { nodeCall } from './middleware/node-call.ts';
import type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';
import { principalOf } from './middleware/principal.ts';
import { requirementOf } from './middleware/requirement.ts';
import { REVISION_HEADER, revisionsOf, type FollowRevisions } from './middleware/revisions.ts';
import type { Doorward } from './client/doorward.ts';
import type { Context, Permission, Principal as PrincipalOfToken } from './contracts/types.ts';

export type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';

/** Injects the client into a service: `constructor(@Inject(DOORWARD) private doorward: Doorward)`. */
export const DOORWARD = 'doorward.client';

const SETUP = 'doorward.setup';

/** The members that Express and Fastify requests have in common. */
export interface NestRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
  principal?: PrincipalOfToken;
}

/** Loads the resource for a decision. Implemented by a provider, which can have services injected. */
export interface ContextSource {
  contextOf(
    request: NestRequest,
    principal: PrincipalOfToken | null,
  ): Context | null | Promise<Context | null>;
}

/** `context` may also be the class of a provider in the controller's module. */
export interface NestPermissionOptions extends Omit<PermissionOptions<NestRequest>, 'context'> {
  readonly context?: PermissionOptions<NestRequest>['context'] | Type<ContextSource>;
}

interface Setup {
  readonly doorward: Doorward;
  readonly defaults: GuardOptions<NestRequest>;
  readonly followRevisions: FollowRevisions;
}

/** How `forRootAsync` obtains the client. */
export interface DoorwardModuleOptions extends Pick<ModuleMetadata, 'imports'> {
  readonly useFactory: (...dependencies: never[]) => Doorward | Promise<Doorward>;
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[];
  /** Options for all routes. An option of a route replaces the option with the same name here. */
  readonly defaults?: GuardOptions<NestRequest>;
}

/** Provides the client to the guards and, as `DOORWARD`, to all modules. */
export class DoorwardModule {
  /** @example imports: [DoorwardModule.forRoot(createDoorward())] */
  static forRoot(doorward: Doorward, defaults: GuardOptions<NestRequest> = {}): DynamicModule {
    return DoorwardModule.forRootAsync({ useFactory: () => doorward, defaults });
  }

  static forRootAsync({
    useFactory,
    inject = [],
    imports = [],
    defaults = {},
  }: DoorwardModuleOptions): DynamicModule {
    return {
      module: DoorwardModule,
      global: true,
      imports,
      providers: [
        { provide: DOORWARD, useFactory: useFactory as (...dependencies: unknown[]) => unknown, inject },
        {
          provide: SETUP,
          useFactory: (doorward: Doorward): Setup => ({
            doorward,
            defaults,
            followRevisions: revisionsOf(doorward),
          }),
          inject: [DOORWARD],
        },
      ],
      exports: [DOORWARD, SETUP],
    };
  }
}

/**
 * Requires the caller of the route, or of all routes of the controller, to have the permission. Without
 * `DoorwardModule` the application does not start.
 *
 * @example
 * ```ts
 * class Orders {
 *   @Get(':id')
 *   @RequirePermission('order:read', { context: OrderContext })
 *   read(@Principal() principal: Principal) {}
 * }
 * ```
 */
export const RequirePermission = (
  permission: Permission,
  options: NestPermissionOptions = {},
): MethodDecorator & ClassDecorator => guarded(permission, options);

/** Requires a valid token. Does not check the caller's address against the networks of an API key (`allowedCidrs`). */
export const RequireSignedIn = (options: SignInOptions<NestRequest> = {}): MethodDecorator & ClassDecorator =>
  guarded(undefined, options);

/** Injects the principal of the request as a parameter of a guarded route. */
export const Principal = (): ParameterDecorator =>
  createParamDecorator((_data: unknown, context: ExecutionContext) =>
    principalOf(context.switchToHttp().getRequest<NestRequest>()),
  )();
export type Principal = PrincipalOfToken;

const isSource = (context: NestPermissionOptions['context']): context is Type<ContextSource> =>
  typeof (context?.prototype as Partial<ContextSource> | undefined)?.contextOf === 'function';

/**
 * Builds a separate guard class for each use of a decorator, because Nest instantiates guards in the controller's
 * module. `Inject` is called as a plain function, because this file is built without decorators.
 */
function guarded(permission: Permission | undefined, options: NestPermissionOptions) {
  const { context } = options;
  // Throws for a malformed permission when the route is declared, not at its first request.
  requirementOf(permission, {}, {});

  class DoorwardGuard implements CanActivate {
    readonly #setup: Setup;
    readonly #source: ContextSource | undefined;

    constructor(setup: Setup, source?: ContextSource) {
      this.#setup = setup;
      this.#source = source;
    }

    canActivate(execution: ExecutionContext): Promise<true> {
      const source = this.#source;
      return canActivate(
        this.#setup,
        permission,
        {
          ...(options as PermissionOptions<NestRequest>),
          ...(source && { context: (request, principal) => source.contextOf(request, principal) }),
        },
        execution,
      );
    }
  }
  Inject(SETUP)(DoorwardGuard, undefined, 0);
  if (isSource(context)) Inject(context)(DoorwardGuard, undefined, 1);
  return applyDecorators(UseGuards(mixin(DoorwardGuard)));
}

/** Fastify wraps Node's request and response and keeps them as `raw`; in Express the objects are Node's own. */
type Wrapped<T> = { readonly raw: T } | (T & { readonly raw?: undefined });
type NestResponse = Wrapped<ServerResponse> & { header(name: string, value: string): unknown };

async function canActivate(
  { doorward, defaults, followRevisions }: Setup,
  permission: Permission | undefined,
  options: PermissionOptions<NestRequest>,
  execution: ExecutionContext,
): Promise<true> {
  if (execution.getType() !== 'http')
    throw new Error('RequirePermission and RequireSignedIn guard HTTP routes only.');
  const http = execution.switchToHttp();
  const request = http.getRequest<NestRequest & Wrapped<IncomingMessage>>();
  const response = http.getResponse<NestResponse>();
  const raw = response.raw ?? response;
  const call = nodeCall<NestRequest>(request, request.raw ?? request, raw);
  const answer = await admit(doorward, requirementOf(permission, defaults, options), call).finally(
    call.settle,
  );
  if (answer) {
    for (const [name, value] of Object.entries(answer.headers)) response.header(name, value);
    throw new HttpException({ ...answer.body }, answer.status);
  }
  followRevisions(raw, (revision) => void response.header(REVISION_HEADER, revision));
  return true;
}
