/** Whether a member of a declaration applies to a call: `true` applies to every call, a function decides. */
export const applies = <A extends readonly unknown[]>(
  member: true | ((...call: A) => boolean) | undefined,
  ...call: A
): boolean => (typeof member === 'function' ? member(...call) : member === true);
