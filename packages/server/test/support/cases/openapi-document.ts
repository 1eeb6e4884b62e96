/** The OpenAPI document with its shared parameters and responses resolved. Schemas stay references. */
export function dereferenced<T extends object>(document: T): T {
  const root = document as Record<string, unknown>;
  const at = (pointer: string): unknown =>
    pointer
      .slice('#/'.length)
      .split('/')
      .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], root);
  return JSON.parse(JSON.stringify(document), (_key, value: unknown) => {
    const { $ref } = (value ?? {}) as { readonly $ref?: string };
    return $ref !== undefined && /^#\/components\/(parameters|responses)\//.test($ref) ? at($ref) : value;
  }) as T;
}
