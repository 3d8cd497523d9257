import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadConfig } from '../../config/index.ts';
import { zoneSourcesOf } from './zoneSources.ts';

const SECRET = Buffer.alloc(32, 9).toString('base64');
const KEY = `hmac-sha256:Transfer.Key:${SECRET}`;
const ZONE = 'example.net=axfr:192.0.2.1:53 key transfer.key.';
let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const sourcesOf = (dns: Record<string, unknown>) =>
  zoneSourcesOf(
    loadConfig({ environment: {}, flags: {}, file: { name: 'f', text: JSON.stringify({ dns }) } }).dns,
  );

it('zoneSourcesOf finds the named key of a zone in values and files, in any letter case', () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-key-'));
  const file = join(folder, 'key');
  writeFileSync(file, `key "transfer.key" {\n\talgorithm hmac-sha256;\n\tsecret "${SECRET}";\n};\n`);
  for (const from of [{ tsigKeys: [KEY] }, { tsigKeyFiles: [file] }])
    expect(sourcesOf({ ...from, zones: [ZONE, 'a.test=axfr:[2001:db8::1]:53', 'b.test=zone'] })).toEqual([
      {
        name: 'example.net',
        transferFrom: { host: '192.0.2.1', port: 53 },
        key: { name: 'transfer.key', algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 9) },
      },
      { name: 'a.test', transferFrom: { host: '2001:db8::1', port: 53 } },
      { name: 'b.test', file: 'zone' },
    ]);
});

it.each([
  [{ zones: [ZONE] }, /neither dns.tsigKeys nor dns.tsigKeyFiles/],
  [{ zones: [ZONE], tsigKeys: [KEY, KEY] }, /dns.tsigKeys: duplicate/],
  [{ zones: [ZONE], tsigKeys: [KEY.replace('sha256', 'md5')] }, /dns.tsigKeys: the algorithm/],
  [
    { zones: [ZONE], tsigKeys: [`${SECRET}`] },
    /dns.tsigKeys in f, item 1, is \(not shown\); allowed: .*hmac-sha256:NAME/,
  ],
  [
    { zones: [ZONE], tsigKeyFiles: ['/nowhere/key'] },
    /dns.tsigKeyFiles: \/nowhere\/key cannot be read: ENOENT/,
  ],
  [{ zones: ['a.test=axfr:192.0.2.1:53 with k'] }, /port is at most/],
])('zoneSourcesOf describes a wrong key without its secret: %j', (dns, wanted) => {
  let reported = '';
  try {
    sourcesOf(dns);
  } catch (error) {
    reported = String(error);
  }
  expect(reported).toMatch(wanted);
  expect(reported).not.toContain(SECRET.slice(0, 10));
});

it('zoneSourcesOf rejects two sources for one zone, in any spelling', () => {
  for (const again of ['b.test=other', 'B.Test.=axfr:192.0.2.1:53', '\\098.test=zone'])
    expect(() => sourcesOf({ zones: ['b.test=zone', 'a.b.test=zone', again] })).toThrow(
      'dns.zones contains the zone b.test twice; allowed: one source for each zone',
    );
});
