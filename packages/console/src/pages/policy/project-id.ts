import type { Scope } from '../../scopes/scope.ts';

/** Returns the id of the project, which is the second half of the id of a project scope. */
export const projectIdOf = ({ id }: Pick<Scope, 'id'>): string => id.split(':')[1] ?? '';
