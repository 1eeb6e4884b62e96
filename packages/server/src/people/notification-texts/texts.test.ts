import { describe, expect, it } from 'vitest';
import { languages } from '../../languages.ts';
import { OperatorAct } from '../../schema/operators/operator.ts';
import { textOf, type NotifiedType, type TextParams } from './texts.ts';

/** For each type, one set of parameters per text. Capitals (for times the years) mark the values in every language. */
type Samples = { readonly [T in NotifiedType]: readonly TextParams[T][] };

const time = new Date('2026-03-04T05:06:00Z');
const later = new Date('2027-08-09T10:11:00Z');
const organization = 'ORGANIZATION';
const project = 'PROJECT';
const receiver = 'RECEIVER';
const reason = 'REASON';

const samples: Samples = {
  invitation_received: [{ organization, role: 'ROLE', inviter: 'INVITER' }],
  member_joined: [{ organization, role: 'ROLE', person: 'PERSON' }],
  role_changed: [
    { place: 'PLACE', roles: 'ROLES' },
    { place: 'PLACE', roles: '' },
  ],
  removed_from_organization: [{ organization }],
  api_key_created: [
    { project, key: 'KEY' },
    { project, key: '' },
  ],
  api_key_expiring: [
    { project, organization: null, key: 'KEY', expiresAt: later },
    { project: null, organization, key: 'KEY', expiresAt: later },
    { project: null, organization: null, key: 'KEY', expiresAt: later },
    { project: null, organization: null, key: '', expiresAt: later },
  ],
  project_grant_changed: (['granted', 'changed', 'suspended', 'resumed', 'revoked'] as const).map(
    (change) => ({ organization, project, change }),
  ),
  connection_bypassed: [{ organization, owner: 'OWNER' }],
  domain_lapsed: [{ organization, domain: 'DOMAIN' }],
  webhook_failing: [{ project, receiver, since: later }],
  webhook_disabled: [
    { project, receiver, gone: true },
    { project, receiver, gone: false },
  ],
  new_sign_in: [{ address: 'ADDRESS', device: 'DEVICE' }],
  password_changed: [{}],
  sign_in_methods_changed: (['added', 'verified', 'removed'] as const).flatMap((change) =>
    (['email', 'github', 'oidc', 'passkey'] as const).map((provider) => ({
      change,
      provider,
      label: 'LABEL',
    })),
  ),
  mfa_changed: [{}],
  session_reuse: [{}],
  operator_action: OperatorAct.options.map((act) => ({ act, subject: 'SUBJECT', reason })),
  impersonated: [
    { organization, person: 'PERSON', reason },
    { organization: '', person: 'PERSON', reason },
  ],
};

const types = Object.keys(samples) as NotifiedType[];
const textsOf = (language: (typeof languages)[number], type: NotifiedType) =>
  (samples[type] as readonly never[]).map((params) => {
    const { title, body } = textOf(language, type, params, time);
    return `${title}\n${body}`;
  });
const valuesIn = (text: string): string[] => [...new Set(text.match(/[A-Z]{3,}|20\d\d/g) ?? [])].sort();

describe.each(types)('the texts of %s', (type) => {
  const english = textsOf('en', type);

  it('differ from case to case', () => {
    expect(new Set(english).size).toBe(english.length);
  });

  it.each(languages.slice(1))('are translated, and name the same things (%s)', (language) => {
    for (const [at, text] of textsOf(language, type).entries()) {
      expect(english).not.toContain(text);
      expect(valuesIn(text)).toEqual(valuesIn(english[at] ?? ''));
      for (const missing of ['undefined', 'null', '[object', '«»', '“”', '„“', '« »'])
        expect(text).not.toContain(missing);
      // An omitted value leaves no double space.
      expect(text).not.toMatch(/ {2}/);
    }
  });
});
