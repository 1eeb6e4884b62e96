import type { FastifyRequest } from 'fastify';
import { fail } from '../errors.ts';

/**
 * Health checks accept any host: orchestrators and load balancers send the address of the pod or machine as host, and
 * the response contains nothing but the state.
 */
const PROBES: ReadonlySet<string | undefined> = new Set(['/health', '/health/live', '/health/ready']);

/** Returns a check that refuses requests for hosts other than those of SECURITY_ALLOWED_HOSTS. */
export function createHostCheck(allowed: readonly string[] | undefined): (request: FastifyRequest) => void {
  if (!allowed) return () => undefined;
  const hosts = new Set<string | null>(allowed.flatMap((host) => canonical(host) ?? []));
  return (request) => {
    if (PROBES.has(request.routeOptions.url)) return;
    // With two Host headers, a proxy may have checked the other one (RFC 9112 §3.2).
    const names = request.raw.rawHeaders.filter((text, index) => index % 2 === 0 && /^host$/i.test(text));
    if (names.length > 1) throw fail('VALIDATION_ERROR', { fix: 'Send one Host header.' });
    if (!hosts.has(request.host) && !hosts.has(canonical(request.host))) throw fail('MISDIRECTED_REQUEST');
  };
}

/**
 * The canonical spelling of a host: lower case, no final dot, no default port, the short form of an IPv6 address (RFC
 * 9110 §4.2.3, RFC 5952). Null for a text that is not a host.
 */
function canonical(host: string): string | null {
  // These characters end the host of a URL, or separate it from the preceding part.
  if (!/^[^\s/?#@\\]+$/.test(host) || !URL.canParse(`http://${host}`)) return null;
  const { hostname, port } = new URL(`http://${host}`);
  const name = hostname.replace(/\.$/, '');
  return port === '' || port === '443' ? name : `${name}:${port}`;
}
