import { useTexts } from '../../i18n/language.ts';
import { isSameScope } from '../../scopes/scope.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { useMe } from '../../scopes/use-scopes.ts';
import { Value } from './candidates.tsx';
import type { Explanation, Remedy } from './question.ts';
import { RowLink } from './row-link.tsx';
import type { ExplainedRows, NamedRow } from './rows.ts';
import { whyTexts } from './why-texts.ts';

/** Lists the smallest changes that would allow the action, each with a link to the row to change. */
export function Nearest({
  explanation: { nearest, subject },
  rows,
}: {
  readonly explanation: Explanation;
  readonly rows: ExplainedRows;
}) {
  const t = useTexts(whyTexts);
  if (nearest.length === 0) return null;
  return (
    <section>
      <h2>{t.nearest}</h2>
      <p className="hint">{t.nearestHint}</p>
      <ul className="candidates">
        {nearest.map((remedy) => (
          <li key={remedy.kind} className="box">
            <Change remedy={remedy} rows={rows} userId={subject.id} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Change({
  remedy: { kind, roleId = '', groupId = '', permissionId = '', path = '', expected },
  rows,
  userId,
}: {
  readonly remedy: Remedy;
  readonly rows: ExplainedRows;
  readonly userId: string;
}) {
  const t = useTexts(whyTexts);
  const role = rows.roles.get(roleId);
  const group = rows.groups.get(groupId);
  const permission = rows.permissions.get(permissionId);
  if (kind === 'assignRole')
    return (
      <p>
        {t.assignRole}{' '}
        <RowLink scope={role?.scope} page="roles" id={roleId}>
          {role?.name ?? roleId}
        </RowLink>
        . <OpenUser rows={rows} userId={userId} role={role} />
      </p>
    );
  if (kind === 'addPermissionToGroup')
    return (
      <p>
        {t.addPermission}{' '}
        <RowLink scope={permission?.scope} page="permissions" id={permissionId}>
          {permission?.name ?? permissionId}
        </RowLink>{' '}
        {t.toGroup} <strong>{group?.name ?? groupId}</strong>. {t.shared}{' '}
        <RowLink scope={group?.scope} page="groups" id={groupId}>
          {t.openGroup}
        </RowLink>
      </p>
    );
  return (
    <p>
      {t.setAttribute} <code>{path}</code> {t.to} <Value value={expected} />.{' '}
      {path.startsWith('resource.') && t.ofProduct}
      {path.startsWith('user.') && <OpenUser rows={rows} userId={userId} />}
      {path.startsWith('role.') && (
        <>
          {t.shared}{' '}
          <RowLink scope={role?.scope} page="roles" id={roleId}>
            {t.openRole}
          </RowLink>
        </>
      )}
      {path.startsWith('group.') && (
        <>
          {t.shared}{' '}
          <RowLink scope={group?.scope} page="groups" id={groupId}>
            {t.openGroup}
          </RowLink>
        </>
      )}
    </p>
  );
}

/** A link to where the roles and metadata of a user are changed: users of a project, or members of an organization. */
export function OpenUser({
  rows: { user },
  userId,
  role,
}: {
  readonly rows: ExplainedRows;
  readonly userId: string;
  /** The role that the form of the user should propose. */
  readonly role?: NamedRow | undefined;
}) {
  const t = useTexts(whyTexts);
  const scope = useScope();
  const { data: me } = useMe();
  // Users can't change their own roles or metadata, so a link would lead to a page without a form.
  if (me?.user.id === userId) return t.notYourself;
  const where = user?.scope ?? scope;
  // Members of an organization can't be assigned a role of a project.
  const isGiven = role !== undefined && isSameScope(role.scope, where);
  return (
    <RowLink
      scope={where}
      page={where.tenant === 'organization' ? 'members' : 'users'}
      id={userId}
      give={isGiven ? role.id : undefined}
    >
      {isGiven ? t.giveRole : t.openUser}
    </RowLink>
  );
}
