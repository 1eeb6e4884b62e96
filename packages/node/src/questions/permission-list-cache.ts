import type { HeldPermissions } from '../contracts/types.ts';

const MOST_PAIRS = 200_000;
const MOST_LISTS = 1000;

/**
 * Caches lists of permissions by token and scope, so that the service need not send an unchanged list again. Drops the
 * least recently used list first.
 */
export class PermissionListCache {
  readonly #lists = new Map<string, HeldPermissions>();
  #pairs = 0;

  get(key: string): HeldPermissions | undefined {
    const list = this.#lists.get(key);
    if (list) {
      this.#lists.delete(key);
      this.#lists.set(key, list);
    }
    return list;
  }

  set(key: string, list: HeldPermissions): void {
    this.#remove(key);
    this.#lists.set(key, list);
    this.#pairs += list.permissions.length;
    for (const oldest of this.#lists.keys()) {
      if (this.#pairs <= MOST_PAIRS && this.#lists.size <= MOST_LISTS) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#pairs -= this.#lists.get(key)?.permissions.length ?? 0;
    this.#lists.delete(key);
  }
}
