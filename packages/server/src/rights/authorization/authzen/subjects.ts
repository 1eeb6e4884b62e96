import type { Grants } from '@doorward/decision/evaluate';
import { refusalOf } from '../../../access/caller-may.ts';
import { usersByName } from '../../../access/user-names.ts';
import { callerOf, type Principal } from '../../../kernel/context.ts';
import type { Context } from '../../../services.ts';
import type { Scope } from '../../../kernel/scope.ts';
import type { Evaluation } from './request.ts';

/*
 * The subject of a question (authzen §2): the token of the call, with its own restrictions, or another user of the
 * scope. Nothing is looked up for a caller who may not check others, so neither the response nor its timing reveals who
 * exists.
 */

type Subject = Pick<Evaluation['subject'], 'type' | 'id'>;

const USER = 'user';

/** Whether the subject is the token of the call itself. */
const isOwnSubject = ({ type, id }: Subject, principal: Principal): boolean =>
  principal.type === 'ApiKey'
    ? type === 'apiKey' && id.toLowerCase() === principal.credentialId
    : type === USER && id.toLowerCase() === principal.userId;

/** Whether the question is about another user, whose rights have to be loaded. */
export const isOtherUser = (subject: Subject, principal: Principal): boolean =>
  subject.type === USER && !isOwnSubject(subject, principal);

/** Returns the grants to decide with; null for a subject that does not exist or cannot act. */
type GrantsOf = (subject: Subject) => Promise<Grants | null>;

type SubjectContext = Pick<
  Context<{ scope: typeof Scope }>,
  'scope' | 'rights' | 'services' | 'principal' | 'read'
>;

/**
 * Looks up all subjects of a request in one call. The returned function throws FORBIDDEN for a subject that the caller
 * may not ask about.
 */
export async function loadSubjects(ctx: SubjectContext, subjects: readonly Subject[]): Promise<GrantsOf> {
  const { scope, rights, services } = ctx;
  const principal = callerOf(ctx);
  const refusal = refusalOf(rights, 'Authorization:Check');
  const names = subjects.filter((subject) => isOtherUser(subject, principal)).map(({ id }) => id);
  const userIds = refusal || names.length === 0 ? new Map<string, string>() : await usersByName(ctx, names);
  return async (subject) => {
    if (isOwnSubject(subject, principal)) return rights.grants;
    if (subject.type !== USER) return null;
    if (refusal) throw refusal;
    const userId = userIds.get(subject.id);
    return userId === undefined ? null : (await services.resolver.rightsOfUser(scope, userId)).grants;
  };
}
