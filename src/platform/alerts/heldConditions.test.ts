import { expect, it } from 'vitest';
import { HeldConditions } from './heldConditions.ts';

const HOLD_MS = 100;

function held(...openBefore: string[]) {
  const open = new Set(openBefore);
  const told: string[] = [];
  const conditions = new HeldConditions(
    { holdMs: HOLD_MS },
    {
      openKeys: (prefix) => [...open].filter((key) => key.startsWith(prefix)),
      begin({ key }) {
        open.add(key);
        told.push(`begin ${key}`);
      },
      end(key) {
        open.delete(key);
        told.push(`end ${key}`);
      },
    },
  );
  const look = (nowMs: number, ...keys: string[]): string[] => {
    const holding = keys.map((key) => ({ key, kind: 'k', subject: 's', text: 't' }));
    conditions.look('n/', holding, nowMs);
    return told.splice(0);
  };
  return { look, conditions };
}

it('tells what has held for long enough, and that it is over when it has not for as long', () => {
  const { look } = held();
  expect(look(0, 'n/a')).toEqual([]);
  expect(look(99, 'n/a')).toEqual([]);
  expect(look(100, 'n/a', 'n/b')).toEqual(['begin n/a']);
  expect(look(150, 'n/b')).toEqual([]);
  expect(look(200, 'n/b')).toEqual(['begin n/b']);
  expect(look(250, 'n/b')).toEqual(['end n/a']);
});

it('tells nothing of what comes and goes, and of what flaps once', () => {
  const { look } = held();
  for (let ms = 0; ms < 2_000; ms += 50) expect(look(ms, ...(ms % 100 === 0 ? ['n/a'] : []))).toEqual([]);
  look(2_000, 'n/a');
  expect(look(2_100, 'n/a')).toEqual(['begin n/a']);
  for (let ms = 2_150; ms < 4_000; ms += 50) expect(look(ms, ...(ms % 100 === 0 ? ['n/a'] : []))).toEqual([]);
});

it('goes on with what was told before a restart, and leaves what has other keys', () => {
  const { look } = held('n/a', 'n/b', 'attack/1');
  expect(look(0, 'n/b')).toEqual([]);
  expect(look(100, 'n/b')).toEqual(['end n/a']);
});
