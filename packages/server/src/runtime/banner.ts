import { isIPv6 } from 'node:net';
import type { Config } from '../config/config.ts';

/** Returns the URL at which this process can be reached on this machine. */
export function listeningAt(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/**
 * Returns the text for the terminal when the service is ready. It contains only URLs that are enabled. `next` is the
 * command to try next, which differs between the package and the repository. `docs` says whether the documentation was
 * built.
 */
export function banner(
  config: Config,
  address: string,
  { ms, next, docs }: { readonly ms: number; readonly next: string; readonly docs: boolean },
): string {
  const data =
    config.mode === 'embedded'
      ? `embedded database in ${config.dataDir} (one process; set DATABASE_URL for several)`
      : `PostgreSQL${config.http.workers > 1 ? `, ${config.http.workers} workers` : ''}`;
  const lines: [string, string][] = [
    ...(config.appUrl === address ? [] : [['APP_URL', config.appUrl] as [string, string]]),
    ...(config.console.enabled ? [['Console', `${address}/console`] as [string, string]] : []),
    ...(docs ? [['Documentation', `${address}/docs`] as [string, string]] : []),
    ...(config.docs.enabled ? [['API explorer', `${address}/api-docs`] as [string, string]] : []),
    ...(config.graphql.explorer ? [['GraphQL', `${address}/graphql`] as [string, string]] : []),
    ['Health', `${address}/health/ready`],
    ['Data', data],
  ];
  return [
    '',
    `Doorward is ready at ${address}  (${ms} ms)`,
    '',
    ...lines.map(([name, value]) => `  ${name.padEnd(14)} ${value}`),
    '',
    `  Try it:        ${next}`,
    '',
  ].join('\n');
}
