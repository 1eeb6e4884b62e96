/** What the pages need to know of the installation. */
export interface PageSettings {
  readonly https: boolean;
  /** Whether the service serves these pages; pages link only to what exists. */
  readonly serves: {
    readonly explorer: boolean;
    readonly apiDocs: boolean;
    readonly docs: boolean;
    readonly console: boolean;
  };
  /** Where people go on: the frontend, else the console, else the account pages. */
  readonly home: string;
  readonly passwordMinLength: number;
}
