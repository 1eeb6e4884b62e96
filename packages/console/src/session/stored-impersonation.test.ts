import { describe, expect, it } from 'vitest';
import { impersonationOf } from './stored-impersonation.ts';

const stored = JSON.stringify({ id: 'i', name: 'Ada', until: 2000, operatorId: 'me' });

describe('impersonationOf', () => {
  it('is what this operator started, until it expires', () => {
    expect(impersonationOf('me', stored, 1999)).toMatchObject({ id: 'i', name: 'Ada' });
    expect(impersonationOf('me', stored, 2000)).toBeNull();
    expect(impersonationOf('another', stored, 1999)).toBeNull();
    expect(impersonationOf('me', null, 0)).toBeNull();
  });

  it.each(['', '{', 'null', '5', '[]'])('is none where %j is stored', (text) => {
    expect(impersonationOf('me', text, 0)).toBeNull();
  });
});
