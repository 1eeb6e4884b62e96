/** Whether a member of a declaration applies to a call: to all of them (`true`), or to those that its function accepts. */
export const applies = <A extends readonly unknown[]>(
  member: true | ((...call: A) => boolean) | undefined,
  ...call: A
): boolean => (typeof member === 'function' ? member(...call) : member === true);
