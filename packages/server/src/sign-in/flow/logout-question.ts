/** The app that began a logout, and its home page, which people can go back to. */
export interface WayBack {
  readonly app: string;
  readonly homepageUrl: string;
}

/** The question of the page that asks a user whether to sign out. */
export interface LogoutQuestion {
  /** The project of the app that asks; null if unknown, so that the browser sign-ins at all projects end. */
  readonly projectId: string | null;
  /** The name of the app that asks; null if unknown. */
  readonly app: string | null;
  /** The address that the browser goes to afterwards. */
  readonly redirect: string;
  /**
   * The link on the final page, if that is a page of this service. Absent if the browser returns to the app, or the app
   * has no home page.
   */
  readonly wayBack?: WayBack;
}
