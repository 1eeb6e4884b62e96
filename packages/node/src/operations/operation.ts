/** How one operation is sent, parsed from its line in the generated table. */
export interface RestOperation {
  readonly name: string;
  readonly method: string;
  /** From the root, with `:name` for parameters. */
  readonly path: string;
  /** The scope is a parameter; the default of the client replaces a missing one. */
  readonly isScoped: boolean;
  readonly takesIdempotencyKey: boolean;
  /** May be sent again although an earlier attempt may have been processed. */
  readonly isRepeatable: boolean;
  /** The answer has no envelope. */
  readonly isBare: boolean;
  /** The answer is not JSON. */
  readonly isRaw: boolean;
  readonly isPaged: boolean;
  readonly isFeed: boolean;
  /** Needs no token. */
  readonly isPublic: boolean;
  /** Members of the answer that a replay leaves out. */
  readonly secrets: readonly string[];
}

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
