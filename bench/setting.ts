import type { Finding } from './findings.ts';
import type { Load, Pace } from './load.ts';
import type { Backend, Place, Service } from './service.ts';
import type { Policy, Tenant } from './tenant.ts';

/** The input of each row of `npm run bench`: a service with a tenant, and the function that takes its figures. */
export interface Setting {
  readonly backend: Backend;
  readonly service: Service;
  readonly place: Place;
  readonly tenant: Tenant;
  readonly policy: Policy;
  readonly pace: Pace;
  /** Rows of the large table of roles. */
  readonly rows: number;
  readonly wants: (row: string) => boolean;
  readonly report: (finding: Finding) => void;
}

/** A load for the service of the setting. */
export const loadOf = (
  { service, place }: Pick<Setting, 'service' | 'place'>,
  requests: readonly string[],
  connections: number,
): Load => ({
  requests,
  connections,
  ports: [service.port],
  pids: [service.pid],
  databaseUrl: place.databaseUrl,
});
