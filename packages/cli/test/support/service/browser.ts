import type { Person } from '../../../../server/test/support/app/client.ts';

/** A browser without JavaScript. */
export function newBrowser(service: string) {
  const cookies = new Map<string, string>();
  const send = async (path: string, form?: Record<string, string>): Promise<Response> => {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
    const body = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
    const origin = form ? { origin: service } : {};
    const url = new URL(path, service);
    const answer = await fetch(url, { redirect: 'manual', headers: { ...headers, ...origin }, ...body });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return answer;
  };
  return {
    send,
    /** Signs in with a password and approves or denies the request. @returns the redirect address */
    async decide({ email, password }: Person, decision: 'approve' | 'deny'): Promise<string> {
      const asked = await send('/api/auth/flow/password', { email, password });
      const page = await (await send(asked.headers.get('location') ?? '')).text();
      const formToken = /name="formToken" value="([^"]+)"/.exec(page)?.[1] ?? '';
      const answer = await send('/api/auth/cli/confirm', { decision, formToken });
      return answer.headers.get('location') ?? '';
    },
  };
}
