/** The oldest version of Node that runs the service. Keep it equal to `engines` in package.json. */
const [MAJOR, MINOR] = [20, 19] as const;

/** Returns why this Node cannot run the service; null if it can. */
export function oldNodeFault(version: string): string | null {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major > MAJOR || (major === MAJOR && minor >= MINOR)
    ? null
    : `Doorward needs Node ${MAJOR}.${MINOR} or newer, but this is ${version}. Install a newer one: https://nodejs.org`;
}
