interface Envelope {
  readonly data: Readonly<Record<string, unknown>>;
  readonly changes?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;
}

/** Keeps events below 20 KB, whether a kilobyte is 1000 or 1024 bytes. */
export const MAX_EVENT_BYTES = 19_999;
/** The maximum length of a name. Ids, names, addresses and enum values are never longer. */
const SHORT_TEXT = 255;

interface Limits {
  readonly characters: number;
  readonly members: number;
  readonly changes: boolean;
}

/**
 * Keeps events below 20 KB (events §2), so that every receiver can process them: long values are cut and listed in
 * `truncated`. The audit entry stays complete.
 *
 * The rule is deterministic, so equal events are cut alike. First, all texts longer than 255 characters are cut to the
 * same length, the greatest with which the event fits. If it does not fit even with 255 characters, lists and objects
 * of free JSON are also cut, all to the same number of members. If the event is still too long without any members, the
 * values of `changes` become null.
 *
 * `isNeverCut`: members of `data` and `changes` that are never cut, such as links and values with a fixed format.
 *
 * @example { …, changes: { description: { from: 'a…', to: 'b…' } }, truncated: ['changes.description.to'] }
 */
export function cutToSize<E extends Envelope>(event: E, isNeverCut: (member: string) => boolean): E {
  if (bytesOf(event) <= MAX_EVENT_BYTES) return event;
  // Converted to the delivered form, in which dates are strings.
  const whole = JSON.parse(JSON.stringify(event)) as E;
  const cutWithin = (limits: Limits): E | null => {
    const cut = cutEvent(whole, isNeverCut, limits);
    return bytesOf(cut) <= MAX_EVENT_BYTES ? cut : null;
  };
  const all = { characters: MAX_EVENT_BYTES, members: MAX_EVENT_BYTES, changes: true };
  const short = { ...all, characters: SHORT_TEXT };
  return (
    greatestFitting(SHORT_TEXT, MAX_EVENT_BYTES, (characters) => cutWithin({ ...all, characters })) ??
    greatestFitting(0, MAX_EVENT_BYTES, (members) => cutWithin({ ...short, members })) ??
    cutEvent(whole, isNeverCut, { ...short, members: 0, changes: false })
  );
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Binary search: returns the result of `of` for the greatest number that has one; null if even the smallest has none.
 */
function greatestFitting<T>(least: number, greatestNumber: number, of: (n: number) => T | null): T | null {
  let best = of(least);
  if (best === null) return null;
  let [from, to] = [least + 1, greatestNumber];
  while (from <= to) {
    const middle = (from + to) >> 1;
    const candidate = of(middle);
    if (candidate === null) to = middle - 1;
    else [best, from] = [candidate, middle + 1];
  }
  return best;
}

function cutEvent<E extends Envelope>(event: E, isNeverCut: (member: string) => boolean, limits: Limits): E {
  const truncated: string[] = [];
  const members = (of: object, path: string, each: typeof cut) =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => {
        const at = `${path}.${name}`;
        return [name, isNeverCut(name) ? value : each(value, at, limits, truncated)];
      }),
    );
  const data = members(event.data, 'data', cut);
  if (!event.changes) return { ...event, data, truncated };
  if (limits.changes) {
    // `from` and `to` are not free JSON, so both stay.
    const changes = members(event.changes, 'changes', (change, at) => ({
      from: cut((change as { from: unknown }).from, `${at}.from`, limits, truncated),
      to: cut((change as { to: unknown }).to, `${at}.to`, limits, truncated),
    }));
    return { ...event, data, changes, truncated };
  }
  const names = Object.keys(event.changes);
  const changes = Object.fromEntries(names.map((name) => [name, { from: null, to: null }]));
  return { ...event, data, changes, truncated: [...truncated, ...names.map((name) => `changes.${name}`)] };
}

/** Cuts a value to the limits, and adds the paths of cut values to `truncated`. */
function cut(value: unknown, path: string, limits: Limits, truncated: string[]): unknown {
  if (typeof value === 'string') {
    if (value.length <= limits.characters) return value;
    const characters = Array.from(value);
    if (characters.length <= limits.characters) return value;
    truncated.push(path);
    return characters.slice(0, limits.characters).join('');
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const remaining = entries.slice(0, limits.members);
  if (remaining.length < entries.length) truncated.push(path);
  const within = remaining.map(
    ([name, item]) => [name, cut(item, `${path}.${name}`, limits, truncated)] as const,
  );
  return Array.isArray(value) ? within.map(([, item]) => item) : Object.fromEntries(within);
}
