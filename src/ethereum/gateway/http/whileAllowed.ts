import { isPooled, isStream, type Result, type ResultStream, type RpcError } from '../../jsonrpc/index.ts';

/** Calls `ended` when the API key of a call no longer allows it. Returns a function that stops the watch. */
type Watch = (ended: (error: RpcError) => void) => () => void;

/** Releases the memory of a result that is not sent. */
export function discard(result: Result): void {
  if (isStream(result)) result.abort();
  else if (isPooled(result)) result.release();
}

/** Returns a promise of the result that rejects as soon as the API key no longer allows the call. */
export function whileAllowed(result: Promise<Result>, watch: Watch): Promise<Result> {
  return new Promise((resolve, reject) => {
    let hasEnded = false;
    const unwatch = watch((error) => {
      hasEnded = true;
      unwatch();
      reject(error);
    });
    result.then(
      (known) => {
        unwatch();
        if (hasEnded) discard(known);
        else resolve(known);
      },
      (error) => {
        unwatch();
        reject(error);
      },
    );
  });
}

/** Returns the stream so that it fails as soon as the API key no longer allows the call. */
export function streamWhileAllowed(stream: ResultStream, watch: Watch): ResultStream {
  let unwatch: () => void = () => undefined;
  return {
    pipe(sink) {
      unwatch = watch((error) => {
        unwatch();
        stream.abort();
        sink.fail(error);
      });
      stream.pipe({
        write: (piece) => sink.write(piece),
        end() {
          unwatch();
          sink.end();
        },
        fail(error) {
          unwatch();
          sink.fail(error);
        },
      });
    },
    resume: () => stream.resume(),
    abort() {
      unwatch();
      stream.abort();
    },
  };
}
