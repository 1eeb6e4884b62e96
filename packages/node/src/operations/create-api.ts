import type { Api } from '../client/generated/api.ts';
import { operationTable } from '../client/generated/table.ts';
import type { CallOptions } from '../contracts/types.ts';
import { FeedStream } from './follow.ts';
import { invoke, type Caller, type InvokeOptions } from './invoke.ts';
import { parseOperation, type RestOperation } from './operation.ts';
import { eachItem, type Page } from './pages.ts';

type Input = Readonly<Record<string, unknown>>;

/** Creates a function for each operation. List operations and the event feed also get iterators. */
export function createApi(caller: Caller): Api {
  const entries = Object.entries(operationTable).map(([name, line]) => {
    const operation = parseOperation(name, line);
    const call = async (input: Input = {}, options: InvokeOptions = {}): Promise<unknown> =>
      (await invoke(caller, operation, input, publicOptions(options))).data;
    return [name, Object.assign(call, iterators(caller, operation))];
  });
  return Object.fromEntries(entries) as Api;
}

/** Keeps only the options that callers of operations may set: not the token, and not the headers. */
const publicOptions = ({ signal, timeoutMs, idempotencyKey }: InvokeOptions): InvokeOptions => ({
  signal,
  timeoutMs,
  idempotencyKey,
});

function iterators(caller: Caller, operation: RestOperation): object {
  const { isPaged, isFeed } = operation;
  if (!isPaged && !isFeed) return {};
  const position = isFeed ? 'after' : 'cursor';
  const page = async (input: Input, cursor: string | undefined, options: CallOptions): Promise<Page> => {
    const start = cursor === undefined ? {} : { [position]: cursor };
    return (await invoke(caller, operation, { ...input, ...start }, options)).data as Page;
  };
  const each = (input: Input = {}, { signal, timeoutMs }: CallOptions = {}) =>
    eachItem((cursor, ended) => page(input, cursor, { signal: ended, timeoutMs }), signal);
  const follow = (input: Input = {}, options: CallOptions & { pollMs?: number } = {}) => {
    const { signal, timeoutMs, pollMs = 1000 } = options;
    if (!(pollMs >= 100 && pollMs <= 60_000)) throw new TypeError('pollMs must be from 100 to 60000');
    const after = (input['after'] as string | undefined) ?? null;
    return new FeedStream({
      after,
      pollMs,
      signal,
      read: (cursor) => page(input, cursor, { signal, timeoutMs }),
    });
  };
  return isFeed ? { each, follow } : { each };
}
