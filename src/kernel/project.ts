import type { z } from 'zod';
import { onceForFrozen } from '../frozen.ts';

/**
 * The allow-list on the way out: a projector copies exactly the members that an output schema names, at every
 * depth, and nothing else. It does not validate (tests do, with the schema itself), so it costs a few property
 * reads on a hot answer.
 */
export type Projector = (value: unknown) => unknown;

interface Def {
  type: string;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
}

const same: Projector = (value) => value;
const compiled = new WeakMap<z.ZodType, Projector>();

export function projector(schema: z.ZodType): Projector {
  const known = compiled.get(schema);
  if (known) return known;
  const made = build(schema);
  compiled.set(schema, made);
  return made;
}

function build(schema: z.ZodType): Projector {
  const def = schema.def as unknown as Def;
  switch (def.type) {
    case 'object':
      return objectProjector(def.shape ?? {});
    case 'array': {
      const each = projector(def.element as z.ZodType);
      return (value) => (Array.isArray(value) ? value.map(each) : value);
    }
    case 'nullable':
    case 'optional':
    case 'default':
    case 'readonly': {
      const inner = projector(def.innerType as z.ZodType);
      return (value) => (value === null || value === undefined ? value : inner(value));
    }
    default:
      return same;
  }
}

function objectProjector(shape: Record<string, z.ZodType>): Projector {
  const names = Object.keys(shape);
  // Children are compiled at first use: a getter of the shape may point at a noun not yet loaded.
  const children = new Map<string, Projector>();
  const child = (name: string): Projector => {
    const known = children.get(name) ?? projector(shape[name] as z.ZodType);
    children.set(name, known);
    return known;
  };
  const copy = onceForFrozen((from: Record<string, unknown>) => {
    const to: Record<string, unknown> = {};
    for (const name of names) {
      const member = from[name];
      if (member !== undefined) to[name] = child(name)(member);
    }
    return Object.isFrozen(from) ? Object.freeze(to) : to;
  });
  return (value) =>
    value === null || typeof value !== 'object' ? value : copy(value as Record<string, unknown>);
}
