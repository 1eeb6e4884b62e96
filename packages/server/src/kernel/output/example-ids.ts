/** The account, organization and project in the scopes of examples. */
export interface ExampleIds {
  readonly account: string;
  readonly organization: string;
  /** A project of the organization. */
  readonly project: string;
}

/** Ids that no installation has. Examples use the ids of demo data instead if the process has created any. */
export const madeUpIds: ExampleIds = {
  account: '0190b6f0-0000-7000-8000-000000000001',
  organization: '0190b6f0-0000-7000-8000-000000000002',
  project: '0190b6f0-0000-7000-8000-000000000003',
};
