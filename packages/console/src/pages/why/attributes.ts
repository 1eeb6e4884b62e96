import { compileCondition } from '@doorward/decision';
import type { TruthOf } from '../../entities/conditions/condition-tree.tsx';
import type { Scope } from '../../scopes/scope.ts';
import type { Candidate, Attributes } from './question.ts';
import type { ExplainedRows, NamedRow } from './rows.ts';

/**
 * Returns a function that evaluates parts of a candidate's condition, with the code that the service uses. Returns
 * null if the caller may not read all attributes, or if the result differs from that of the service. Then only the
 * result of the service is shown.
 */
export function truthOfCandidate(
  { roleId, groupId, permissionId, result }: Candidate,
  { user, roles, groups, permissions }: ExplainedRows,
  scope: Scope,
  resource: Attributes | null,
): TruthOf | null {
  const condition = permissions.get(permissionId)?.condition;
  const role = roles.get(roleId);
  const group = groups.get(groupId);
  if (!condition || !user || !role || !group) return null;
  const { id, name, email, emailVerified, metadata } = user;
  const attributes = {
    user: { id, name, email, emailVerified, metadata },
    role: rowAttributes(role),
    group: rowAttributes(group),
    scope: scopeAttributes(scope),
    ...(resource ? { resource } : {}),
  };
  const truth: TruthOf = (part) => compileCondition(part).evaluate(attributes);
  return (truth(condition) === 'true') === (result === 'met') ? truth : null;
}

const rowAttributes = ({ id, name, metadata }: NamedRow): Attributes => ({ id, name, metadata });

function scopeAttributes({ tenant, id }: Scope): Attributes {
  const [owner, project] = id.split(':');
  return {
    tenant,
    id,
    ...(tenant.startsWith('account') ? { accountId: owner } : { organizationId: owner }),
    ...(project ? { projectId: project } : {}),
  };
}
