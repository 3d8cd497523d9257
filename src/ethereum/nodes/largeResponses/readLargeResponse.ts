import { SerialQueue } from '../../../platform/serialQueue/index.ts';
import { asNodeError, NodeError } from '../client/nodeError.ts';
import type { ResponseStream } from '../client/responseStream.ts';
import { JsonReader } from './jsonReader.ts';
import type { ResponseMemory } from './responseMemory.ts';

/** Large responses are read one after another, so that the limit for one response also bounds the total memory. */
const oneAtATime = new SerialQueue();

/** Minimum average rate after `FIRST_WHILE_MS`. A slower response is aborted, because other responses wait for it. */
const MIN_BYTES_PER_SECOND = 256 * 1024;
const FIRST_WHILE_MS = 30_000;

/** Parses the JSON of a large response while it is received, and returns the value. Rejects with NodeError. */
export function readLargeResponse(stream: ResponseStream, kept: ResponseMemory): Promise<unknown> {
  return oneAtATime.run(() => read(stream, kept));
}

function read(stream: ResponseStream, kept: ResponseMemory): Promise<unknown> {
  const json = new JsonReader(kept);
  const startMs = performance.now();
  let bytes = 0;
  let failed = false;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      failed = true;
      reject(error instanceof SyntaxError ? notJson(stream.host, error) : asNodeError(error));
      stream.abort();
    };
    const attempt = (step: () => void): void => {
      if (failed) return;
      try {
        step();
      } catch (error) {
        fail(error);
      }
    };
    stream.pipe({
      write(chunk) {
        attempt(() => {
          bytes += chunk.length;
          const allowedMs = FIRST_WHILE_MS + (bytes / MIN_BYTES_PER_SECOND) * 1_000;
          if (performance.now() - startMs > allowedMs)
            throw new NodeError('timeout', `${stream.host} sends a large response too slowly`);
          json.write(chunk);
        });
        return !failed;
      },
      end: () => attempt(() => resolve(json.end())),
      fail,
    });
  });
}

const notJson = (host: string, cause: SyntaxError): NodeError =>
  new NodeError('nonsense', `${host} answered with something that is not JSON: ${cause.message}`, { cause });
