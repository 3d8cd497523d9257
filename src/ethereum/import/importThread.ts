/** Program of a thread of the import: prepares units that it receives as messages. */
import { parentPort } from 'node:worker_threads';
import { inBackground } from '../../platform/background/index.ts';
import { ImportError } from './format.ts';
import { prepareUnit, type Unit } from './prepareUnit.ts';
import type { Answer } from './threads.ts';

async function answer(unit: Unit): Promise<void> {
  const answered = await answerOf(unit);
  const chunks =
    'blocks' in answered ? answered.blocks.flatMap(({ indexed }) => indexed?.chunks[0]?.buffer ?? []) : [];
  // All chunks of a block share one buffer. It is moved, not copied.
  parentPort?.postMessage(answered, [...new Set(chunks)] as ArrayBuffer[]);
}

async function answerOf(unit: Unit): Promise<Answer> {
  try {
    return { blocks: await prepareUnit(unit) };
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { message, stack, isImportError: error instanceof ImportError };
  }
}

parentPort?.on('message', (unit: Unit) => inBackground('import', () => answer(unit)));
