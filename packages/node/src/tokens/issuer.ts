import type { Scope, TokenType } from '../contracts/types.ts';

/** An issuer of tokens, and the types of tokens that it signs (identity §10). */
export interface Issuer {
  readonly id: string;
  readonly jwksPath: string;
  readonly types: readonly TokenType[];
}

const jwks = '/.well-known/jwks.json';

/** The issuer of a project's key and app tokens; undefined if the scope is not a project. */
export function projectIssuer(url: string, { tenant, id }: Scope): Issuer | undefined {
  const [owner = '', project = ''] = id.split(':');
  const prefix = { accountProject: 'acc', organizationProject: 'org' }[tenant as string];
  if (prefix === undefined) return undefined;
  const path = `/${prefix}/${owner}/prj/${project}`;
  return { id: `${url}${path}`, jwksPath: `${path}${jwks}`, types: ['ApiKey', 'projectApp'] };
}

/** The issuer of session tokens. */
export const systemIssuer = (url: string): Issuer => ({ id: url, jwksPath: jwks, types: ['session'] });
