import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '../configFlags.ts';
import { print } from '../print.ts';
import { addDataDirFlags } from './tokenStorage.ts';

/** `floodgate dns profile export|import`: what a guard has learned, to a new machine. */
export function registerDnsProfile(dns: Command): void {
  const profile = dns.command('profile').description('move what the guard has learned to a new machine');

  const out = profile
    .command('export')
    .description(
      'write what was saved last into a file; the server may be running (it saves every ten minutes, and when it stops)',
    )
    .argument('<file>', 'where to; it must not exist. It is as secret as the data folder');
  addDataDirFlags(out).action(async (file: string) => {
    const { exportProfile } = await import('../../server/index.ts');
    const { names, zones } = await exportProfile(readConfig(out).dataDir, resolve(file));
    await print(`Wrote ${names} names and ${zones} zones to ${file}.`);
  });

  const into = profile
    .command('import')
    .description('read such a file into a data folder, all of it or nothing; no server may run there')
    .argument('<file>', 'what `floodgate dns profile export` wrote')
    .option('--replace', 'also where something was learned there already, which is lost');
  addDataDirFlags(into).action(async (file: string, { replace }: { replace?: boolean }) => {
    const { importProfile } = await import('../../server/index.ts');
    const { dataDir } = readConfig(into);
    const { names, zones } = await importProfile({
      ...{ dataDir, file: resolve(file), replaces: replace === true },
    });
    await print(
      `Read ${names} names and ${zones} zones into ${dataDir}. The server knows them from its next start.`,
    );
  });
}
