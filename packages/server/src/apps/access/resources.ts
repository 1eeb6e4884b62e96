import { z } from 'zod';
import { fail, type DoorwardError } from '../../errors.ts';
import type { LiveApp } from './app.ts';

const MAX_NAMED_RESOURCES = 5;

/** The parameter `resource`, which may be repeated (RFC 8707 §2). */
export const resourceParameter = z.union([z.string(), z.array(z.string()).max(100)]).optional();

/** Returns the values of a parameter that may be repeated, each once. Empty values count as absent (RFC 6749 §3.1). */
export const namedResources = (sent: string | readonly string[] | undefined): string[] => [
  ...new Set([sent ?? []].flat().filter((value) => value !== '')),
];

/** Whether the app may name all of these resources in one request. */
export const mayName = ({ resources }: Pick<LiveApp, 'resources'>, named: readonly string[]): boolean =>
  named.length <= MAX_NAMED_RESOURCES && named.every((resource) => resources.includes(resource));

/**
 * Returns the resources of a token: those that the client names now, otherwise all that were granted. `granted` null:
 * the sign-in named none, so the app may name any of its own.
 * @throws VALIDATION_ERROR on `resource`, which OAuth clients get as `invalid_target`
 */
export function resourcesOf(
  app: Pick<LiveApp, 'resources'>,
  granted: readonly string[] | null,
  named: readonly string[],
): string[] {
  const isWithin = granted === null || named.every((resource) => granted.includes(resource));
  if (!isWithin || !mayName(app, named)) throw invalidTarget();
  if (named.length > 0) return [...named];
  // The app may have lost some resources since the grant.
  return (granted ?? []).filter((resource) => app.resources.includes(resource));
}

export const invalidTarget = (): DoorwardError =>
  fail('VALIDATION_ERROR', {
    details: [{ path: 'resource', code: 'not_allowed' }],
    fix: 'Name at most five of the resources of the app, and after the sign-in none that it did not name.',
  });

/** Returns the claim `aud`: this service and the resource servers. */
export const audienceOf = (appUrl: string, resources: readonly string[]): string | string[] =>
  resources.length === 0 ? appUrl : [appUrl, ...resources];
