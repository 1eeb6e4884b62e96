/** How to send one operation, parsed from its line in the generated table. */
export interface RestOperation {
  readonly name: string;
  readonly method: string;
  /** Full path, with `:name` for parameters. */
  readonly path: string;
  /** Whether the scope is a parameter. The client's default replaces a missing scope. */
  readonly isScoped: boolean;
  readonly takesIdempotencyKey: boolean;
  /** Whether it may be sent again although the service may have processed an earlier attempt. */
  readonly isRepeatable: boolean;
  /** Whether the response has no envelope. */
  readonly isBare: boolean;
  /** Whether the response is not JSON. */
  readonly isRaw: boolean;
  readonly isPaged: boolean;
  readonly isFeed: boolean;
  /** Whether it needs no token. */
  readonly isPublic: boolean;
  /** Members of the response that a replay leaves out. */
  readonly secrets: readonly string[];
}

/**
 * Parses `<method> <path> <flags> <secret members>`. A path with `~` is not below `/api`. The flags, as
 * scripts/client.ts writes them: s scoped, i takes an idempotency key, c a POST that may be repeated, b bare, r raw, p
 * paged, f feed, x public, w writes (not used here).
 */
export function parseOperation(name: string, line: string): RestOperation {
  const [method = '', path = '', flags = '', ...secrets] = line.split(' ');
  const has = (flag: string): boolean => flags.includes(flag);
  return {
    name,
    method,
    path: path.startsWith('~') ? path.slice(1) : `/api${path}`,
    isScoped: has('s'),
    takesIdempotencyKey: has('i'),
    isRepeatable: method !== 'POST' || has('i') || has('c'),
    isBare: has('b'),
    isRaw: has('r'),
    isPaged: has('p'),
    isFeed: has('f'),
    isPublic: has('x'),
    secrets,
  };
}
