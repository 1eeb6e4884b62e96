import type { Principal } from '../kernel/context.ts';
import type { ScopeInput } from '../kernel/scope.ts';

/** Under which keys a scope and the rights in it are kept. */
export interface Keys {
  readonly scope: string;
  readonly rights: string;
}

/**
 * In which very words each caller named a scope last, and the keys that they led to: those are long, and to write them
 * anew costs as much as what is found by them. Words that are frozen cannot come to mean another scope.
 */
export interface AskedAgain {
  readonly keys: (principal: Principal, asked: ScopeInput) => Keys | undefined;
  readonly note: (principal: Principal, asked: ScopeInput, keys: Keys) => void;
}

export function createAskedAgain(): AskedAgain {
  const last = new WeakMap<Principal, { readonly asked: ScopeInput; readonly keys: Keys }>();
  return {
    keys(principal, asked) {
      const before = last.get(principal);
      return before?.asked === asked ? before.keys : undefined;
    },
    note(principal, asked, keys) {
      if (Object.isFrozen(asked)) last.set(principal, { asked, keys });
    },
  };
}
