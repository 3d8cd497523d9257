import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Target } from './engine/target.ts';

/** Loaded one at a time and after coverage starts, because only code loaded later is counted. */
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

/** Inputs that failed before, one folder per target: seeds of every run, replayed by the tests. */
export const FINDINGS = resolve('fuzz/findings');

/** Opens a target, with earlier findings among its seeds. */
export async function openTarget(name: string): Promise<Target> {
  const load = LOADERS[name];
  if (load === undefined) throw new Error(`unknown target "${name}"`);
  const target = await (await load()).open();
  return { ...target, seeds: [...target.seeds, ...found(name)] };
}

function found(name: string): Uint8Array[] {
  const folder = join(FINDINGS, name);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return files.map((file) => readFileSync(join(folder, file)));
}
