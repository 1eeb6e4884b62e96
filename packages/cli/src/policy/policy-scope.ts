import type { Client } from '@doorward/node/client';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';
import type { PolicyFile } from './policy-file.ts';

/** Returns a client in the run's scope, and the id of the project. @throws Fault if the scope isn't a project */
export async function inProject(
  { connection }: Run,
  options: { readonly changes?: boolean } = {},
): Promise<{ readonly doorward: Client; readonly id: string }> {
  const doorward = await connection.inScope({ ...options, isLong: true });
  const scope = await connection.scope();
  const id = scope?.id.split(':')[1];
  if (!scope || id === undefined || !scope.tenant.endsWith('Project'))
    throw usageFault(
      'A policy belongs to a project.',
      '-s organizationProject:<id>:<project> or accountProject:<id>:<project>, or --org or --account with --project',
    );
  return { doorward, id };
}

/** Adds file, line and column to the paths in the error of a refused document. */
export async function withPositions<T>(placeOf: PolicyFile['placeOf'], work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const { details } = error as { readonly details?: readonly { readonly path: string }[] };
    if (Array.isArray(details)) {
      const placed = details.map((detail: { readonly path: string }) => {
        const place = placeOf(detail.path);
        return place === undefined
          ? detail
          : { ...detail, path: `${place} ${detail.path.replace(/^policy\./, '')}` };
      });
      Object.defineProperty(error, 'details', { value: placed, enumerable: true });
    }
    throw error;
  });
}
