import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { unawaited } from './unawaited.js';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Kind of the report, and code that is rejected. */
const REJECTED = [
  ['statement', 'work();'],
  ['statement', 'void work();'],
  ['statement', 'isOn && work();'],
  ['statement', 'isOn ? work() : undefined;'],
  ['statement', 'maybe();'],
  ['statement', 'work().then(() => undefined);'],
  ['statement', 'work().finally(() => undefined);'],
  ['statement', 'const arrow = () => void work();'],
  ['stored', 'fields.running = work();'],
  ['stored', 'fields.running ??= work().finally(() => undefined);'],
  ['stored', 'class A { running = work(); }'],
  ['stored', 'class B { #running: unknown; start() { this.#running = work(); } }'],
  ['stored', 'const literal = { running: work() };'],
  ['stored', "kept.set('a', work());"],
  ['stored', 'const local = work(); all.push(local);'],
  ['stored', 'fields.running = new Promise((_resolve, reject) => reject(new Error()));'],
  ['callback', 'setInterval(async () => work(), 1000);'],
  ['callback', 'setTimeout(work, 1000);'],
  ['callback', "new EventEmitter().on('event', async () => {});"],
  ['callback', 'const listener: { changed: () => void } = { changed: async () => {} };'],
  ['callback', '[1].forEach(async () => {});'],
];
const ACCEPTED = [
  'await work();',
  'work().catch(() => undefined);',
  'void work().catch(() => undefined);',
  'work().then(() => undefined, () => undefined);',
  'work().catch(() => undefined).finally(() => undefined);',
  'fields.running = work().catch(() => undefined);',
  'fields.running = awaitedLater(work());',
  'fields.running = new Promise((resolve) => resolve());',
  'fields.running = Promise.resolve();',
  'const handled = awaitedLater(work()); all.push(handled);',
  'const take = (given: Promise<void>) => { fields.running = given; };',
  'const fetched = await Promise.all([work(), work()]);',
  'const task: { run: () => Promise<void> } = { run: async () => {} };',
  'setInterval(() => work().catch(() => undefined), 1000);',
  'isOn && plain();',
  'const pairs = [1].map((one): [number, number] => (isOn ? [one, 1] : [one, 2]));',
];
const HEAD = `import { EventEmitter } from 'node:events';
declare const isOn: boolean;
declare function work(): Promise<void>;
declare function maybe(): void | Promise<void>;
declare function plain(): void;
declare function awaitedLater<P>(promise: P): P;
declare const fields: { running: Promise<void> | undefined };
declare const kept: Map<string, Promise<void>>;
declare const all: Promise<void>[];
`;

it('scripts/unawaited.js reports every way to start a promise without a handler, and accepts handled promises', () => {
  const folder = `${mkdtempSync(join(tmpdir(), 'floodgate-unawaited-'))}/`;
  try {
    const tsconfig = `${folder}tsconfig.json`;
    const compilerOptions = {
      ...{ target: 'ES2023', module: 'NodeNext', strict: true, types: ['node'] },
      typeRoots: [`${root}node_modules/@types`],
    };
    writeFileSync(tsconfig, JSON.stringify({ compilerOptions, include: ['*.mts'] }));
    const files = [...REJECTED.map(([, code]) => code), ...ACCEPTED];
    for (const [index, code] of files.entries()) writeFileSync(`${folder}${index}.mts`, `${HEAD}${code}\n`);
    const kinds = files.map(() => []);
    for (const line of unawaited(tsconfig, folder)) {
      const [, index, kind] = /^(\d+)\.mts:10 (\w+): /.exec(line) ?? [];
      kinds[Number(index)]?.push(kind);
    }
    expect(files.map((code, index) => [code, ...kinds[index]])).toEqual([
      ...REJECTED.map(([kind, code]) => [code, kind]),
      ...ACCEPTED.map((code) => [code]),
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
