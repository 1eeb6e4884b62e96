/** The question of the page that asks a user whether to sign out. */
export interface LogoutQuestion {
  /** The sessions of the browser that end. */
  readonly sessionIds: readonly string[];
  /** The name of the app that asks; null: unknown. */
  readonly app: string | null;
  /** The address at the end. */
  readonly redirect: string;
}
