import type { users } from '../../schema/people/user.ts';
import type { OpenidScope } from '../../schema/apps/openid-scope.ts';

type ClaimedUser = Pick<
  typeof users.$inferSelect,
  'name' | 'email' | 'emailVerified' | 'pictureUrl' | 'locale' | 'updatedAt'
>;

/**
 * The claims that the scopes `profile` and `email` give an app about a user (openid §2), in user info and in id_tokens.
 */
export function userClaims(user: ClaimedUser, granted: readonly OpenidScope[]) {
  const { name, email, emailVerified, pictureUrl, locale, updatedAt } = user;
  return {
    ...(granted.includes('profile') && {
      name,
      ...(pictureUrl === null ? {} : { picture: pictureUrl }),
      ...(locale === null ? {} : { locale }),
      updated_at: Math.floor(updatedAt.getTime() / 1000),
    }),
    ...(granted.includes('email') && email !== null ? { email, email_verified: emailVerified } : {}),
  };
}
