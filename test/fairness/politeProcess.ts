/**
 * The polite clients. Started with a target as JSON. Writes a line when all of them run. Each line of the standard
 * input is a command; the reports since the last command follow as a line of JSON. `stop N` waits at most N ms for
 * outstanding responses, and ends the process.
 */
import { createInterface } from 'node:readline';
import { raiseOwnPriority } from './ownPriority.ts';
import { PoliteClients } from './polite/allClients.ts';
import type { Target } from './target.ts';

raiseOwnPriority();

async function run(target: Target): Promise<void> {
  const clients = await PoliteClients.start(target);
  await write('ready');
  for await (const line of createInterface(process.stdin)) {
    const [command, limitMs] = line.split(' ');
    if (command === 'stop') await clients.stop(Number(limitMs));
    await write(JSON.stringify(clients.take()));
    if (command === 'stop') process.exit();
  }
}

const write = (line: string): Promise<void> =>
  new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));

void run(JSON.parse(process.argv[2] ?? '') as Target);
