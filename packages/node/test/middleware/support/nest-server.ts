import 'reflect-metadata';
import {
  Catch,
  Controller,
  Get,
  HttpCode,
  HttpException,
  Module,
  Param,
  Post,
  Req,
  type ArgumentsHost,
  type ExceptionFilter,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Response } from 'express';
import {
  DoorwardModule,
  Principal,
  RequirePermission,
  RequireSignedIn,
  type ContextSource,
  type NestRequest,
} from '../../../src/nest.ts';
import { contextOf } from './orders.ts';
import type { StartServer } from './servers.ts';

/** A provider, as an application would inject its repository into. */
class OrderContext implements ContextSource {
  contextOf({ params }: NestRequest) {
    return contextOf(params['id']);
  }
}

/** Decorators as the compiler calls them; this repository has no syntax that types cannot be stripped from. */
function decorate(target: Type, method: string, ...decorators: MethodDecorator[]): void {
  const prototype = target.prototype as object;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, method) as PropertyDescriptor;
  for (const decorator of decorators.reverse()) decorator(prototype, method, descriptor);
}
const parameters = (target: Type, method: string, ...decorators: ParameterDecorator[]): void =>
  decorators.forEach((decorator, index) => decorator(target.prototype as object, method, index));

export const nestServer: StartServer = async (doorward, change) => {
  const ran: string[] = [];
  const errors: unknown[] = [];
  type Path = NestRequest & { readonly url: string };

  class Orders {
    read(id: string, principal: Principal, { url }: Path) {
      ran.push(url);
      return { id, userId: principal.userId };
    }
    approve({ url }: Path) {
      ran.push(url);
      return {};
    }
    me(principal: Principal, { url }: Path) {
      ran.push(url);
      return { userId: principal.userId };
    }
    session(principal: Principal, { url }: Path) {
      ran.push(url);
      return { type: principal.type };
    }
    user({ url }: Path) {
      ran.push(url);
      return {};
    }
    async tags({ url }: Path) {
      ran.push(url);
      await change();
      return {};
    }
  }
  decorate(Orders, 'read', Get('orders/:id'), RequirePermission('order:read', { context: OrderContext }));
  parameters(Orders, 'read', Param('id'), Principal(), Req());
  decorate(Orders, 'approve', Post('orders/:id/approve'), RequirePermission('order:approve'));
  parameters(Orders, 'approve', Req());
  decorate(Orders, 'me', Get('me'), RequireSignedIn());
  parameters(Orders, 'me', Principal(), Req());
  decorate(Orders, 'session', Get('session'), RequireSignedIn({ types: ['session'] }));
  parameters(Orders, 'session', Principal(), Req());
  const who = ({ headers }: NestRequest) => ({ userId: String(headers['x-user'] ?? '') });
  decorate(Orders, 'user', Get('user'), RequirePermission('order:read', { who }));
  parameters(Orders, 'user', Req());
  decorate(Orders, 'tags', Post('tags'), HttpCode(200), RequireSignedIn());
  parameters(Orders, 'tags', Req());
  Controller()(Orders);

  /** Errors of the application; refusals of the guards pass through it as Nest itself would answer them. */
  class Errors implements ExceptionFilter {
    catch(error: unknown, host: ArgumentsHost) {
      const response = host.switchToHttp().getResponse<Response>();
      if (error instanceof HttpException) return response.status(error.getStatus()).json(error.getResponse());
      errors.push(error);
      return response.status(500).json({ failed: true });
    }
  }
  Catch()(Errors);

  class Shop {}
  Module({
    imports: [DoorwardModule.forRoot(doorward)],
    controllers: [Orders],
    providers: [OrderContext],
  })(Shop);
  const app = await NestFactory.create(Shop, { logger: false, forceCloseConnections: true });
  app.useGlobalFilters(new Errors());
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl(), ran, errors, close: () => app.close() };
};
