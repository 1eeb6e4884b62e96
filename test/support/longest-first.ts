import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long, as parts of their paths: a run that ends with one of them leaves the other cores idle. */
const longest: readonly string[] = [];

const rank = ({ moduleId }: TestSpecification): number => {
  const index = longest.findIndex((path) => moduleId.includes(path));
  return index === -1 ? longest.length : index;
};

/** Starts the longest files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
