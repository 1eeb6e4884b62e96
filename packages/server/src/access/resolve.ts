/*
 * Resolves `{tenant, id}` to an existing scope, and loads the rights of a caller there. A composite scope is looked up
 * as a pair, so a project combined with a foreign owner does not exist. Scopes and rights are cached until the rows
 * they depend on change.
 */

import { sql } from 'drizzle-orm';
import { preparedRowsOf } from '../db/statements/prepared.ts';
import { createFreshCache } from '../db/cache/fresh-cache.ts';
import type { Changes } from '../db/cache/changes.ts';
import { isManagementKey, type Principal } from '../kernel/context.ts';
import type { CallerRights, SubjectStatus } from '../kernel/call/caller-rights.ts';
import { loadScope, scopeTopics } from './load-scope.ts';
import type { ScopeAndRights } from '../kernel/stages.ts';
import type { BuiltIns } from './built-in.ts';
import { installationPermissions } from './installation-roles.ts';
import { hasAddressIn } from './credentials/company-address.ts';
import { loadOperator, type OperatorRules } from './operators.ts';
import { isWithinPin, questionsOnly } from './reach.ts';
import { createPermissionIndexCache } from './grants/permission-index-cache.ts';
import { canonicalTenant, type ResolvedScope, type ScopeInput } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import {
  indexPermissions,
  onlyManagement,
  evaluateWithoutConditions,
  type Grants,
} from '@doorward/decision/evaluate';
import {
  emptyGrants,
  isInProjectWithoutRole,
  loadSubject,
  organizationAttributes,
  unknownSubject,
  rolesOf,
  scopeAttributes,
} from './grants/grants.ts';

export interface Resolver {
  /** Returns the result of `resolve` from the cache; undefined if it, or the rights of `userId`, must be loaded. */
  peek(principal: Principal, scope: ScopeInput, userId?: string): ScopeAndRights | null | undefined;
  /** Resolves a scope; null if it does not exist, or the caller's token is limited to another project. */
  resolve(principal: Principal, scope: ScopeInput): Promise<ScopeAndRights | null> | ScopeAndRights | null;
  /** Resolves a granted scope for questions by the project's owner; see `Stages`. */
  resolveAsOwner(principal: Principal, scope: ScopeInput): Promise<ScopeAndRights | null>;
  /** Loads a scope without rights, for operations without a caller or without a scope in their input. */
  scopeOf(scope: ScopeInput, db?: Executor): Promise<ResolvedScope | null>;
  /**
   * Loads the rights of another user in a scope, for questions about them. With `tx` they are read as that transaction
   * sees them.
   */
  rightsOfUser(scope: ResolvedScope, userId: string, tx?: Executor): Promise<CallerRights> | CallerRights;
}

const RIGHTS_BYTES = 32 * 1024 * 1024;
/** The estimated size of cached rights, without the shared index and without metadata, whose size tenants choose. */
const BASE_BYTES = 2000;

export function createResolver(
  pool: Executor,
  changes: Changes,
  builtIns: BuiltIns,
  operators: OperatorRules,
): Resolver {
  const { nouns } = builtIns;
  const indexes = createPermissionIndexCache(pool, changes, builtIns);
  const scopes = createFreshCache<ResolvedScope>(changes, 20_000);
  const rights = createFreshCache<CallerRights>(changes, 20_000, {
    maxBytes: RIGHTS_BYTES,
    ownBytes: ({ subject, grants }) =>
      BASE_BYTES + 8 * JSON.stringify([subject.user?.metadata, ...(grants.consented ?? [])]).length,
    sharedPart({ grants, projectGrants }) {
      const { held } = projectGrants ?? grants;
      return [held, indexes.bytesOf(held)];
    },
  });

  async function loadRights(principal: Principal, scope: ResolvedScope): Promise<CallerRights> {
    if (scope.level === 'installation') return operatorRights(principal.userId, scope);
    const subject = await loadSubject(pool, scope, principal.userId);
    const key = principal.type === 'ApiKey' ? await keyRole(pool, principal.credentialId) : null;
    const isManagement = isManagementKey(principal);
    const projectKey = key !== null && !isManagement && key.scopeTenant !== 'ProjectUser';
    // A management key is limited to tenants in which its service user is a member.
    const belongs = isManagement ? subject.memberRoleId !== null : subject.related;
    const isActive = projectKey || (belongs && subject.alive);
    const active = isActive && !scope.isSuspended;
    const isKnown = belongs || (key !== null && !isManagement);
    const membership = active ? 'active' : isKnown ? 'inactive' : 'outside';
    const roleIds = projectKey ? (key.roleId ? [key.roleId] : []) : isActive ? rolesOf(subject) : [];
    const grants: Grants = {
      membership,
      user: subject.user,
      organization: organizationAttributes(scope),
      scope: scopeAttributes(scope),
      held: await indexes.forRoles(scope, roleIds, !projectKey && isInProjectWithoutRole(subject, scope)),
      ...(principal.consented ? { consented: principal.consented } : {}),
      ...(principal.type === 'projectApp' && !principal.consented ? { projectPlaneOnly: true } : {}),
    };
    const keyRoleId = projectKey ? key.roleId : null;
    if (scope.isSuspended) {
      const beforeSuspension: Grants | null = isActive ? { ...grants, membership: 'active' } : null;
      return { grants: emptyGrants(membership, nouns), beforeSuspension, subject, keyRoleId };
    }
    const isCompanys = await hasAddressIn(pool, principal, scope.enforcedDomains);
    const own = { grants, subject, keyRoleId, ...(isCompanys && { mustConnect: true as const }) };
    return isOfOtherUser(scope, principal.userId) ? onBehalf(own) : own;
  }

  /** Only sessions are admitted here (`checkAccess`). */
  async function operatorRights(userId: string, scope: ResolvedScope): Promise<CallerRights> {
    const subject = await loadOperator(pool, operators, userId);
    const active = subject.related && subject.alive;
    const grants: Grants = {
      membership: active ? 'active' : 'outside',
      user: subject.user,
      scope: scopeAttributes(scope),
      held: installationPermissions(active ? subject.projectRoleIds : []),
    };
    return { grants, subject, keyRoleId: null };
  }

  /**
   * In the projectUser scope of another user the caller holds nothing, with one exception: with `ApiKey:CreateForUser`
   * they may create a key for that user (authorization §5). `projectGrants` contains the caller's rights in the
   * project.
   */
  function onBehalf(own: CallerRights): CallerRights {
    const decision = evaluateWithoutConditions(own.grants, { resource: 'ApiKey', action: 'CreateForUser' });
    const allowed = decision !== 'conditional' && decision.authorized;
    // A custom permission may have any name, so its resource and action are compared.
    const held = allowed ? onlyManagement(own.grants.held, 'ApiKey', 'Create') : indexPermissions([], nouns);
    return { ...own, projectGrants: own.grants, grants: { ...own.grants, held } };
  }

  const inactive = (subject: SubjectStatus): CallerRights => {
    return { grants: emptyGrants('inactive', nouns), subject, keyRoleId: null };
  };

  async function loadRightsOfUser(scope: ResolvedScope, userId: string, tx?: Executor) {
    const subject = await loadSubject(tx ?? pool, scope, userId);
    const active = subject.related && subject.alive && !scope.isSuspended;
    const roleIds = active ? rolesOf(subject) : [];
    const held = await (tx
      ? indexes.loadIn(tx, scope, roleIds)
      : indexes.forRoles(scope, roleIds, isInProjectWithoutRole(subject, scope)));
    const user = subject.user;
    const grants: Grants = {
      membership: 'active',
      user,
      organization: organizationAttributes(scope),
      scope: scopeAttributes(scope),
      held,
    };
    const own = { grants, subject, keyRoleId: null };
    const value = !active ? inactive(subject) : isOfOtherUser(scope, userId) ? onBehalf(own) : own;
    return { value, topics: [...scopeTopics(scope), `user:${userId}`] };
  }

  async function rightsOf(principal: Principal, scope: ResolvedScope): Promise<CallerRights> {
    const loaded = await rights.get(rightsKey(principal, scope), async () => ({
      value: await loadRights(principal, scope),
      topics: topicsOf(principal, scope),
    }));
    return loaded as CallerRights;
  }

  function peek(
    principal: Principal,
    requested: ScopeInput,
    userId?: string,
  ): ScopeAndRights | null | undefined {
    const scope = scopes.peek(scopeKey(requested));
    if (!scope) return undefined;
    if (!isWithinPin(principal, scope)) return null;
    const held = rights.peek(rightsKey(principal, scope));
    if (userId !== undefined && !rights.peek(subjectKey(scope, userId))) return undefined;
    return held && { scope, rights: held };
  }

  return {
    peek,

    resolve(principal, requested) {
      const scopeAndRights = peek(principal, requested);
      if (scopeAndRights !== undefined) return scopeAndRights;
      return (async () => {
        const scope = await scopes.get(scopeKey(requested), () => loadScope(pool, requested));
        if (!scope || !isWithinPin(principal, scope)) return null;
        return { scope, rights: await rightsOf(principal, scope) };
      })();
    },

    async resolveAsOwner(principal, requested) {
      const scope = await scopes.get(scopeKey(requested), () => loadScope(pool, requested));
      // If a customer does not admit operators, an operator who acts for the project's owner is not admitted either.
      if (!scope?.grant || (principal.impersonator && !scope.supportAccess)) return null;
      const project = scope.grant.projectScope;
      const own = await scopes.get(scopeKey(project), () => loadScope(pool, project));
      if (!own || !isWithinPin(principal, own)) return null;
      const { grants, subject, mustConnect } = await rightsOf(principal, own);
      const held = questionsOnly(grants);
      if (!held.management.has('Authorization')) return null;
      const asking: Grants = { membership: 'active', user: null, scope: {}, held };
      // The only other fact about the caller that counts is whether they may enter without their organization's
      // provider.
      const asked = { ...unknownSubject, memberRoleId: subject.memberRoleId };
      const rights = { grants: asking, subject: asked, keyRoleId: null, asOwner: true } as const;
      return { scope, rights: mustConnect ? { ...rights, mustConnect } : rights };
    },

    scopeOf: async (requested, db) => (await loadScope(db ?? pool, requested))?.value ?? null,

    rightsOfUser(scope, userId, tx) {
      if (tx) return loadRightsOfUser(scope, userId, tx).then(({ value }) => value);
      const key = subjectKey(scope, userId);
      const cached = rights.peek(key);
      if (cached) return cached;
      const load = async () => {
        const loaded = await loadRightsOfUser(scope, userId);
        // Unknown users are not cached, because a caller can send any number of ids.
        return loaded.value.subject === unknownSubject ? null : loaded;
      };
      return rights.get(key, load).then((callerRights) => callerRights ?? inactive(unknownSubject));
    },
  };
}

const scopeKey = ({ tenant, id }: ScopeInput): string => `${canonicalTenant(tenant)} ${id}`;

/** Whether the scope is the projectUser scope of another user. */
const isOfOtherUser = ({ userId }: ResolvedScope, subjectId: string): boolean =>
  userId !== null && userId !== subjectId;

const topicsOf = (principal: Principal, scope: ResolvedScope): string[] => [
  ...scopeTopics(scope),
  `user:${principal.userId}`,
  ...(principal.type === 'session' ? [] : [`credential:${principal.credentialId}`]),
];

/**
 * The cache key of rights contains everything that they depend on: the type of token and its restrictions, the user,
 * and the scope. Sessions of one user share an entry; keys and apps never do.
 */
const rightsKey = (principal: Principal, scope: ResolvedScope): string =>
  principal.type === 'session'
    ? `session ${principal.userId} ${scope.tenant} ${scope.id}`
    : `${principal.type} ${principal.credentialId} ${principal.userId} ${scope.tenant} ${scope.id} ${consentKey(principal)}`;

const subjectKey = ({ tenant, id }: ResolvedScope, userId: string) => `subject ${userId} ${tenant} ${id}`;
const consentKey = ({ consented }: Principal) => JSON.stringify(consented && [...consented].sort());

async function keyRole(
  db: Executor,
  keyId: string,
): Promise<{ roleId: string | null; scopeTenant: string } | null> {
  const rows = await preparedRowsOf<{ roleId: string | null; scopeTenant: string }>(
    db,
    sql`select role_id as "roleId", scope_tenant as "scopeTenant" from api_keys where id = ${keyId}::uuid`,
  );
  return rows[0] ?? null;
}
