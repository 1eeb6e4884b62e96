import type { z } from 'zod';

type Projector = (value: unknown) => unknown;

interface Def {
  type: string;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  innerType?: z.ZodType;
}

const identity: Projector = (value) => value;
const isoText: Projector = (value) => (value instanceof Date ? value.toISOString() : value);
const compiled = new WeakMap<z.ZodType, Projector>();

/**
 * Returns the projector of an output schema, which is the allow-list of responses: it copies exactly the members that
 * the schema names, at every depth. It doesn't validate (tests do, with the schema), so it costs only a few property
 * reads. Dates become ISO 8601 text, as in JSON.
 */
export function projector(schema: z.ZodType): Projector {
  const existing = compiled.get(schema);
  if (existing) return existing;
  const created = build(schema);
  compiled.set(schema, created);
  return created;
}

function build(schema: z.ZodType): Projector {
  const def = schema.def as Def;
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
      return def.type === 'date' ? isoText : identity;
  }
}

function objectProjector(shape: Record<string, z.ZodType>): Projector {
  // Child projectors are compiled at first use, because a getter of the shape may refer to an entity that is not loaded
  // yet.
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
