import { expect, it } from 'vitest';
import { ConditionDebouncer } from './conditionDebouncer.ts';

const HOLD_MS = 100;

function held(...openBefore: string[]) {
  const open = new Set(openBefore);
  const reported: string[] = [];
  const conditions = new ConditionDebouncer(
    { holdMs: HOLD_MS },
    {
      openKeys: (prefix) => [...open].filter((key) => key.startsWith(prefix)),
      begin({ key }) {
        open.add(key);
        reported.push(`begin ${key}`);
      },
      end(key) {
        open.delete(key);
        reported.push(`end ${key}`);
      },
    },
  );
  const look = (nowMs: number, ...keys: string[]): string[] => {
    const holding = keys.map((key) => ({ key, kind: 'k', subject: 's', text: 't' }));
    conditions.observe('n/', holding, nowMs);
    return reported.splice(0);
  };
  return { look, conditions };
}

it('a condition fires after it was true for holdMs and resolves after it was false for holdMs', () => {
  const { look } = held();
  expect(look(0, 'n/a')).toEqual([]);
  expect(look(99, 'n/a')).toEqual([]);
  expect(look(100, 'n/a', 'n/b')).toEqual(['begin n/a']);
  expect(look(150, 'n/b')).toEqual([]);
  expect(look(200, 'n/b')).toEqual(['begin n/b']);
  expect(look(250, 'n/b')).toEqual(['end n/a']);
});

it('a flapping condition neither fires nor resolves', () => {
  const { look } = held();
  for (let ms = 0; ms < 2_000; ms += 50) expect(look(ms, ...(ms % 100 === 0 ? ['n/a'] : []))).toEqual([]);
  look(2_000, 'n/a');
  expect(look(2_100, 'n/a')).toEqual(['begin n/a']);
  for (let ms = 2_150; ms < 4_000; ms += 50) expect(look(ms, ...(ms % 100 === 0 ? ['n/a'] : []))).toEqual([]);
});

it('conditions that fired before a restart resolve, and other prefixes are not affected', () => {
  const { look } = held('n/a', 'n/b', 'attack/1');
  expect(look(0, 'n/b')).toEqual([]);
  expect(look(100, 'n/b')).toEqual(['end n/a']);
});
