import { resolve } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { inCi, stories } from './stories.ts';

/** Slow files, by path fragment. They start first: if one ran last, the other cores would be idle meanwhile. */
const longest: readonly string[] = [
  'faults/kill.process',
  'machine/installation.process',
  'test/samples.process',
  'contract/guards',
  'contract/tenancy',
  'security/worst-values',
  'node/test/retries',
  'decisions/decisions',
  'contract/idempotency',
  'commands/sign-in',
  'organization-invitations/organization-invitations',
  'contract/openapi',
  'policy-snapshot/changes',
  'local/local-faults',
  'journeys/purge',
];

const rank = ({ moduleId }: TestSpecification): number => {
  const index = longest.findIndex((path) => moduleId.includes(path));
  return index === -1 ? longest.length : index;
};

/** Starts the slowest test files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** Runs only the tagged tests of stories. It is set per file, because a filter in the configuration would apply to all. */
export class TaggedStories extends LongestFirst {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const paths = new Set(stories().map((path) => resolve(path)));
    for (const file of files) if (paths.has(file.moduleId)) file.testTagsFilter = inCi;
    return super.sort(files);
  }
}
