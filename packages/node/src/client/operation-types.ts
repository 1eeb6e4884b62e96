import type { components } from './generated/openapi.ts';
import type { operationTable } from './generated/table.ts';
import type { CallOptions } from '../contracts/types.ts';

/* Types of operations and events, from the generated OpenAPI types. */

type Schemas = components['schemas'];
type Inputs = Schemas['OperationInputs'];
type Outputs = Schemas['OperationOutputs'];
export type OperationName = keyof typeof operationTable;

/** Also accepts undefined for an optional member, because objects built from variables often have such members. */
type Loose<T> = { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] };

/** Input of an operation: path parameters, query parameters and body in one object. */
export type InputOf<N extends OperationName> = Loose<Inputs[N]>;

/** The output of a dry run: whose permissions the change would affect. */
type Impact = Schemas['Impact'];

/** Output of an operation: the response's `data`, or the `Response` with an unread body if it is not JSON. */
export type OutputOf<N extends OperationName> = N extends keyof Outputs ? Outputs[N] : Response;

type AnswerTo<N extends OperationName, I> = I extends { dryRun: true }
  ? Impact
  : I extends { dryRun: boolean }
    ? OutputOf<N> | Impact
    : OutputOf<N>;

export interface OperationOptions extends CallOptions {
  /** Idempotency key of the call, the same in all its attempts. Default: a new random key. */
  readonly idempotencyKey?: string | undefined;
}

/** Makes the input optional if none of its members is required. */
type Arguments<I, O> = string extends keyof I
  ? [input?: I, options?: O]
  : Record<never, never> extends I
    ? [input?: I, options?: O]
    : [input: I, options?: O];
/** Rejects members that the input does not have, which a generic parameter would otherwise accept. */
type Exactly<I, Wide> = I & { [K in Exclude<keyof I, keyof Wide>]: never };

type PlainOperation<N extends OperationName> = (
  ...args: Arguments<InputOf<N>, OperationOptions>
) => Promise<OutputOf<N>>;
/** An operation whose input has `dryRun`. If it is true, the output is the impact of the change. */
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

/** A list operation, with an iterator over its items that reads at most one page ahead. */
export interface Pages<N extends OperationName> {
  (...args: Arguments<InputOf<N>, CallOptions>): Promise<OutputOf<N>>;
  /** @example for await (const role of doorward.api.roles.each({ search: 'clerk' })) … */
  each(
    ...args: Arguments<Omit<InputOf<N>, 'page' | 'cursor'>, CallOptions>
  ): AsyncIterableIterator<ItemOf<N>>;
}

/** The event feed: a function that reads one page, an iterator that ends at the feed's current end, and a stream. */
export interface Feed<N extends 'events'> {
  (...args: Arguments<InputOf<N>, CallOptions>): Promise<EventPage>;
  each(...args: Arguments<InputOf<N>, CallOptions>): AsyncIterableIterator<DoorwardEvent>;
  /** Waits for new events, and keeps going through outages of the service. */
  follow(...args: Arguments<InputOf<N>, FollowOptions>): EventStream;
}

type EventPage = Omit<Schemas['EventPage'], 'items'> & { items: DoorwardEvent[] };

export interface FollowOptions extends CallOptions {
  /** How long to wait at the end of the feed. Default 1000, 100..60000. */
  readonly pollMs?: number | undefined;
}

/** An endless stream of events. */
export interface EventStream extends AsyncIterableIterator<DoorwardEvent> {
  /**
   * Where to resume: the next process passes it as `after`. It advances only when the first event of the next page is
   * requested, which marks all earlier events as processed. So a stop loses no event, but some may be delivered again.
   */
  readonly cursor: string | null;
}

type EventData = Schemas['EventData'];
export type EventType = keyof EventData;

/** An event of the type `T`, as in webhooks and the feed. */
export type EventOf<T extends EventType> = Omit<Schemas['Event'], 'type' | 'data'> & {
  type: T;
  data: EventData[T];
};
/** Any event; `type` determines the type of `data`. A newer service may send types that are not listed here. */
export type DoorwardEvent = { [T in EventType]: EventOf<T> }[EventType];
