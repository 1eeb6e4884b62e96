/** The app that began a logout, and its page to which people go back. */
export interface WayBack {
  readonly app: string;
  readonly homepageUrl: string;
}

/** The question of the page that asks a user whether to sign out. */
export interface LogoutQuestion {
  /** The project of the app that asks; null: unknown, so the sign-ins of this browser at all projects end. */
  readonly projectId: string | null;
  /** The name of the app that asks; null: unknown. */
  readonly app: string | null;
  /** Where the browser goes afterwards. */
  readonly redirect: string;
  /** The link of the page at the end, if that is a page of this service; absent: the browser returns to the app, or it has no home page. */
  readonly wayBack?: WayBack;
}
