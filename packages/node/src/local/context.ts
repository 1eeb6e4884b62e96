const MAX_CHARACTERS = 64 * 1024;
const MAX_DEPTH = 10;

/**
 * Returns `context.resource` as the service would read it: as JSON, and within the limits of authorization §7.1.
 * Returns undefined for a resource beyond the limits; the question then goes to the service, which refuses it.
 *
 * @throws TypeError for a value that cannot be serialized, such as a BigInt or a circular object
 */
export function resourceAsJson(resource: object): object | undefined {
  if (maxLengthOf(resource, MAX_DEPTH) <= MAX_CHARACTERS) return resource;
  const text = JSON.stringify(resource) as string | undefined;
  if (text === undefined || text.length > MAX_CHARACTERS) return undefined;
  const copy: unknown = JSON.parse(text);
  const isObject = typeof copy === 'object' && copy !== null && !Array.isArray(copy);
  return isObject && Number.isFinite(maxLengthOf(copy, MAX_DEPTH)) ? copy : undefined;
}

/**
 * An upper bound for the length of a value as JSON. Infinity if the value is nested too deeply, or if it may change
 * when it is written and parsed again (a `toJSON` method, a number that is rounded).
 */
function maxLengthOf(value: unknown, levels: number): number {
  if (typeof value === 'string') return 2 + 6 * value.length;
  if (typeof value === 'number') return isExact(value) ? 25 : Infinity;
  if (value === null || typeof value === 'boolean') return 5;
  if (typeof value !== 'object' || levels === 0) return Infinity;
  let length = 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) length += 1 + maxLengthOf(value[i], levels - 1);
    return length;
  }
  if (!isPlain(value)) return Infinity;
  for (const name of Object.keys(value)) {
    if (name === '__proto__') return Infinity;
    length += 4 + 6 * name.length + maxLengthOf((value as Record<string, unknown>)[name], levels - 1);
  }
  return length;
}

const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value);
}
