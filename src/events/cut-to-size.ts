/**
 * An event stays below 20 KB (events §2), so that every receiver can take it: values that are too long are cut, and
 * named in `truncated`. The audit entry beside it keeps everything.
 *
 * What is cut is a rule and not a choice, so that equal events are cut alike. First texts that are longer than 255
 * characters, all to one length, the greatest with which the event fits. If 255 is not short enough: also lists, and
 * the members of free JSON, all to one number. If none of them is few enough: the values of `changes` are null.
 *
 * @example { …, changes: { description: { from: 'a…', to: 'b…' } }, truncated: ['changes.description.to'] }
 */
interface Envelope {
  readonly data: Readonly<Record<string, unknown>>;
  readonly changes?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;
}

/** Below 20 KB, whether a kilobyte is 1000 bytes or 1024. */
export const MAX_EVENT_BYTES = 19_999;
/** As long as a name may be: no id, name, address or word of an enumeration is longer. */
const SHORT_TEXT = 255;

interface Limits {
  readonly characters: number;
  readonly members: number;
  readonly changes: boolean;
}

/** `isWhole` names the members of `data`, and of `changes`, that are never cut: links and what has a fixed form. */
export function cutToSize<E extends Envelope>(event: E, isWhole: (member: string) => boolean): E {
  if (bytesOf(event) <= MAX_EVENT_BYTES) return event;
  // As it is delivered: dates are texts by now.
  const whole = JSON.parse(JSON.stringify(event)) as E;
  const within = (limits: Limits): E | null => {
    const cut = cutEvent(whole, isWhole, limits);
    return bytesOf(cut) <= MAX_EVENT_BYTES ? cut : null;
  };
  const all = { characters: MAX_EVENT_BYTES, members: MAX_EVENT_BYTES, changes: true };
  const short = { ...all, characters: SHORT_TEXT };
  return (
    greatest(SHORT_TEXT, MAX_EVENT_BYTES, (characters) => within({ ...all, characters })) ??
    greatest(0, MAX_EVENT_BYTES, (members) => within({ ...short, members })) ??
    cutEvent(whole, isWhole, { ...short, members: 0, changes: false })
  );
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** What the greatest number gives with which there is something; null if the least gives nothing. */
function greatest<T>(least: number, most: number, of: (n: number) => T | null): T | null {
  let found = of(least);
  if (found === null) return null;
  let [from, to] = [least + 1, most];
  while (from <= to) {
    const middle = (from + to) >> 1;
    const candidate = of(middle);
    if (candidate === null) to = middle - 1;
    else [found, from] = [candidate, middle + 1];
  }
  return found;
}

function cutEvent<E extends Envelope>(event: E, isWhole: (member: string) => boolean, limits: Limits): E {
  const truncated: string[] = [];
  const members = (of: object, path: string, each: typeof cut) =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => {
        const at = `${path}.${name}`;
        return [name, isWhole(name) ? value : each(value, at, limits, truncated)];
      }),
    );
  const data = members(event.data, 'data', cut);
  if (!event.changes) return { ...event, data, truncated };
  if (limits.changes) {
    // `{from, to}` is no free JSON: both stay.
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

/** A value within the limits; adds the path of whatever it had to cut. */
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
  const kept = entries.slice(0, limits.members);
  if (kept.length < entries.length) truncated.push(path);
  const within = kept.map(([name, one]) => [name, cut(one, `${path}.${name}`, limits, truncated)] as const);
  return Array.isArray(value) ? within.map(([, one]) => one) : Object.fromEntries(within);
}
