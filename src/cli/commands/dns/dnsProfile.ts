import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '../../configFlags.ts';
import { print } from '../../output/print.ts';
import { addDataDirFlags } from '../access/tokenStorage.ts';

/** `floodgate dns profile export|import`: moves the profile of a guard to another machine. */
export function registerDnsProfile(dns: Command): void {
  const profile = dns
    .command('profile')
    .description('move the learned profile of a guard to another machine');

  const out = profile
    .command('export')
    .description(
      'write the last saved profile to a file; the server may be running (it saves every ten minutes, and when it stops)',
    )
    .argument('<file>', 'target file; it must not exist. It is as confidential as the data folder');
  addDataDirFlags(out).action(async (file: string) => {
    const { exportProfile } = await import('../../../server/index.ts');
    const { names, zones } = await exportProfile(readConfig(out).dataDir, resolve(file));
    await print(`Wrote ${names} names and ${zones} zones to ${file}.`);
  });

  const into = profile
    .command('import')
    .description(
      'import a profile file into a data folder, completely or not at all; no server may use the folder',
    )
    .argument('<file>', 'file written by `floodgate dns profile export`')
    .option('--replace', 'replace a profile that exists already');
  addDataDirFlags(into).action(async (file: string, { replace }: { replace?: boolean }) => {
    const { importProfile } = await import('../../../server/index.ts');
    const { dataDir } = readConfig(into);
    const { names, zones } = await importProfile({
      dataDir,
      file: resolve(file),
      replaces: replace === true,
    });
    await print(
      `Read ${names} names and ${zones} zones into ${dataDir}. The server uses them after its next start.`,
    );
  });
}
