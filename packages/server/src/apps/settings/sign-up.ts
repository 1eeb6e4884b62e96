/**
 * Whether people can join the project by an app, and the role that they get: its id, or its key in a policy document.
 */
export interface SignUp {
  readonly allowSignUp: boolean;
  readonly role: string | null;
}

/**
 * Whether a change delegates the role to strangers. A caller who sets the role of sign-up, or turns sign-up on, must
 * hold all of its permissions.
 */
export const delegatesRole = (before: SignUp, after: SignUp): boolean =>
  after.role !== null && (after.role !== before.role || (after.allowSignUp && !before.allowSignUp));
