/**
 * Whether people can sign up to the project through an app, and the role that they get: its id, or its key in a policy
 * document.
 */
export interface SignUp {
  readonly allowSignUp: boolean;
  readonly role: string | null;
}

/**
 * Whether a change delegates the role to people who sign up. A caller who sets the sign-up role, or turns sign-up on,
 * must hold all permissions of the role.
 */
export const delegatesRole = (before: SignUp, after: SignUp): boolean =>
  after.role !== null && (after.role !== before.role || (after.allowSignUp && !before.allowSignUp));
