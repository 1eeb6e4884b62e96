/*
 * Functions that read members of JSON of unknown shape. Except for `asObject` and `objectAt`, they return copies and
 * primitive values, so that later changes to the document do not affect a policy. They throw only SnapshotError, with
 * the path of the member.
 */

import { isPlainObject } from '../conditions-parse.ts';
import { SnapshotError } from './snapshot-error.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Protects the recursion against a stack overflow. JSON from the service is far less deep than this. */
const MAX_DEPTH = 64;

const refuse = (path: string, problem: string): never => {
  throw new SnapshotError('SHAPE', path, problem);
};

/** The value of an own member; undefined for an inherited member. */
const own = (object: Members, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

export const asObject = (value: unknown): Members =>
  isPlainObject(value) ? value : refuse('', 'is not an object');

export const objectAt = (object: Members, name: string): Members =>
  within(name, () => asObject(own(object, name)));

export function textAt(object: Members, name: string): string {
  const value = own(object, name);
  return typeof value === 'string' ? value : refuse(name, 'is not text');
}

export function flagAt(object: Members, name: string): boolean {
  const value = own(object, name);
  return typeof value === 'boolean' ? value : refuse(name, 'is not a boolean');
}

export function numberAt(object: Members, name: string): number {
  const value = own(object, name);
  return Number.isSafeInteger(value) ? (value as number) : refuse(name, 'is not a whole number');
}

export const nullAt = (object: Members, name: string): boolean => own(object, name) === null;
export const isAbsentAt = (object: Members, name: string): boolean => own(object, name) === undefined;

export function textsAt(object: Members, name: string, limit: number): readonly string[] {
  const list = listAt(object, name, limit);
  for (let index = 0; index < list.length; index++) {
    if (typeof list[index] !== 'string') refuse(`${name}.${index}`, 'is not text');
  }
  return Object.freeze(list.slice() as string[]);
}

function listAt(object: Members, name: string, limit: number): readonly unknown[] {
  const value = own(object, name);
  if (!Array.isArray(value)) return refuse(name, 'is not a list');
  return value.length <= limit ? (value as unknown[]) : refuse(name, `has more than ${limit} items`);
}

/**
 * Reads each item of a list. It builds the path of an item only after an error, because a snapshot may have 50,000
 * users.
 */
export function eachAt<T>(object: Members, name: string, limit: number, read: (item: Members) => T): T[] {
  const list = listAt(object, name, limit);
  const items: T[] = [];
  for (let index = 0; index < list.length; index++) {
    try {
      items.push(read(asObject(list[index])));
    } catch (error) {
      throw below(error, `${name}.${index}`);
    }
  }
  return items;
}

/** A frozen copy of a JSON value. */
export const jsonAt = (object: Members, name: string): unknown =>
  within(name, () => copyOf(own(object, name), 0));

/** A frozen copy of a JSON object. */
export function attributesAt(object: Members, name: string): Record<string, unknown> {
  const copy = jsonAt(object, name);
  return isPlainObject(copy) ? copy : refuse(name, 'is not an object');
}

function copyOf(value: unknown, depth: number): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : refuse('', 'is not JSON');
  if (depth > MAX_DEPTH) return refuse('', 'is nested too deeply');
  if (Array.isArray(value)) return Object.freeze(Array.from(value, (item) => copyOf(item, depth + 1)));
  if (!isPlainObject(value)) return refuse('', 'is not JSON');
  // Unlike an assignment, `fromEntries` treats `__proto__` as an ordinary member.
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copyOf(item, depth + 1)])),
  );
}

/** Runs `read`, and puts `member` in front of the path of an error. */
export function within<T>(member: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw below(error, member);
  }
}

/** Puts `member` in front of the path of a SnapshotError; returns other errors as they are. */
export const below = (error: unknown, member: string): unknown =>
  error instanceof SnapshotError ? error.below(member) : error;
