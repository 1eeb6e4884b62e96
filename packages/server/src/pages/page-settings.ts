/** The facts about the installation that pages need. */
export interface PageSettings {
  readonly https: boolean;
  /** Which pages the service serves; pages link only to these. */
  readonly serves: {
    readonly explorer: boolean;
    readonly apiDocs: boolean;
    readonly docs: boolean;
    readonly console: boolean;
  };
  /** Where people continue: the frontend, otherwise the console, otherwise the account pages. */
  readonly home: string;
  readonly passwordMinLength: number;
}
