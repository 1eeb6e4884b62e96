import { fail, type Detail } from '../../../errors.ts';
import { faultsOfAttributes, MAX_CONTEXT_LENGTH } from '../context-resource.ts';
import type { Evaluation } from './request.ts';

type Attributes = Readonly<Record<string, unknown>>;
type Parts = Pick<Evaluation, 'resource' | 'context'> & { readonly action?: Evaluation['action'] };

const ACTION = '_action';
const CONTEXT = '_context';

/**
 * Creates a composer for the questions of one request. It composes the attributes that conditions read under `resource`
 * from an AuthZEN request (authzen §3): the properties and the id of the resource, the properties of the action, and
 * the context. It measures each of these objects only once, because a hundred questions may share it, and refuses
 * objects that are too long before it copies anything.
 */
export function createComposer(): (parts: Parts) => Record<string, unknown> {
  const lengths = new WeakMap<Attributes, number>();
  const lengthOf = (part: Attributes): number => {
    const measured = lengths.get(part) ?? JSON.stringify(part).length;
    lengths.set(part, measured);
    return measured;
  };

  /** @throws VALIDATION_ERROR */
  return ({ resource, action, context }) => {
    const { properties = {}, id } = resource;
    const taken = [ACTION, CONTEXT].filter((name) => Object.hasOwn(properties, name));
    if (taken.length > 0)
      throw refused(taken.map((name) => ({ path: `resource.properties.${name}`, code: 'not_allowed' })));
    let total = id.length;
    for (const [path, part] of [
      ['resource.properties', properties],
      ['action.properties', action?.properties],
      ['context', context],
    ] as const) {
      if (part) total += lengthOf(part);
      if (total > MAX_CONTEXT_LENGTH) throw refused([{ path, code: 'too_long' }]);
    }
    const composed = {
      ...properties,
      id,
      ...(action?.properties && { [ACTION]: action.properties }),
      ...(context && { [CONTEXT]: context }),
    };
    const faults = faultsOfAttributes(composed);
    if (faults.length === 0) return composed;
    const { [ACTION]: ofAction, [CONTEXT]: ofContext } = composed;
    const deepPart = [{ [ACTION]: ofAction }, { [CONTEXT]: ofContext }].find(
      (part) => faultsOfAttributes(part)[0]?.path.length === 0,
    );
    throw refused(
      faults.map(({ code, path }) => ({
        code,
        path: placeOf(path.length > 0 ? path : Object.keys(deepPart ?? {})),
      })),
    );
  };
}

const refused = (details: readonly Detail[]) => fail('VALIDATION_ERROR', { details });

/** Converts a path in the composed attributes to the path of the same value in the request. */
function placeOf([first, ...rest]: readonly string[]): string {
  if (first === undefined) return 'resource.properties';
  if (first === ACTION) return ['action.properties', ...rest].join('.');
  if (first === CONTEXT) return ['context', ...rest].join('.');
  return ['resource.properties', first, ...rest].join('.');
}
