import type { Command } from '../command.ts';
import { notSignedIn } from '../fault.ts';
import type { Run } from '../run.ts';

export const logout: Command = {
  path: ['logout'],
  summary: 'End the session at the service, and forget the sign-in here',
  options: { '--all': 'of all profiles' },
  async run(run, _args, options) {
    const { settings, terminal } = run;
    const stored = Object.keys(await settings.profiles.credentials());
    const current = await settings.profileName();
    const profiles = options.flag('all') ? stored : stored.filter((name) => name === current);
    if (profiles.length === 0) throw notSignedIn();
    for (const profile of profiles) {
      const ended = await endSignIn(run, profile);
      terminal.note(
        ended ? `Signed out of the profile ${profile}.` : `Forgot the sign-in of the profile ${profile}.`,
      );
    }
  },
};

/**
 * Ends the session and deletes the stored sign-in, even if the service can't be reached.
 * @returns whether the service ended a session
 */
async function endSignIn({ settings, connection, terminal }: Run, profile: string): Promise<boolean> {
  return settings.profiles.changeCredential(profile, async (stored) => {
    if (stored?.kind !== 'session') return { stored: undefined, result: false };
    const { api } = await connection.public(stored.url);
    const result = await api.logout({ refreshToken: stored.refreshToken }).then(
      () => true,
      (error: unknown) => {
        terminal.say(`The service did not end the session: ${(error as Error).message} It ends by itself.`);
        return false;
      },
    );
    return { stored: undefined, result };
  });
}
