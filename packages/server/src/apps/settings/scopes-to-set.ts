import { sql } from 'drizzle-orm';
import type { Grants } from '@doorward/decision/evaluate';
import { organizationNouns } from '@doorward/decision/policy/organization-nouns';
import type { BuiltIns } from '../../access/built-in.ts';
import { assertNoEscalation, type WantedPermission } from '../../access/delegation/escalation.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { fail, type DetailCode } from '../../errors.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/** The caller who sets the scopes of an app, and the project of the app. */
interface Setter {
  readonly tx: Executor;
  readonly services: Services;
  readonly projectId: string;
  /** The caller's rights in the project. */
  readonly grants: Grants;
}

/**
 * Returns the scopes in the spelling of the permissions that they name, without duplicates. The caller must hold each
 * added scope; an unrestricted app (`before` null) counts as having every scope of the project plane. A scope whose
 * permission was deleted may stay, and grants nothing.
 *
 * @param field the field that error details name
 * @throws VALIDATION_ERROR, PRIVILEGE_ESCALATION
 */
export async function scopesToSet(
  setter: Setter,
  requested: readonly string[],
  before: readonly string[] | null,
  field = 'scopes',
): Promise<string[]> {
  const spelled = await spellScopes(setter, requested, before ?? [], field);
  assertNoEscalation(setter.grants, addedScopes(setter.services.builtIns, spelled, before));
  return spelled;
}

/** Returns the permissions that an app may use with these scopes but not with those before. */
export function addedScopes(
  { nouns }: Pick<BuiltIns, 'nouns'>,
  scopes: readonly string[],
  before: readonly string[] | null,
): WantedPermission[] {
  const wanted = scopes.map((scope) => {
    const [resource = '', action = ''] = scope.split(':');
    return { scope, resource, action, managementPlane: nouns.has(resource), condition: null };
  });
  return wanted.filter(({ scope, managementPlane }) =>
    before === null ? managementPlane : !before.includes(scope),
  );
}

const refuse = (path: string, code: DetailCode, fix: string) =>
  fail('VALIDATION_ERROR', { details: [{ path, code }], fix });

async function spellScopes(
  { tx, projectId, services }: Setter,
  requested: readonly string[],
  before: readonly string[],
  field: string,
): Promise<string[]> {
  const { nouns, permissions } = services.builtIns;
  /** Case matters in a built-in noun but not in a slug, as in authorization checks. */
  const keyOf = (name: string): string => {
    const [resource = ''] = name.split(':');
    return (nouns.has(resource) ? resource : '') + name.toLowerCase();
  };
  const own = await rowsOf<{ name: string }>(
    tx,
    sql`select distinct r.slug || ':' || p.action as name
      from permissions p join resources r on r.id = p.resource_id and r.deleted_at is null
      where p.tenant_id = ${projectId}::uuid and p.deleted_at is null and not r.is_system
        and r.slug || ':' || p.action in (
          select lower(jsonb_array_elements_text(${JSON.stringify(requested)}::text::jsonb)))`,
  );
  const names = [...before, ...[...own, ...permissions].map(({ name }) => name)];
  const spellings = new Map(names.map((name) => [keyOf(name), name]));
  const spelled = requested.map((typed, index) => {
    const name = spellings.get(keyOf(typed));
    const path = `${field}.${index}`;
    if (name === undefined) {
      throw refuse(
        path,
        'enum',
        'Name permissions of the project as slug:action, built-in ones as Noun:Action.',
      );
    }
    if (organizationNouns.has(name.split(':')[0] ?? '')) {
      throw refuse(path, 'not_allowed', 'Leave it out: it has no effect in a project.');
    }
    return name;
  });
  return [...new Set(spelled)];
}
