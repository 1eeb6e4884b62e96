import type { Scope } from '../../scopes/scope.ts';

/** The id of the project of a scope: the second one of the pair. */
export const projectIdOf = ({ id }: Pick<Scope, 'id'>): string => id.split(':')[1] ?? '';
