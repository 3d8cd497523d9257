import { describe, expect, it } from 'vitest';
import { Random } from '../../../test/support/random.ts';
import { isBadCall, parseBody } from './request.ts';
import { scanUnsupported } from './scan.ts';

const SUPPORTED = 'eth_call';
const PADDING = ' '.repeat(2_000);
const supports = (method: string): boolean => method === SUPPORTED;
const scan = (body: string) => scanUnsupported(Buffer.from(body, 'latin1'), supports);

const STRINGS = [
  '"eth_call"',
  '"eth_foo"',
  '"eth_\\u0063all"',
  '"a\\"method\\":"',
  '"\xff"',
  '"\xc3\xa9"',
  '""',
  '"2.0"',
];
const KEYS = [
  '"method"',
  '"method"',
  '"id"',
  '"jsonrpc"',
  '"params"',
  '"m\\u0065thod"',
  '"metho\\u0064"',
  '"i\\u0064"',
  '"x"',
];

/** A body as a client, or somebody who means harm, may write it: not always JSON. */
function anyBody(random: Random): string {
  const space = (): string =>
    random.chance(0.8) ? '' : random.pick([' ', '\n', '\t', '\r\n', '\v', '\ufeff']);
  const value = (depth: number): string => {
    if (depth > 0 && random.chance(0.3)) return object(depth - 1);
    if (depth > 0 && random.chance(0.2)) return `[${list(() => value(depth - 1))}]`;
    return random.chance(0.6)
      ? random.pick(STRINGS)
      : random.pick(['1', 'null', '-0', '1e3', '01', '9007199254740993', 'tru']);
  };
  const list = (item: () => string): string =>
    Array.from({ length: random.below(3) }, () => space() + item() + space()).join(
      random.chance(0.95) ? ',' : ';',
    );
  const object = (depth: number): string =>
    `{${list(() => `${random.pick(KEYS)}${space()}:${space()}${value(depth)}`)}${random.chance(0.5) ? '' : `,"id":${random.pick(['7', '"x"'])}`}}`;
  const usual = (): string => {
    const members = [
      '"jsonrpc":"2.0"',
      `"method":${random.pick(['"eth_foo"', '"eth_foo"', '"eth_call"'])}`,
      `"params":[${list(() => value(2))}${PADDING}]`,
      `"id":${random.pick(['1', '"a"', 'null', '-5'])}`,
    ].filter(() => random.chance(0.95));
    if (random.chance(0.3))
      members.splice(random.below(members.length + 1), 0, `${random.pick(KEYS)}:${value(1)}`);
    if (random.chance(0.3)) members.reverse();
    if (random.chance(0.3)) members.sort();
    return `${space()}{${space()}${members.join(',')}${space()}}${space()}`;
  };
  const body = random.chance(0.8) ? usual() : object(3) + PADDING;
  return random.chance(0.1) ? `[${body}]` : body;
}

describe('the scan', () => {
  it('never refuses what the parser would admit, and answers the id that the parser reads', () => {
    const random = new Random(20_261_122);
    let refused = 0;
    for (let i = 0; i < 40_000; i++) {
      const body = Buffer.from(anyBody(random), random.chance(0.5) ? 'latin1' : 'utf8');
      const found = scanUnsupported(body, supports);
      if (found === undefined) continue;
      refused++;
      const parsed = parsedOrNot(body);
      if (parsed === undefined) continue;
      if (parsed.kind !== 'single') throw new Error(`a batch was refused: ${body}`);
      if (isBadCall(parsed.call)) continue;
      expect(found.method, String(body)).toBe(parsed.call.method);
      expect(parsed.call.method, String(body)).not.toBe(SUPPORTED);
      expect(found.id, String(body)).toBe(parsed.call.id);
    }
    expect(refused).toBeGreaterThan(2_000);
  });

  it.each([
    ['the usual order', `{"jsonrpc":"2.0","method":"eth_foo","params":[${PADDING}],"id":1}`, 1],
    ['the id in front', `{"jsonrpc":"2.0","id":"a","method":"eth_foo","params":[${PADDING}]}`, 'a'],
    [
      'the version at the end',
      ` { "method" : "eth_foo" , "params":[${PADDING}],"id" : null , "jsonrpc":"2.0" } `,
      null,
    ],
  ])('refuses a large body with %s', (_name, body, id) => {
    expect(scan(body)).toEqual({ id, method: 'eth_foo' });
  });

  it.each([
    ['is small', '{"jsonrpc":"2.0","id":1,"method":"eth_foo"}'],
    ['names its method again', `{"id":1,"method":"eth_foo","params":[${PADDING}],"method":"eth_call"}`],
    [
      'spells it with an escape',
      `{"id":1,"method":"eth_foo","params":[${PADDING}],"m\\u0065thod":"eth_call"}`,
    ],
    ['has an id twice', `{"id":1,"method":"eth_foo","params":[${PADDING}],"id":2}`],
    ['is a batch', `[{"id":1,"method":"eth_foo","params":[${PADDING}]}]`],
    ['wants no answer', `{"jsonrpc":"2.0","method":"eth_foo","params":[${PADDING}]}`],
    ['asks for what is supported', `{"jsonrpc":"2.0","method":"eth_call","params":[${PADDING}],"id":1}`],
  ])('leaves a body to the parser that %s', (_name, body) => {
    expect(scan(body)).toBeUndefined();
  });
});

function parsedOrNot(body: Buffer): ReturnType<typeof parseBody> | undefined {
  try {
    return parseBody(body);
  } catch {
    return undefined;
  }
}
