import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nameToText } from '../protocol/index.ts';
import { changedInPlace, versionOfFiles, ZoneFile } from './zoneFile.ts';

const ZONE = 'example.test';
let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'floodgate-zone-'));
  folder = join(root, 'zones');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);
function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
}

async function read(zoneFile = new ZoneFile(at('zone'), ZONE)): Promise<string[]> {
  const records: string[] = [];
  for await (const { owner, type, ttlSeconds } of zoneFile.records())
    records.push(`${nameToText(owner)} ${ttlSeconds} ${type}`);
  return records;
}

it('a name contains the octets of a file that is not UTF-8, and the characters of a UTF-8 file', async () => {
  const octets = (text: string): Buffer => Buffer.from(text, 'latin1');
  mkdirSync(folder);
  writeFileSync(
    at('zone'),
    octets('; M\xfcller\n$TTL 60\ncaf\xe9 A 192.0.2.1\n\\\\\xe9\\\xe9 A 192.0.2.2\n$INCLUDE utf8\n'),
  );
  writeFileSync(at('utf8'), 'b\u00fc A 192.0.2.3\n"q\u00fc" A 192.0.2.4\n');
  expect(await read()).toEqual([
    `caf\\233.${ZONE} 60 A`,
    `\\092\\233\\233.${ZONE} 60 A`,
    `b\\195\\188.${ZONE} 60 A`,
    `q\\195\\188.${ZONE} 60 A`,
  ]);
});

describe('$INCLUDE', () => {
  it('inserts the records of a file, with its own origin and owner', async () => {
    write({
      zone:
        '$TTL 60\n@ NS ns\nwww A 192.0.2.1\n$INCLUDE hosts\n  AAAA 2001:db8::1\n' +
        '$INCLUDE "more/hosts" sub ; a comment\nmail A 192.0.2.2\n',
      hosts: '  TXT owner\n$ORIGIN deep.test.\nh1 A 192.0.2.3\n',
      'more/hosts': 'h2 A 192.0.2.4\n@ A 192.0.2.5\n$INCLUDE more/last\nh3 A 192.0.2.6\n',
      'more/last': '$ORIGIN x\n$GENERATE 1-2 g$ A 192.0.2.$\n$TTL 90\n',
    });
    expect(await read()).toEqual([
      `${ZONE} 60 NS`,
      `www.${ZONE} 60 A`,
      `www.${ZONE} 60 TXT`,
      'h1.deep.test 60 A',
      `www.${ZONE} 60 AAAA`,
      `h2.sub.${ZONE} 60 A`,
      `sub.${ZONE} 60 A`,
      `g1.x.sub.${ZONE} 60 A`,
      `g2.x.sub.${ZONE} 60 A`,
      // As in BIND, a TTL set by an included file applies to the following lines too.
      `h3.sub.${ZONE} 90 A`,
      `mail.${ZONE} 90 A`,
    ]);
  });

  it('may include a file twice, by an absolute path and through links inside of the folder', async () => {
    write({ zone: `$INCLUDE link a\n$INCLUDE ${at('hosts')} b\n`, hosts: '@ A 192.0.2.1\n' });
    symlinkSync(at('hosts'), at('link'));
    const linked = join(root, 'linked');
    symlinkSync(at('zone'), linked);
    const expected = [`a.${ZONE} 3600 A`, `b.${ZONE} 3600 A`];
    expect(await read()).toEqual(expected);
    expect(await read(new ZoneFile(linked, ZONE))).toEqual(expected);
  });

  it('rejects files outside of the folder, whatever the path', async () => {
    write({ zone: '', 'in/x': '' });
    writeFileSync(join(root, 'secret'), 'root:secret\n');
    mkdirSync(join(root, 'zones-more'));
    writeFileSync(join(root, 'zones-more', 'x'), 'root:secret\n');
    symlinkSync(join(root, 'secret'), at('file-link'));
    symlinkSync(root, at('folder-link'));
    for (const path of [
      '../secret',
      'in/../../secret',
      join(root, 'secret'),
      'file-link',
      'folder-link/secret',
      '../zones-more/x',
      '/etc/passwd',
    ]) {
      write({ zone: `\n$INCLUDE ${path}\n` });
      const failure = await read().catch((error: unknown) => String(error));
      expect(failure).toContain(`zone file ${at('zone')}, line 2: $INCLUDE ${path}: the file is /`);
      expect(failure).toContain(`only files in the folder of the zone file, ${folder}, are allowed`);
      expect(failure).not.toContain('root:');
    }
  });

  it('rejects folders, FIFOs and devices without opening them', async () => {
    write({ zone: '$INCLUDE it\n' });
    mkdirSync(at('it'));
    await expect(read()).rejects.toThrow(
      `$INCLUDE it: ${at('it')} is a folder; only regular files are allowed`,
    );
    rmSync(at('it'), { recursive: true });
    expect(spawnSync('mkfifo', [at('it')]).status).toBe(0);
    await expect(read()).rejects.toThrow(
      `$INCLUDE it: ${at('it')} is a named pipe; only regular files are allowed`,
    );
    rmSync(at('it'));
    symlinkSync('/dev/zero', at('it'));
    await expect(read()).rejects.toThrow('the file is /dev/zero');
    rmSync(at('zone'));
    expect(spawnSync('mkfifo', [at('zone')]).status).toBe(0);
    await expect(read()).rejects.toThrow(`${at('zone')} is a named pipe`);
  });

  it('rejects cycles, with file and line, also through a link', async () => {
    write({ zone: '$INCLUDE a\n', a: '\n$INCLUDE b\n', b: '$INCLUDE link\n' });
    symlinkSync(at('zone'), at('link'));
    await expect(read()).rejects.toThrow(
      `zone file ${at('b')}, line 1: $INCLUDE link: the file includes itself`,
    );
    write({ zone: '$INCLUDE zone\n' });
    await expect(read()).rejects.toThrow('$INCLUDE zone: the file includes itself');
  });

  it('allows eight nested files and rejects nine', async () => {
    const nested = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`f${n}`, `n${n} A 192.0.2.1\n$INCLUDE f${n + 1}\n`]),
    );
    write({ ...nested, zone: '$INCLUDE f2\n', f9: 'n9 A 192.0.2.1\n' });
    expect(await read()).toHaveLength(8);
    write({ zone: '$INCLUDE f1\n' });
    await expect(read()).rejects.toThrow(
      `zone file ${at('f8')}, line 2: $INCLUDE f9: files may be nested at most 8 deep`,
    );
  });

  it('rejects more than 1,000 files, however few there are', async () => {
    const many = (file: string): string => `$INCLUDE ${file}\n`.repeat(40);
    write({ zone: many('a'), a: many('b'), b: many('c'), c: '' });
    await expect(read()).rejects.toThrow('a zone may include at most 1000 files');
  });

  it.each([
    ['$INCLUDE', /line 1: \$INCLUDE needs a file, optionally followed by an origin/],
    ['$INCLUDE a b c', /line 1: \$INCLUDE needs a file, optionally followed by an origin/],
    ['$INCLUDE a b..c', /line 1: .*a label is empty/],
    ['$INCLUDE missing', /line 1: \$INCLUDE missing: ENOENT/],
    ['$INCLUDE bad', /zones\/bad, line 3: "WHAT" is not a TTL, class or record type/],
    ['$GENERATE 1-5 a$ A 192.0.2.1', /zones\/zone, line 1: \$GENERATE 1-5 produces 5 names/],
  ])('%s is rejected', async (line, message) => {
    write({ zone: `${line}\n`, a: '', bad: '\n\nx what\n' });
    await expect(read(new ZoneFile(at('zone'), ZONE, { maxNames: 4 }))).rejects.toThrow(message);
  });

  it('counts the generated names of all files against the maximum', async () => {
    write({ zone: '$GENERATE 1-3 a$ A 192.0.2.1\n$INCLUDE b\n', b: '$GENERATE 1-2 b$ A 192.0.2.1\n' });
    await expect(read(new ZoneFile(at('zone'), ZONE, { maxNames: 4 }))).rejects.toThrow(
      `zone file ${at('b')}, line 1: $GENERATE 1-2 produces 2 names: a zone may have at most 4 generated names (dns.maxNames), and 1 are left`,
    );
    expect(await read(new ZoneFile(at('zone'), ZONE, { maxNames: 5 }))).toHaveLength(5);
  });
});

describe('the version of a zone file', () => {
  it('changes when the file or an included file is changed, replaced or removed', async () => {
    write({ zone: '$INCLUDE a\n', a: 'x A 192.0.2.1\n$INCLUDE b\n', b: '' });
    const zoneFile = new ZoneFile(at('zone'), ZONE);
    await read(zoneFile);
    expect(zoneFile.paths).toEqual(['zone', 'a', 'b'].map(at));
    const now = (): Promise<string> => versionOfFiles(zoneFile.paths);
    expect(await now()).toBe(zoneFile.version);
    const seen = new Set([await now()]);
    const changes = [
      () => appendFileSync(at('b'), 'y A 192.0.2.1\n'),
      () => write({ new: '' }),
      () => renameSync(at('new'), at('a')),
      () => rmSync(at('b')),
      () => appendFileSync(at('zone'), '\n'),
    ];
    for (const change of changes) {
      change();
      seen.add(await now());
    }
    // A new file that the zone does not include changes nothing.
    expect(seen.size).toBe(changes.length);
    rmSync(at('zone'));
    await expect(now()).rejects.toThrow('ENOENT');
  });

  it('shows whether a file was changed in place, or only replaced, added or removed', async () => {
    write({ zone: '', a: '' });
    const paths = ['zone', 'a'].map(at);
    const isInPlace = async (change: () => void): Promise<boolean> => {
      const before = await versionOfFiles(paths);
      change();
      return changedInPlace(before, await versionOfFiles(paths));
    };
    expect(changedInPlace('', await versionOfFiles(paths))).toBe(false);
    expect(await isInPlace(() => {})).toBe(false);
    expect(await isInPlace(() => appendFileSync(at('a'), 'x A 192.0.2.1\n'))).toBe(true);
    write({ new: 'longer' });
    expect(await isInPlace(() => renameSync(at('new'), at('a')))).toBe(false);
    expect(await isInPlace(() => rmSync(at('a')))).toBe(false);
    expect(changedInPlace('2026112901', '2026112902')).toBe(false);
  });

  it('is that of the read, even if a file has changed since', async () => {
    write({ zone: '$INCLUDE a\nx A 192.0.2.1\n', a: '' });
    const zoneFile = new ZoneFile(at('zone'), ZONE);
    const records = zoneFile.records();
    await records.next();
    write({ a: 'y A 192.0.2.1\n' });
    await records.next();
    expect(await versionOfFiles(zoneFile.paths)).not.toBe(zoneFile.version);
  });
});

it('a file that grows while it is read is rejected, so that its names are never incomplete', async () => {
  write({ zone: '' });
  writeFileSync(at('zone'), 'h A 192.0.2.1\n'.repeat(2_000_000));
  const reading = read();
  appendFileSync(at('zone'), '; more\n');
  let growing = true;
  const grown = reading
    .catch((error: unknown) => String(error))
    .finally(() => {
      growing = false;
    });
  while (growing) {
    appendFileSync(at('zone'), '; more\n');
    await new Promise((done) => setImmediate(done));
  }
  expect(await grown).toContain(`${at('zone')} changed while it was read`);
});
