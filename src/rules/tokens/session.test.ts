import { expect, it } from 'vitest';
import { displacedBy, MAX_SESSIONS, type Session, seal, unseal } from './session.ts';

const session = (n: number, token: string, root: string): Session => ({
  hash: `${n}`,
  isLink: false,
  token: { id: token, hash: '', root },
  created_on: `2026-11-27T00:${n}`,
  expires_on: '2026-11-28',
  from: '',
});

it('above the total number of sessions, the oldest one of the tree with the most sessions is removed', () => {
  const small = Array.from({ length: 10 }, (_, n) => session(n, `small ${n}`, 'small'));
  const large = Array.from({ length: MAX_SESSIONS - 10 }, (_, n) => session(10 + n, `large ${n}`, 'large'));
  const stored = [...small, ...large];
  expect(displacedBy(session(5_000, 'new', 'new'), stored).map(({ hash }) => hash)).toEqual(['10']);
  expect(displacedBy({ ...session(5_000, 'new', 'new'), isLink: true }, stored)).toEqual([]);
});

it('a sealed text is readable only with its secret', () => {
  const sealed = seal('secret', 'fgk_é');
  expect(sealed).not.toContain('fgk');
  expect(unseal('secret', sealed)).toBe('fgk_é');
  expect(() => unseal('other', sealed)).toThrow();
});
