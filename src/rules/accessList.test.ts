import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AccessEntry, checkEntryPatch, checkNewEntry } from './accessList.ts';
import { InvalidRule } from './invalidRule.ts';

const STAMPS = { created_on: '', modified_on: '' };

function faultsOf(check: () => unknown): string[] {
  try {
    check();
  } catch (error) {
    if (error instanceof InvalidRule) return error.faults.map(({ pointer }) => pointer ?? '');
    throw error;
  }
  return [];
}

it.each([
  [{ prefix: '192.0.2.0/24' }, { prefix: '192.0.2.0/24', comment: '', enabled: true }],
  [
    { prefix: '2001:db8::/32', comment: 'a partner', enabled: false },
    { prefix: '2001:db8::/32', comment: 'a partner', enabled: false },
  ],
  [{ name: 'Example.test.' }, { name: 'Example.test.', comment: '', enabled: true }],
])('checkNewEntry accepts %j', (body, entry) => expect(checkNewEntry(body)).toEqual(entry));

it.each([
  [{}, ['/prefix']],
  [{ prefix: '192.0.2.7/24' }, ['/prefix']],
  [{ prefix: '192.0.2.0/33' }, ['/prefix']],
  [{ prefix: '"}) os.execute("reboot")' }, ['/prefix']],
  [{ prefix: 1, comment: 2, enabled: 'yes' }, ['/prefix', '/comment', '/enabled']],
  [{ prefix: '192.0.2.0/24', name: 'example.test' }, ['/name']],
  [{ name: '' }, ['/name']],
  [{ name: '.' }, ['/name']],
  [{ name: 'a..b' }, ['/name']],
  [{ name: 'with space.test' }, ['/name']],
  [{ name: `${'a'.repeat(64)}.test` }, ['/name']],
  [{ name: `${'a'.repeat(60)}.`.repeat(5) }, ['/name']],
  [{ name: 'example.test', comment: 'two\nlines' }, ['/comment']],
  [{ name: 'example.test', why: 'so' }, ['/why']],
  [[], ['']],
])('checkNewEntry rejects %j with a pointer to each fault', (body, pointers) => {
  expect(faultsOf(() => checkNewEntry(body))).toEqual(pointers);
});

it('checkNewEntry describes the allowed names in words', () => {
  expect(() => checkNewEntry({ name: '*.example.test' })).toThrow(
    'name must be a domain name such as example.com: labels of letters, digits, - and _, at most 253 characters; got "*.example.test"',
  );
});

it('checkNewEntry does not call the name an unknown field if the body also has a prefix', () => {
  expect(() => checkNewEntry({ prefix: '192.0.2.7', name: 'example.test' })).toThrow(
    'name cannot be combined with prefix: create one entry for each',
  );
});

it('checkEntryPatch returns only changed settings, and rejects a new prefix', () => {
  const entry: AccessEntry = { id: '', prefix: '192.0.2.7', comment: 'a', enabled: true, ...STAMPS };
  expect(checkEntryPatch(entry, { comment: 'a', enabled: false })).toEqual({ enabled: false });
  expect(checkEntryPatch(entry, {})).toEqual({});
  expect(faultsOf(() => checkEntryPatch(entry, { prefix: '0.0.0.0/0' }))).toEqual(['/prefix']);
  expect(faultsOf(() => checkEntryPatch(entry, { prefix: '192.0.2.7', name: 'a.test' }))).toEqual(['/name']);
});

it.each([{ prefix: '2001:DB8::/32' }, { name: 'Example.test.' }])(
  'checkEntryPatch accepts a whole entry with %j, and rejects other values of its fixed members',
  (subject) => {
    const id = '31c70c65-9f81-4669-94ed-1e1e041e7b06';
    const created_on = '2026-11-20T22:10:38.762500+00:00';
    const modified_on = '2026-11-21T22:10:38.762500+00:00';
    const entry: AccessEntry = { id, ...subject, comment: 'a', enabled: true, created_on, modified_on };
    expect(checkEntryPatch(entry, entry)).toEqual({});
    const rewritten = { ...entry, modified_on: '2026-11-21T22:10:38.7625Z', enabled: false };
    expect(checkEntryPatch(entry, rewritten)).toEqual({ enabled: false });
    const others = { ...entry, id: 'x', prefix: 1, name: null, created_on: modified_on, modified_on: '' };
    const pointers = ['/id', '/prefix', '/name', '/created_on', '/modified_on'];
    expect(faultsOf(() => checkEntryPatch(entry, others))).toEqual(pointers);
  },
);

it('checkNewEntry accepts any JSON or throws InvalidRule', () => {
  const value = fc.oneof(fc.jsonValue(), fc.string());
  const body = fc.oneof(value, fc.record({ prefix: value }), fc.record({ name: value, comment: value }));
  fc.assert(fc.property(body, (one) => faultsOf(() => checkNewEntry(one)).length >= 0));
});
