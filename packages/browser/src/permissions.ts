import { DoorwardError } from './errors.ts';
import { badAnswer, refusal, type Answer } from './service.ts';

/** A permission as `resource:action`, or with resource and action separately. */
export type Permission = string | { readonly resource: string; readonly action: string };

/** Splits a permission into resource and action. @throws TypeError for a name without exactly one colon */
export function partsOf(permission: Permission): { readonly resource: string; readonly action: string } {
  if (typeof permission === 'object') return { resource: permission.resource, action: permission.action };
  const [resource, action, more] = permission.split(':');
  if (!resource || !action || more !== undefined)
    throw new TypeError(`A permission is named resource:action, and not ${JSON.stringify(permission)}.`);
  return { resource, action };
}

/** The name of a permission; equal permissions have equal names. */
function nameOf(permission: Permission): string {
  const { resource, action } = partsOf(permission);
  return `${resource}:${action}`;
}

/** The state of the user's permissions in this page. Each change creates a new object. */
export interface Permissions {
  /** Changes whenever the user's permissions change; null until they are loaded. */
  readonly version: string | null;
  /** Why the last attempt to load them failed. */
  readonly error?: DoorwardError;
}

/**
 * Whether the user has a permission: `yes` without a condition, `conditional` under one. `unknown` until the
 * permissions are loaded. For display only: the server decides.
 */
export type PermissionState = 'yes' | 'conditional' | 'no' | 'unknown';

/** The permissions of the current session's user, reloaded every minute and on demand. */
interface PermissionList {
  readonly current: () => Permissions;
  readonly state: (permission: Permission) => PermissionState;
  /** Loads the permissions soon; several calls within a short time cause one request. */
  readonly load: () => void;
  /** Resolves when the permissions are loaded, or one attempt has failed. Never rejects. */
  readonly loaded: () => Promise<void>;
  readonly clear: () => void;
}

/** Sends a request to the API as the user; returns null without a session. */
export type Call = (
  path: string,
  init?: { readonly body?: object; readonly etag?: string },
) => Promise<Answer | null>;

const nothing: Permissions = { version: null };
const INTERVAL_MS = 60_000;
/** The minimum time between two requests. Each refused call of the page triggers a request, and there may be many. */
const MIN_INTERVAL_MS = 2000;

export function createPermissionList(call: Call, onChange: () => void): PermissionList {
  let current = nothing;
  let conditional = new Map<string, boolean>();
  let etag: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let requestedAt = -Infinity;
  /** The current or last request. */
  let pending: Promise<void> | undefined;
  /** Incremented when the session changes, so that the response for an earlier session is ignored. */
  let epoch = 0;

  function schedule(delay: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // Skips hidden pages; a page that becomes visible loads the permissions immediately.
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
    // Also loads in a hidden tab, unlike `load`, because the caller waits for the result.
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
