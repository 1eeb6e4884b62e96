/** JSON Canonicalization Scheme (RFC 8785): members sorted by UTF-16 code units, ECMAScript number form. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object' || value instanceof Date) {
    return JSON.stringify(value ?? null);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let members = '';
  // Without a function of its own, `sort` goes by code units.
  for (const name of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    members += `${members && ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}
