import type { z } from 'zod';
import type { AnyEntity } from './kernel/entity.ts';
import {
  define,
  type Declaration,
  type Operation,
  type Shape,
  type WhileImpersonating,
} from './kernel/operation.ts';
import type { Services } from './services.ts';

/* `query` and `mutation` declare operations: they are the kernel's `define`, typed with this server's `Services`. */

/** An operation that changes nothing and has no audit entry. In a scope it runs in a read-only transaction. */
export const query = <I extends Shape, O extends z.ZodType, T extends AnyEntity | undefined = undefined>(
  declaration: Omit<Declaration<Services, I, O, undefined, T>, 'prepare'>,
): Operation<I, O> => define('query', declaration);

/** An operation that runs in one transaction with its audit entry and events. */
export const mutation = <
  I extends Shape,
  O extends z.ZodType,
  P,
  T extends AnyEntity | undefined = undefined,
>(
  declaration: Declaration<Services, I, O, P, T> & { readonly whileImpersonating: WhileImpersonating },
): Operation<I, O> => define('mutation', declaration);
