import { describe, expect, it } from 'vitest';
import { NodeClient, UpstreamNode } from '../../../nodes/index.ts';
import {
  MAX_REMEMBERED,
  MAX_REMEMBERED_BYTES,
  REMEMBERED_MS,
  type SecondOpinion,
  SecondOpinions,
} from './secondOpinions.ts';

const node = new UpstreamNode('node-2', new NodeClient('http://127.0.0.1:1'));
const foundIn = (bytes: number): SecondOpinion => ({
  node,
  response: { kind: 'result', value: {}, bytes: Buffer.alloc(bytes) },
});

/** Returns opinions with a fake clock, and the number of calls per request. */
function remembering() {
  const clock = { nowMs: 0 };
  const opinions = new SecondOpinions(() => clock.nowMs);
  const asked = new Map<string, number>();
  const get = (request: string, opinion: SecondOpinion = foundIn(2)): Promise<SecondOpinion> =>
    opinions.get(request, async () => {
      asked.set(request, (asked.get(request) ?? 0) + 1);
      return opinion;
    });
  return { clock, opinions, asked, get };
}

describe('second opinions', () => {
  it('are requested at most once per object and second, and shared by all requests in that time', async () => {
    const { clock, asked, get } = remembering();
    const found = foundIn(2);
    for (clock.nowMs = 0; clock.nowMs < REMEMBERED_MS; clock.nowMs += 100)
      expect(await get('a', found)).toBe(found);
    expect(asked.get('a')).toBe(1);
    await get('a');
    await get('b');
    expect([...asked]).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });

  it('are also remembered if the second node lacks the object', async () => {
    const { asked, opinions, get } = remembering();
    const lacks = async (): Promise<SecondOpinion> => undefined;
    expect(await opinions.get('a', lacks)).toBeUndefined();
    expect(await get('a')).toBeUndefined();
    expect(asked.size).toBe(0);
  });

  it('share one request while it runs', async () => {
    const { asked, get } = remembering();
    await Promise.all([get('a'), get('a'), get('a')]);
    expect(asked.get('a')).toBe(1);
  });

  it('use bounded memory and evict the oldest first', async () => {
    const { clock, opinions, asked, get } = remembering();
    for (let i = 0; i < 2 * MAX_REMEMBERED; i++) await get(`random ${i}`);
    expect(opinions.size).toBe(MAX_REMEMBERED);
    const newest = `random ${2 * MAX_REMEMBERED - 1}`;
    await get(newest);
    expect(asked.get(newest)).toBe(1);
    clock.nowMs += REMEMBERED_MS;
    const third = MAX_REMEMBERED_BYTES / 3;
    for (const request of ['a', 'b', 'c', 'd']) await get(request, foundIn(third));
    expect(opinions.size).toBe(3);
    await get('d');
    await get('a');
    expect([asked.get('d'), asked.get('a')]).toEqual([1, 2]);
    await get('larger than all memory', foundIn(MAX_REMEMBERED_BYTES + 1));
    expect(opinions.size).toBe(0);
  });
});
