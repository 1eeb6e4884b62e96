import type { z } from 'zod';

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
const isoText: Projector = (value) => (value instanceof Date ? value.toISOString() : value);
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
  return (value) => {
    if (value === null || typeof value !== 'object') return value;
    const from = value as Record<string, unknown>;
    const to: Record<string, unknown> = {};
    for (const member of members) {
      const field = from[member.name];
      if (field === undefined) continue;
      member.project ??= projector(shape[member.name] as z.ZodType);
      to[member.name] = member.project(field);
    }
    return to;
  };
}
