import { usageFault } from '../fault.ts';
import type { InstalledService, Programs } from './programs.ts';

/** The service that is installed alongside this command. It runs in the same process. */
export const installedService: InstalledService = {
  programs: async () => (await importService<{ programs: Programs }>('programs')).programs,
  async start(env) {
    // The service and its workers read their configuration from process.env.
    Object.assign(process.env, env);
    process.setSourceMapsEnabled(true);
    await importService('main');
  },
};

async function importService<T>(name: 'programs' | 'main'): Promise<T> {
  // The `imports` in package.json resolve this specifier. Each package that contains this code maps it differently.
  const specifier = `#service/${name}`;
  try {
    return (await import(specifier)) as T;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'ERR_PACKAGE_IMPORT_NOT_DEFINED') throw error;
    throw usageFault(
      'The service is not installed beside this command.',
      'the package doorward has both; so have the image, and a checkout after npm run build; doctor --url works on any machine',
    );
  }
}
