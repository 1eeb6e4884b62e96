import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idOf, installation, isProject, isSameScope, keyOf, ownerOf, scopeOf, tenants } from './scope.ts';

const a = '018f0000-0000-7000-8000-00000000000a';
const b = '018f0000-0000-7000-8000-00000000000b';

describe('scopeOf', () => {
  it.each([
    ['account', a],
    ['organization', a],
    ['accountProject', `${a}:${b}`],
    ['organizationProject', `${a}:${b}`],
    ['installation', installation.id],
  ])('reads the address of a scope: %s %s', (tenant, id) => {
    expect(scopeOf(tenant, id)).toEqual({ tenant, id });
  });

  it.each([
    ['account', ''],
    ['account', `${a}:${b}`],
    ['accountProject', a],
    ['accountProject', `${a}:`],
    ['accountProject', `:${b}`],
    ['accountProject', `${a}:${b}:${b}`],
    ['organization', a.toUpperCase()],
    ['organization', `${a}\n`],
    ['organization', ` ${a}`],
    ['organization', a.replaceAll('-', '')],
    ['organization', `../${a}`],
    ['installation', a],
    ['installation', ''],
    ['Account', a],
    ['project', a],
    ['', a],
    ['constructor', a],
    ['__proto__', a],
    ['toString', ''],
  ])('refuses %j with %j', (tenant, id) => {
    expect(scopeOf(tenant, id)).toBeNull();
  });

  it('reads back the key of every scope', () => {
    const id = fc.uuid();
    const project = fc.tuple(id, id).map((ids) => ids.join(':'));
    const scope = fc.oneof(
      fc.record({ tenant: fc.constantFrom('account', 'organization'), id }),
      fc.record({ tenant: fc.constantFrom('accountProject', 'organizationProject'), id: project }),
    );
    fc.assert(
      fc.property(scope, ({ tenant, id }) => {
        const read = scopeOf(tenant, id);
        expect(read).toEqual({ tenant, id });
        if (read) expect(scopeOf(...(keyOf(read).split('/') as [string, string]))).toEqual(read);
      }),
    );
  });
});

describe('a scope', () => {
  it('has an owner exactly if it is a project, and the owner is a valid scope', () => {
    for (const tenant of tenants) {
      const id = tenant.endsWith('Project') ? `${a}:${b}` : a;
      const owner = ownerOf({ tenant, id });
      expect([tenant, owner !== null]).toEqual([tenant, isProject({ tenant, id })]);
      if (owner) expect(scopeOf(owner.tenant, owner.id)).toEqual(owner);
    }
    expect(ownerOf({ tenant: 'organizationProject', id: `${a}:${b}` })).toEqual({
      tenant: 'organization',
      id: a,
    });
    expect(ownerOf({ tenant: 'accountProject', id: `${a}:${b}` })).toEqual({ tenant: 'account', id: a });
  });

  it('is called by the id of the project, not of its owner', () => {
    expect(idOf({ tenant: 'accountProject', id: `${a}:${b}` })).toBe(b);
    expect(idOf({ tenant: 'account', id: a })).toBe(a);
  });

  it('differs from a scope of another tenant with the same id', () => {
    const id = `${a}:${b}`;
    expect(isSameScope({ tenant: 'accountProject', id }, { tenant: 'organizationProject', id })).toBe(false);
    expect(isSameScope({ tenant: 'accountProject', id }, { tenant: 'accountProject', id })).toBe(true);
  });
});
