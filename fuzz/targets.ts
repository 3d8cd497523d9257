import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Target } from './engine/target.ts';

/** Loaded one at a time, and late: only code that is loaded while coverage is on is counted. */
const LOADERS: Readonly<Record<string, () => Promise<{ open(): Target | Promise<Target> }>>> = {
  'dns-packets': () => import('./targets/dnsPackets.ts'),
  dnstap: () => import('./targets/dnstap.ts'),
  'zone-files': () => import('./targets/zoneFiles.ts'),
  'json-rpc': () => import('./targets/jsonRpc.ts'),
  filters: () => import('./targets/filters.ts'),
  traces: () => import('./targets/traces.ts'),
};

export const TARGETS: readonly string[] = Object.keys(LOADERS);

export const isTargetName = (name: string): boolean => Object.hasOwn(LOADERS, name);

/** Inputs that failed once, a folder for each target: seeds of every run, and replayed by the tests. */
export const FINDINGS = resolve('fuzz/findings');

/** A target, with what was found before among its seeds. */
export async function openTarget(name: string): Promise<Target> {
  const load = LOADERS[name];
  if (load === undefined) throw new Error(`there is no target "${name}"`);
  const target = await (await load()).open();
  return { ...target, seeds: [...target.seeds, ...found(name)] };
}

function found(name: string): Uint8Array[] {
  const folder = join(FINDINGS, name);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return files.map((file) => readFileSync(join(folder, file)));
}
