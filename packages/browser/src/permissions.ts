import { DoorwardError } from './errors.ts';
import { badAnswer, refusal, type Answer } from './service.ts';

/** A permission by its name `resource:action`, or by its parts. */
export type Permission = string | { readonly resource: string; readonly action: string };

/** The parts of a permission. @throws TypeError for a name without exactly one colon */
export function partsOf(permission: Permission): { readonly resource: string; readonly action: string } {
  if (typeof permission === 'object') return { resource: permission.resource, action: permission.action };
  const [resource, action, more] = permission.split(':');
  if (!resource || !action || more !== undefined)
    throw new TypeError(`A permission is named resource:action, and not ${JSON.stringify(permission)}.`);
  return { resource, action };
}

/** The name of a permission, equal for equal permissions. */
function nameOf(permission: Permission): string {
  const { resource, action } = partsOf(permission);
  return `${resource}:${action}`;
}

/** The state of the user's permissions in this page. Each change makes a new object. */
export interface Permissions {
  /** Changes with any change of the user's rights; null until they are loaded. */
  readonly version: string | null;
  /** Why they could not be loaded the last time. */
  readonly error?: DoorwardError;
}

/**
 * Whether the user holds a permission: without a condition, under one, or not; `unknown` until the permissions are
 * loaded. For display only: the server decides.
 */
export type PermissionState = 'yes' | 'conditional' | 'no' | 'unknown';

/** The permissions of the user of the current session, loaded again every minute and on demand. */
interface PermissionList {
  readonly current: () => Permissions;
  readonly state: (permission: Permission) => PermissionState;
  /** Loads at once; several calls within a short time cause one request. */
  readonly load: () => void;
  /** Resolves when they are loaded, or could not be loaded once. It never rejects. */
  readonly loaded: () => Promise<void>;
  readonly clear: () => void;
}

/** Requests as the user; null without a session. */
export type Call = (
  path: string,
  init?: { readonly body?: object; readonly etag?: string },
) => Promise<Answer | null>;

const nothing: Permissions = { version: null };
const INTERVAL_MS = 60_000;
/** The least time between two requests, however many calls of the page are refused. */
const MIN_INTERVAL_MS = 2000;

export function createPermissionList(call: Call, onChange: () => void): PermissionList {
  let current = nothing;
  let conditional = new Map<string, boolean>();
  let etag: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let requestedAt = -Infinity;
  /** The last request. */
  let pending: Promise<void> | undefined;
  /** Grows when the session changes, so that the answer to an earlier session is not used. */
  let epoch = 0;

  function schedule(delay: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A page that becomes visible loads at once.
      if (document.visibilityState === 'hidden') return schedule(INTERVAL_MS);
      void loadNow();
    }, delay);
  }

  function loadNow(): Promise<void> {
    requestedAt = Date.now();
    schedule(INTERVAL_MS);
    return (pending = request());
  }

  async function request(): Promise<void> {
    const started = epoch;
    try {
      const answer = await call('/me/permissions', etag === null ? {} : { etag });
      if (started !== epoch || answer === null) return;
      if (answer.status === 200) read(answer);
      else if (answer.status !== 304) throw refusal(answer);
      else if (current.error !== undefined) change({ version: current.version });
    } catch (error) {
      if (started === epoch && error instanceof DoorwardError) change({ version: current.version, error });
    }
  }

  function read({ etag: tag, body }: Answer): void {
    const { version, permissions } = (body['data'] ?? {}) as { version?: unknown; permissions?: unknown };
    if (typeof version !== 'string' || !Array.isArray(permissions))
      throw badAnswer('The permissions are missing.');
    const entries = permissions as readonly { resource: string; action: string; conditional: boolean }[];
    conditional = new Map(entries.map((entry) => [nameOf(entry), entry.conditional]));
    etag = tag;
    if (version !== current.version || current.error !== undefined) change({ version });
  }

  function change(next: Permissions): void {
    current = next;
    onChange();
  }

  return {
    current: () => current,
    state(permission) {
      const condition = conditional.get(nameOf(permission));
      if (current.version === null) return 'unknown';
      return condition === undefined ? 'no' : condition ? 'conditional' : 'yes';
    },
    // Also in a hidden tab, where `load` waits: the caller waits for the answer.
    loaded: () => pending ?? loadNow(),
    load: () => schedule(Math.max(0, requestedAt + MIN_INTERVAL_MS - Date.now())),
    clear() {
      epoch++;
      clearTimeout(timer);
      conditional = new Map();
      etag = null;
      current = nothing;
      pending = undefined;
      requestedAt = -Infinity;
    },
  };
}
