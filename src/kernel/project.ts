import type { z } from 'zod';
import { onceForFrozen } from '../frozen.ts';
import { isoText } from '../iso-text.ts';

/**
 * The allow-list on the way out: a projector copies exactly the members that an output schema names, at every
 * depth, and nothing else. It does not validate (tests do, with the schema itself), so it costs a few property
 * reads on a hot answer. Times become the text that JSON would make of them.
 */
export type Projector = (value: unknown) => unknown;

interface Def {
  type: string;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  innerType?: z.ZodType;
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
      return def.type === 'date' ? isoText : same;
  }
}

function objectProjector(shape: Record<string, z.ZodType>): Projector {
  // Children are compiled at first use: a getter of the shape may point at a noun not yet loaded.
  const members = Object.keys(shape).map((name) => ({ name, project: null as Projector | null }));
  const copy = (from: Record<string, unknown>): Record<string, unknown> => {
    const to: Record<string, unknown> = {};
    for (const member of members) {
      const value = from[member.name];
      if (value === undefined) continue;
      member.project ??= projector(shape[member.name] as z.ZodType);
      to[member.name] = member.project(value);
    }
    return to;
  };
  const copyOnce = onceForFrozen((from: Record<string, unknown>) => Object.freeze(copy(from)));
  return (value) =>
    value === null || typeof value !== 'object'
      ? value
      : (Object.isFrozen(value) ? copyOnce : copy)(value as Record<string, unknown>);
}
