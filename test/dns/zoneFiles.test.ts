// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of $GENERATE
/** Zone files with $INCLUDE and $GENERATE, compared with BIND. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { nameToText, nameToWire } from '../../src/dns/protocol/index.ts';
import { ZoneFile } from '../../src/dns/zones/index.ts';
import { atEnd } from './support/atEnd.ts';

const COMPILER = ['/usr/bin/named-compilezone', '/usr/sbin/named-compilezone'].find(
  (path) => spawnSync(path, ['-v']).status === 0,
);
const noCompiler =
  COMPILER === undefined ? 'named-compilezone is not installed: apt-get install bind9-utils' : '';
const ZONE = 'example.test';
const HEAD = '$TTL 3600\n@ SOA ns h 1 3600 600 86400 60\n@ NS ns.elsewhere.test.\n';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-zone-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
});

/** Returns owner, TTL and type of each record as BIND reads it, or undefined if BIND rejects the file. */
function byBind(): string[] | undefined {
  const checks = ['-i', 'none', '-k', 'ignore', '-n', 'ignore', '-r', 'ignore', '-m', 'ignore'];
  const { status, stdout } = spawnSync(
    COMPILER ?? '',
    [...checks, '-s', 'full', '-o', '-', ZONE, join(folder, 'zone')],
    { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  if (status !== 0) return undefined;
  const records = stdout.split('\n').flatMap((line) => {
    const [, owner, ttl, type] = /^(\S+)\s+(\d+)\s+IN\s+(\S+)/.exec(line) ?? [];
    return owner === undefined ? [] : [`${nameToText(nameToWire(owner))} ${ttl} ${type}`];
  });
  return [...new Set(records)].sort();
}

async function byFloodgate(): Promise<string[] | undefined> {
  const records = new Set<string>();
  try {
    for await (const { owner, ttlSeconds, type } of new ZoneFile(join(folder, 'zone'), ZONE).records()) {
      const name = nameToText(owner);
      // BIND ignores records outside of the zone.
      if (name === ZONE || name.endsWith(`.${ZONE}`)) records.add(`${name} ${ttlSeconds} ${type}`);
    }
  } catch {
    return undefined;
  }
  return [...records].sort();
}

const modifiers = fc.oneof(
  fc.constantFrom(
    '',
    '{0}',
    '{5}',
    '{-3,2}',
    '{0,3,d}',
    '{16,4,x}',
    '{1,1,X}',
    '{8,5,o}',
    '{0,7,n}',
    '{9,1,N}',
  ),
  fc
    .tuple(fc.integer({ min: -20, max: 300 }), fc.nat(9), fc.constantFrom('d', 'o', 'x', 'X'))
    .map(([offset, width, base]) => `{${offset},${width},${base}}`),
);
const range = fc
  .tuple(fc.integer({ min: 20, max: 400 }), fc.nat(40), fc.integer({ min: 1, max: 9 }))
  .map(([start, length, step]) => `${start}-${start + length}${step === 1 ? '' : `/${step}`}`);

describe('named-compilezone and the guard', () => {
  it('produce the same names, TTLs and types for $GENERATE', async (ctx) => {
    if (noCompiler) return ctx.skip(noCompiler);
    const line = fc
      .tuple(
        range,
        fc.array(fc.tuple(fc.constantFrom('', 'h', '-', '\\$', '$$', '.x'), modifiers), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.constantFrom('', '60 ', 'IN ', '1h IN '),
        fc.constantFrom(
          'A 192.0.2.1',
          'AAAA 2001:db8::$',
          'CNAME c$',
          'PTR p$',
          'MX "10 mx$"',
          'TXT "a $ b"',
          'NS ns$',
        ),
      )
      .map(([numbers, parts, fields, data]) => {
        // BIND 9.18 adds the offset of the previous $ to a $ without modifiers, against its documentation.
        const owner = parts
          .map(([text, modifier], at) => `${text}$${modifier || (at > 0 ? '{0}' : '')}`)
          .join('a');
        return `$GENERATE ${numbers} a${owner} ${fields}${data}`;
      });
    // An origin for each line, because BIND rejects a name with CNAME and other types.
    const lines = fc.sample(line, 300).map((text, n) => `$ORIGIN o${n}.${ZONE}.\n${text}`);
    writeFileSync(join(folder, 'zone'), `${HEAD}${lines.join('\n')}\n`);
    const expected = byBind();
    expect(expected?.length).toBeGreaterThan(300);
    expect(await byFloodgate()).toEqual(expected);
  });

  it('accept and reject the same $GENERATE lines', async (ctx) => {
    if (noCompiler) return ctx.skip(noCompiler);
    const lines = [
      '1-2 h$ A 192.0.2.1',
      '1-2/1 h$ A 192.0.2.1',
      '1-2/0 h$ A 192.0.2.1',
      '2-1 h$ A 192.0.2.1',
      '1-2/-1 h$ A 192.0.2.1',
      'a-2 h$ A 192.0.2.1',
      '1 h$ A 192.0.2.1',
      '1-2 h${0,3,z} A 192.0.2.1',
      '1-2 h${x} A 192.0.2.1',
      '1-2 h$ ANY 192.0.2.1',
      '1-2 h$ OPT x',
      '1-2 h$',
      '1-2 h$ A',
      '1-2 h${0,64} A 192.0.2.1',
      '1-2 @ TXT $',
      '1-2 *.h$ A 192.0.2.1',
    ];
    const outcomes: string[] = [];
    for (const line of lines) {
      writeFileSync(join(folder, 'zone'), `${HEAD}$GENERATE ${line}\n`);
      const [theirs, ours] = [byBind(), await byFloodgate()];
      if ((theirs === undefined) !== (ours === undefined))
        outcomes.push(`${line}: BIND ${theirs === undefined ? 'rejects' : 'accepts'} it`);
      else expect(ours).toEqual(theirs);
    }
    expect(outcomes).toEqual([]);
  });

  it('read the same records for $INCLUDE, with origin, owner and TTL', async (ctx) => {
    if (noCompiler) return ctx.skip(noCompiler);
    const files = {
      zone: `${HEAD}www A 192.0.2.1\n$INCLUDE one\n AAAA 2001:db8::1\n$INCLUDE "two" sub\n MX 10 mail\nmail A 192.0.2.2\n`,
      one: ' TXT inherited\n$ORIGIN deep\nh1 A 192.0.2.3\n TXT second\n',
      two: '@ A 192.0.2.4\n$INCLUDE three three\nh2 A 192.0.2.5\n$TTL 90\nh3 A 192.0.2.6\n',
      three: '$GENERATE 1-3 g$ A 192.0.2.$\n$TTL 77\nh4 A 192.0.2.7\n',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const expected = byBind();
    expect(expected).toContain(`h3.sub.${ZONE} 90 A`);
    expect(await byFloodgate()).toEqual(expected);
  });
});
