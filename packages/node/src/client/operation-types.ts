import type { components } from './generated/openapi.ts';
import type { operationTable } from './generated/table.ts';
import type { CallOptions } from '../contracts/types.ts';

/* Types of operations and events, from the generated OpenAPI types. */

type Schemas = components['schemas'];
type Inputs = Schemas['OperationInputs'];
type Outputs = Schemas['OperationOutputs'];
export type OperationName = keyof typeof operationTable;

/** Also accepts undefined for an optional member, as an object that was put together from variables has it. */
type Loose<T> = { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] };

/** Input of an operation: parameters of its path, its query and its body in one object. */
export type InputOf<N extends OperationName> = Loose<Inputs[N]>;

/** What a dry run answers: whose permissions the change would affect. */
type Impact = Schemas['Impact'];

/** `data` of an operation; a `Response` whose body was not read, if it is not JSON. */
export type OutputOf<N extends OperationName> = N extends keyof Outputs ? Outputs[N] : Response;

type AnswerTo<N extends OperationName, I> = I extends { dryRun: true }
  ? Impact
  : I extends { dryRun: boolean }
    ? OutputOf<N> | Impact
    : OutputOf<N>;

export interface OperationOptions extends CallOptions {
  /** Default: a new one for each call, equal in all its attempts. */
  readonly idempotencyKey?: string | undefined;
}

/** The input may be left out if nothing of it is required. */
type Arguments<I, O> = string extends keyof I
  ? [input?: I, options?: O]
  : Record<never, never> extends I
    ? [input?: I, options?: O]
    : [input: I, options?: O];
/** Members that the input does not have are errors, as they are for an input that is not generic. */
type Exactly<I, Wide> = I & { [K in Exclude<keyof I, keyof Wide>]: never };

type PlainOperation<N extends OperationName> = (
  ...args: Arguments<InputOf<N>, OperationOptions>
) => Promise<OutputOf<N>>;
/** An operation that takes `dryRun`, and then answers the impact of the change. */
type DryRunOperation<N extends OperationName> = <const I extends InputOf<N>>(
  input: Exactly<I, InputOf<N>>,
  options?: OperationOptions,
) => Promise<AnswerTo<N, I>>;

/** An operation as a function. */
export type Operation<N extends OperationName> = string extends keyof Inputs[N]
  ? PlainOperation<N>
  : 'dryRun' extends keyof Inputs[N]
    ? DryRunOperation<N>
    : PlainOperation<N>;

type ItemOf<N extends OperationName> = OutputOf<N> extends { items: (infer T)[] } ? T : never;

/** A list, and an iterator over its items, which reads one page ahead at most. */
export interface Pages<N extends OperationName> {
  (...args: Arguments<InputOf<N>, CallOptions>): Promise<OutputOf<N>>;
  /** @example for await (const role of doorward.api.roles.each({ search: 'clerk' })) … */
  each(
    ...args: Arguments<Omit<InputOf<N>, 'page' | 'cursor'>, CallOptions>
  ): AsyncIterableIterator<ItemOf<N>>;
}

/** The event feed: a page, an iterator to its present end, and one without an end. */
export interface Feed<N extends 'events'> {
  (...args: Arguments<InputOf<N>, CallOptions>): Promise<EventPage>;
  each(...args: Arguments<InputOf<N>, CallOptions>): AsyncIterableIterator<DoorwardEvent>;
  /** Waits for new events, and survives outages of the service. */
  follow(...args: Arguments<InputOf<N>, FollowOptions>): EventStream;
}

type EventPage = Omit<Schemas['EventPage'], 'items'> & { items: DoorwardEvent[] };

export interface FollowOptions extends CallOptions {
  /** How long to wait at the end of the feed. Default 1000, 100..60000. */
  readonly pollMs?: number | undefined;
}

/** Events without an end. */
export interface EventStream extends AsyncIterableIterator<DoorwardEvent> {
  /**
   * The position before the page that is being read; the next process continues with it as `after`. When the loop
   * takes the first event of the next page, the events before it count as processed: none is lost after a stop, and
   * some may come again.
   */
  readonly cursor: string | null;
}

type EventData = Schemas['EventData'];
export type EventType = keyof EventData;

/** An event of the type `T`, as webhooks and the feed carry it. */
export type EventOf<T extends EventType> = Omit<Schemas['Event'], 'type' | 'data'> & {
  type: T;
  data: EventData[T];
};
/** Any event; `type` decides the type of `data`. A newer service may send types that are not listed. */
export type DoorwardEvent = { [T in EventType]: EventOf<T> }[EventType];
